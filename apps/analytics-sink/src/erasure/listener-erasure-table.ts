import { maxKeysOfPlay } from '@longwave/audience';
import type { Columns } from '@longwave/audience-store';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';

/** Names the privacy request of a workspace. */
export interface ErasureName {
  readonly erasureId: string;
  readonly workspaceId: string;
}

/** The result of an erasure. */
export interface Erased {
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Keys that stay (docs/privacy.md#what-cannot-be-erased). */
  readonly keptListeners: number;
}

/** The collected keys of an erasure, or what it did. */
export type ErasureRow =
  | { readonly state: 'collected'; readonly listenerKeys: readonly string[] }
  | { readonly state: 'erased'; readonly erased: Erased };

type StoredErasure = Columns<
  'listener_erasure',
  'workspace_id' | 'listener_keys' | 'erased' | 'kept_listeners',
  { erased: Erased['rows'] | null }
>;

/**
 * Stores the keys of an erasure with all keys that are linked to them, those of months before and after. Later calls change nothing.
 * Each link is of one person: the key of a month and that of the month before, of one address and user agent; and keys that used the token
 * of one play of the workspace (docs/counting.md#one-play-several-keys).
 */
export async function insertErasure(
  pool: Pool,
  { erasureId, workspaceId }: ErasureName,
  listenerKeys: readonly string[],
): Promise<void> {
  await pool.query(
    `with recursive linked (key) as (
       select unnest($3::text[])
       union
       select next.key from linked cross join lateral (
         select previous_listener_key as key from listener_episode
         where listener_key = linked.key and previous_listener_key is not null
         union all
         select listener_key from listener_episode where previous_listener_key = linked.key
         union all
         select other.listener_key from served_request own
           join served_request other on other.episode_id = own.episode_id and other.play_id = own.play_id
             and other.play_address_key is not null
             and (other.play_address_key = own.play_address_key or other.user_agent_digest = own.user_agent_digest)
         where own.listener_key = linked.key and own.workspace_id = $2 and own.play_address_key is not null
           and (select count(distinct r.listener_key) from served_request r
                where r.episode_id = own.episode_id and r.play_id = own.play_id and r.play_address_key is not null) <= $4) next)
     insert into listener_erasure (erasure_id, workspace_id, listener_keys)
     select $1, $2, coalesce(array_agg(key order by key), '{}') from linked on conflict do nothing`,
    [erasureId, workspaceId, listenerKeys, maxKeysOfPlay],
  );
}

/** The row of an erasure; in a transaction it is locked. Throws `not_found` for an unknown one, and for one of another workspace. */
export async function getErasure(
  db: Pool | Transaction,
  { erasureId, workspaceId }: ErasureName,
  lock: '' | 'for update' = '',
): Promise<ErasureRow> {
  const { rows } = await db.query<StoredErasure>(
    `select workspace_id, listener_keys, erased, kept_listeners from listener_erasure where erasure_id = $1 ${lock}`,
    [erasureId],
  );
  const [row] = rows;
  if (row?.workspace_id !== workspaceId) throw new Problem('not_found', 'There is no such erasure.');
  return row.erased
    ? { state: 'erased', erased: { rows: row.erased, keptListeners: row.kept_listeners ?? 0 } }
    : { state: 'collected', listenerKeys: row.listener_keys ?? [] };
}

/** Stores what an erasure did and forgets its keys, also in other erasures of the workspace: of those that have not ended the rest stays. */
export async function saveErased(
  tx: Transaction,
  { erasureId, workspaceId }: ErasureName,
  listenerKeys: readonly string[],
  { rows, keptListeners }: Erased,
): Promise<void> {
  await tx.query(
    `update listener_erasure set
       listener_keys = array(select key from unnest(listener_keys) as key where key <> all($3::text[])),
       erased = case when erasure_id = $1 then $4::jsonb else erased end,
       kept_listeners = case when erasure_id = $1 then $5 else kept_listeners end,
       erased_at = case when erasure_id = $1 then now() else erased_at end
     where erasure_id = $1 or (workspace_id = $2 and listener_keys && $3::text[])`,
    [erasureId, workspaceId, listenerKeys, JSON.stringify(rows), keptListeners],
  );
}
