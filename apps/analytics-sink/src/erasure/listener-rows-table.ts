import type { Transaction } from '@longwave/postgres';

/** Keys that take the place of others: `old[n]` becomes `new[n]`. */
export interface Replacement {
  readonly old: readonly string[];
  readonly new: readonly string[];
}

/** Keys and days that rule 16 holds. */
export interface HeldKeys {
  /** Listeners with a held day on which they listened here and in another workspace: what is held there follows from both. */
  readonly listeners: readonly string[];
  /** Addresses with a held day. */
  readonly addresses: readonly string[];
}

const ofListeners = 'workspace_id = $1 and listener_key = any($2)';

/**
 * Locks the waiting facts, the facts and the chains of listeners, in the order of counting, until the transaction ends: what is being counted
 * of them ends first, and nothing is counted meanwhile. The chains are those of all workspaces.
 */
export async function lockListeners(
  tx: Transaction,
  workspaceId: string,
  listenerKeys: readonly string[],
): Promise<void> {
  await tx.query(
    `select from pending_fact where payload->>'workspace_id' = $1 and payload->>'listener_key' = any($2)
     order by fact_id for update`,
    [workspaceId, listenerKeys],
  );
  await tx.query(`select from fact where ${ofListeners} order by fact_id for update`, [workspaceId, listenerKeys]);
  await tx.query(
    `select from listener_episode where listener_key = any($1) or previous_listener_key = any($1)
     order by listener_key, episode_id for update`,
    [listenerKeys],
  );
}

/** The address keys of a workspace's rows of listeners. */
export async function listAddresses(
  tx: Transaction,
  workspaceId: string,
  listenerKeys: readonly string[],
): Promise<string[]> {
  const { rows } = await tx.query<{ address_key: string }>(
    `select distinct address_key from (
       select address_key from fact where ${ofListeners}
       union all select address_key from served_request where ${ofListeners}
       union all select play_address_key from fact where ${ofListeners}
       union all select address_key from session where ${ofListeners}
       union all select address_key from rolling_download where ${ofListeners}) own
     where address_key <> '' order by 1`,
    [workspaceId, listenerKeys],
  );
  return rows.map((row) => row.address_key);
}

/** SQL: whether a listener has a download of the day of `v` in such a workspace. */
const listenedThen = (workspace: string) => `(
  exists (select from session s where s.listener_key = v.key and s.window_on = v.day and s.workspace_id ${workspace})
  or exists (select from rolling_download r where r.listener_key = v.key and r.workspace_id ${workspace}
               and (r.started_at at time zone 'UTC')::date = v.day))`;

/** Locks the days of keys in the order of counting and answers which keys have a held day that the erasure must not touch. */
export async function lockHeldKeys(
  tx: Transaction,
  workspaceId: string,
  listenerKeys: readonly string[],
  addressKeys: readonly string[],
): Promise<HeldKeys> {
  await tx.query(
    `select from velocity_day where kind = 'listener' and key = any($1) or kind = 'address' and key = any($2)
     order by kind, key, day for update`,
    [listenerKeys, addressKeys],
  );
  const { rows } = await tx.query<{ kind: string; key: string }>(
    `select distinct kind, key from velocity_day v
     where infeasible and (kind = 'address' and key = any($3)
       or kind = 'listener' and key = any($2) and ${listenedThen('= $1')} and ${listenedThen('<> $1')})`,
    [workspaceId, listenerKeys, addressKeys],
  );
  const keysOf = (kind: string) => rows.flatMap((row) => (row.kind === kind ? [row.key] : []));
  return { listeners: keysOf('listener'), addresses: keysOf('address') };
}

/** SQL: the new key of a value, or the value. */
const listener = (value: string) => `coalesce((select new from key where old = ${value}), ${value})`;
const address = (value: string) => `coalesce((select new from address where old = ${value}), ${value})`;
/** SQL: a JSON text with another value in place of one. Keys are no words of its schema when they stand in quotation marks. */
const replaced = (json: string, value: string, by: string) =>
  `replace(${json}, '"' || coalesce(${value}, '') || '"', '"' || coalesce(${by}, '') || '"')`;

