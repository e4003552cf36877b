import type { Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';

/** An id of a line item in another system. */
interface ExternalId {
  readonly source: string;
  readonly id: string;
}

/** Makes commands that set external ids in a workspace wait for each other until the transaction ends. */
export async function lockExternalIds(tx: Transaction, workspaceId: string): Promise<void> {
  await tx.query({
    name: 'lock_external_ids',
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 7))',
    values: [workspaceId],
  });
}

/** Those of these texts that are ids of resources of the workspace. */
export async function listOwnIds(
  tx: Transaction,
  workspaceId: string,
  texts: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await tx.query<Columns<'resource', 'id'>>({
    name: 'list_own_ids',
    text: 'select id from resource where id = any($2) and workspace_id = $1 order by id',
    values: [workspaceId, texts],
  });
  return rows.map(({ id }) => id);
}

/**
 * Other line items of the workspace that have, or get by an amendment that waits, one of the ids in its source; the first 10 of each. Keys begin with the
 * workspace (`resource_external_id_keys`): a condition on it beside them would have all its line items read.
 */
export async function listHolders(
  tx: Transaction,
  about: { readonly workspaceId: string; readonly lineItemId: string; readonly ids: readonly ExternalId[] },
): Promise<readonly (ExternalId & { readonly lineItemId: string; readonly state: string })[]> {
  const { rows } = await tx.query<ExternalId & { readonly lineItemId: string; readonly state: string }>({
    name: 'list_external_id_holders',
    text: `select w ->> 'source' as source, w ->> 'id' as id, h.id as "lineItemId", h.lifecycle_state as state
           from jsonb_array_elements($3::jsonb) w cross join lateral (
             select r.id, r.lifecycle_state, r.workspace_id from resource r
             where r.resource_type = 'line_items' and r.id <> $2
               and external_id_keys(r.workspace_id, r.attributes) @> array[$1 || E'\\n' || (w ->> 'source') || E'\\n' || (w ->> 'id')]
             order by r.id limit 10) h
           where h.workspace_id = $1 order by h.id`,
    values: [about.workspaceId, about.lineItemId, JSON.stringify(about.ids)],
  });
  return rows;
}
