import { randomBytes } from 'node:crypto';
import { transaction, type Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { Columns } from '../generated/rows.ts';

/** SQL: the bindings of a workspace. */
const ofWorkspace = 'a.id = b.arrangement_id and a.workspace_id = $1';

/** The listeners of decisions of a workspace whose bindings are stored. */
export async function findListeners(
  pool: Pool,
  workspaceId: string,
  decisionIds: readonly string[],
): Promise<readonly { readonly decisionId: string; readonly listenerKey: string }[]> {
  const { rows } = await pool.query<Columns<'binding', 'decision_id' | 'listener_key'>>({
    name: 'find_listeners',
    text: `select b.decision_id, b.listener_key from binding b join arrangement a on ${ofWorkspace} where b.decision_id = any($2)`,
    values: [workspaceId, decisionIds],
  });
  return rows.map((row) => ({ decisionId: row.decision_id, listenerKey: row.listener_key }));
}

/**
 * Takes listeners out of the plays of a workspace: a random key takes the place of theirs, the same in bindings and in plays by HLS, and
 * address and app are emptied. What was bound for a decision stays. Answers the number of bindings, repeated the same one. Throws `not_found` for the erasure of another workspace.
 */
export async function eraseListeners(
  pool: Pool,
  erasure: { readonly erasureId: string; readonly workspaceId: string },
  listenerKeys: readonly string[],
): Promise<number> {
  const { erasureId, workspaceId } = erasure;
  return transaction(pool, async (tx) => {
    const { rowCount: isNew } = await tx.query(
      'insert into listener_erasure (erasure_id, workspace_id, bindings) values ($1, $2, 0) on conflict do nothing',
      [erasureId, workspaceId],
    );
    if (isNew === 0) {
      const { rows } = await tx.query<Columns<'listener_erasure', 'bindings'>>(
        'select bindings from listener_erasure where erasure_id = $1 and workspace_id = $2',
        [erasureId, workspaceId],
      );
      if (!rows[0]) throw new Problem('not_found', 'There is no such erasure.');
      return rows[0].bindings;
    }
    const keys = [workspaceId, listenerKeys, listenerKeys.map(() => randomBytes(32).toString('hex'))];
    await tx.query(
      `update hls_play h set listener_key = k.new, address_key = ''
       from unnest($2::text[], $3::text[]) as k (old, new), presentation p
       where h.listener_key = k.old and p.digest = h.presentation and p.workspace_id = $1`,
      keys,
    );
    const { rowCount } = await tx.query(
      `update binding b set listener_key = k.new, address_key = '', app = null, system = null
       from unnest($2::text[], $3::text[]) as k (old, new), arrangement a where b.listener_key = k.old and ${ofWorkspace}`,
      keys,
    );
    await tx.query('update listener_erasure set bindings = $2 where erasure_id = $1', [erasureId, rowCount]);
    return rowCount ?? 0;
  });
}