/** An update for each table that has a column `listener_key`. */
const updates: Readonly<Record<string, string>> = {
  fact: `listener_key = ${listener('t.listener_key')}, previous_listener_key = ${listener('t.previous_listener_key')},
    address_key = ${address('t.address_key')}, play_address_key = ${address('t.play_address_key')}
    where workspace_id = $1 and (listener_key = any($2) or previous_listener_key = any($2))`,
  served_request: `listener_key = ${listener('t.listener_key')}, address_key = ${address('t.address_key')},
    play_address_key = ${address('t.play_address_key')} where ${ofListeners}`,
  session: `listener_key = ${listener('t.listener_key')}, address_key = ${address('t.address_key')} where ${ofListeners}`,
  rolling_download: `listener_key = ${listener('t.listener_key')}, address_key = ${address('t.address_key')} where ${ofListeners}`,
  ad_delivered: `listener_key = ${listener('t.listener_key')} where ${ofListeners}`,
  ad_written: `listener_key = ${listener('t.listener_key')} where ${ofListeners}`,
  ad_entry: `listener_key = ${listener('t.listener_key')} where ${ofListeners}`,
  client_event: `listener_key = ${listener('t.listener_key')} where ${ofListeners}`,
  prefix_request: `listener_key = ${listener('t.listener_key')} where ${ofListeners}`,
  listener_episode: `listener_key = ${listener('t.listener_key')}, previous_listener_key = ${listener('t.previous_listener_key')}
    where episode_id in (select episode_id from own_episode)
      and (listener_key = any($2) or previous_listener_key = any($2))`,
  // The order of its fields stays: bills and layouts are compared as texts.
  ad_serving: `billed = ${replaced('t.billed::text', "t.billed->>'listener_key'", listener("t.billed->>'listener_key'"))}::json
    where serving_id in (select serving_id from ad_delivered where ${ofListeners}) and t.billed->>'listener_key' = any($2)`,
  pending_fact: `payload = ${replaced(
    replaced(
      replaced(
        replaced('t.payload::text', "t.payload->>'listener_key'", listener("t.payload->>'listener_key'")),
        "t.payload->>'previous_listener_key'",
        listener("t.payload->>'previous_listener_key'"),
      ),
      "t.payload->>'address_key'",
      address("t.payload->>'address_key'"),
    ),
    "t.payload->>'play_address_key'",
    address("t.payload->>'play_address_key'"),
  )}::json
    where payload->>'workspace_id' = $1
      and (payload->>'listener_key' = any($2) or payload->>'previous_listener_key' = any($2))`,
  restatement: `old = t.old || jsonb_build_object('listener_key', ${listener("t.old->>'listener_key'")})
      || case when t.old->>'address_key' is null then '{}'::jsonb
         else jsonb_build_object('address_key', ${address("t.old->>'address_key'")}) end
    where old->>'listener_key' = any($2) and old->>'workspace_id' = $1`,
  // A day of this workspace alone changes its key; of a shared one the other workspaces keep their part.
  velocity_day: `key = case when d.downloads <= d.mine then d.new else t.key end,
      downloads = case when d.downloads <= d.mine then t.downloads else t.downloads - d.mine end
    from day d where (t.kind, t.key, t.day) = (d.kind, d.key, d.day)`,
  anomaly_decision: `key = d.new from day d where (t.kind, t.key, t.day) = (d.kind, d.key, d.day) and d.downloads <= d.mine`,
};

const tables = Object.keys(updates);

/**
 * Gives the rows that a workspace has of listeners other keys, by one statement: it sees what is committed now, whole or not at all. Sums and
 * distinct counts stay as they are, because every key becomes one key that nobody else has.
 * @returns rows by table
 */
export async function replaceKeys(
  tx: Transaction,
  workspaceId: string,
  listeners: Replacement,
  addresses: Replacement,
): Promise<Record<string, number>> {
  const { rows } = await tx.query<Record<string, number>>(
    `with key (old, new) as materialized (select * from unnest($2::text[], $3::text[])),
     address (old, new) as materialized (select * from unnest($4::text[], $5::text[])),
     own_episode as materialized (
       select episode_id from fact where ${ofListeners}
       union select episode_id from served_request where ${ofListeners}
       union select episode_id from session where ${ofListeners}),
     own_day as (
       select 'listener' as kind, listener_key as key, window_on as day, qualified::int as downloads from session where ${ofListeners}
       union all
       select 'listener', listener_key, (started_at at time zone 'UTC')::date, 0 from rolling_download where ${ofListeners}
       union all
       select 'address', address_key, window_on, qualified::int from session where ${ofListeners} and not address_safe
       union all
       select 'address', address_key, (started_at at time zone 'UTC')::date, 0 from rolling_download
       where ${ofListeners} and not address_safe),
     day as materialized (
       select v.kind, v.key, v.day, v.downloads, sum(o.downloads) as mine, k.new
       from own_day o join velocity_day v using (kind, key, day)
         join (select 'listener' as kind, old, new from key union all select 'address', old, new from address) k
           on k.kind = v.kind and k.old = v.key
       group by 1, 2, 3, 4, k.new),
     parted as (
       insert into velocity_day (kind, key, day, downloads)
       select kind, new, day, mine from day where downloads > mine and mine > 0),
     ${tables.map((table) => `${table}_rows as (update ${table} t set ${updates[table]} returning 1)`).join(', ')}
     select ${tables.map((table) => `(select count(*)::int from ${table}_rows) as ${table}`).join(', ')}`,
    [workspaceId, listeners.old, listeners.new, addresses.old, addresses.new],
  );
  return rows[0]!;
}
