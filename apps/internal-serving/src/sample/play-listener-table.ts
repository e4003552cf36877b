import { transaction, type Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import { holdErasures } from './erased-code-table.ts';

/** The code of a play's listener, until its hour is sampled. */
export interface PlayListener {
  /** As UUID. */
  readonly decisionId: string;
  readonly workspaceId: string;
  readonly at: Date;
  readonly code: Buffer;
}

/** Stores the codes of plays, but for those of listeners that were erased since the play. */
export async function insertPlayListeners(pool: Pool, rows: readonly PlayListener[]): Promise<void> {
  await transaction(pool, async (tx) => {
    await holdErasures(tx);
    await tx.query({
      name: 'insert-play-listeners',
      text: `insert into play_listener (decision_id, workspace_id, at, code)
             select p.decision_id, p.workspace_id, p.at, p.code
             from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::bytea[]) as p (decision_id, workspace_id, at, code)
             where not exists (select from erased_code e
               where e.workspace_id = p.workspace_id and e.code = p.code and e.erased_at > p.at)
             on conflict (decision_id) do nothing`,
      values: [
        rows.map((row) => row.decisionId),
        rows.map((row) => row.workspaceId),
        rows.map((row) => row.at),
        rows.map((row) => row.code),
      ],
    });
  });
}

/** The codes of these decisions, by UUID; those without one are absent. */
export async function findPlayListeners(
  pool: Pool,
  decisionIds: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> {
  const { rows } = await pool.query<Columns<'play_listener', 'decision_id' | 'code', { code: Buffer }>>({
    name: 'find-play-listeners',
    text: 'select decision_id, code from play_listener where decision_id = any ($1::uuid[])',
    values: [decisionIds],
  });
  return new Map(rows.map((row) => [row.decision_id, row.code]));
}

/** Removes the codes of plays before a time. */
export async function removePlayListeners(pool: Pool, before: Date, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query({
    name: 'remove-play-listeners',
    text: `delete from play_listener where decision_id in (select decision_id from play_listener where at < $1 limit $2)`,
    values: [before, maxRows],
  });
  return rowCount ?? 0;
}
