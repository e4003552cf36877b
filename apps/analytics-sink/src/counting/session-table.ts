import { columns } from '@longwave/audience-store';
import type { Transaction } from '@longwave/postgres';
import {
  diffRows,
  rollingKey,
  sessionKey,
  type AdRow,
  type Counts,
  type RollingRow,
  type SessionRow,
  type WrittenRow,
} from './counted-rows.ts';
import { recountWindowKeys, type RecountWindow } from './request-table.ts';
import type { VelocityKey } from '../velocity/velocity-table.ts';

/** Reads whole rows, which the query names `row`; times in RFC 3339 with milliseconds. */
async function readRows<R>(tx: Transaction, sql: string, parameter: string): Promise<R[]> {
  const { rows } = await tx.query<{ row: R & { started_at: string } }>(sql, [parameter]);
  return rows.map(({ row }) => ({ ...row, started_at: new Date(row.started_at).toISOString() }));
}

/** The stored counts of recount windows. */
export async function loadCounts(tx: Transaction, recountWindows: readonly RecountWindow[]): Promise<Counts> {
  const keys = recountWindowKeys(recountWindows);
  const read = <R>(table: 'session' | 'rolling_download' | 'ad_delivered' | 'ad_written') =>
    readRows<R>(
      tx,
      // By index for each key: joined as sets, a plan may read the whole table.
      `select to_json(t) as row from json_to_recordset($1) as k(listener_key text, episode_id text, since timestamptz)
       cross join lateral (
         select * from ${table} t where t.listener_key = k.listener_key and t.episode_id = k.episode_id and t.started_at >= k.since
         offset 0) t`,
      keys,
    );
  return {
    sessions: await read<SessionRow>('session'),
    rolling: await read<RollingRow>('rolling_download'),
    ads: await read<AdRow>('ad_delivered'),
    written: await read<WrittenRow>('ad_written'),
  };
}

/** The stored counts of whole days of keys, but for ads that are not delivered: a hold changes nothing of them. */
export async function loadDays(tx: Transaction, days: readonly VelocityKey[]): Promise<Counts> {
  const keys = JSON.stringify(days);
  const read = async <R>(table: 'session' | 'rolling_download', day: string, key: (row: R) => string) => {
    const rows = await readRows<R>(
      tx,
      `with k as materialized (select * from json_populate_recordset(null::velocity_day, $1))
       select to_json(t) as row from k join ${table} t on t.listener_key = k.key and ${day} = k.day where k.kind = 'listener'
       union all
       select to_json(t) from k join ${table} t on t.address_key = k.key and ${day} = k.day where k.kind = 'address'`,
      keys,
    );
    return [...new Map(rows.map((row) => [key(row), row])).values()];
  };
  const sessions = await read<SessionRow>('session', 't.window_on', sessionKey);
  return {
    sessions,
    rolling: await read<RollingRow>('rolling_download', `(t.started_at at time zone 'UTC')::date`, rollingKey),
    ads: await readRows<AdRow>(
      tx,
      `select to_json(a) as row from json_to_recordset($1) as k(listener_key text, episode_id text, window_on date)
       join ad_delivered a using (listener_key, episode_id, window_on)`,
      JSON.stringify(
        sessions.map(({ listener_key, episode_id, window_on }) => ({ listener_key, episode_id, window_on })),
      ),
    ),
    written: [],
  };
}

/** Stores sessions. The old row of a download that is taken back, moved or held is kept in `restatement` (docs/counting.md#corrections). */
export async function saveSessions(tx: Transaction, before: Counts, after: Counts): Promise<void> {
  const { saved, gone } = diffRows(before.sessions, after.sessions, sessionKey);
  const now = new Map(after.sessions.map((row) => [sessionKey(row), row]));
  const restated = before.sessions.filter((row) => {
    const current = now.get(sessionKey(row));
    return row.counted && !(current?.counted && current.started_at === row.started_at);
  });
  if (restated.length > 0)
    await tx.query(`insert into restatement (kind, old) select 'download', value from json_array_elements($1::json)`, [
      JSON.stringify(restated),
    ]);
  if (gone.length > 0)
    await tx.query(
      `delete from session s using json_populate_recordset(null::session, $1) k
       where (s.listener_key, s.episode_id, s.window_on) = (k.listener_key, k.episode_id, k.window_on)`,
      [JSON.stringify(gone)],
    );
  if (saved.length > 0)
    await tx.query(
      `insert into session (${columns.session}) select ${columns.session} from json_populate_recordset(null::session, $1)
       on conflict (listener_key, episode_id, window_on) do update set
         started_at = excluded.started_at, counted = excluded.counted, qualified = excluded.qualified, held = excluded.held,
         arrangement_id = excluded.arrangement_id, credited_ms = excluded.credited_ms, content_ms = excluded.content_ms,
         duplicate_arrangements = excluded.duplicate_arrangements, country = excluded.country, region = excluded.region,
         app = excluded.app, device = excluded.device, platform = excluded.platform,
         operating_system = excluded.operating_system, address_key = excluded.address_key,
         address_safe = excluded.address_safe, user_agent_digest = excluded.user_agent_digest,
         methodology_version = excluded.methodology_version`,
      [JSON.stringify(saved)],
    );
}

/** Stores the downloads of the rolling windows. */
export async function saveRolling(tx: Transaction, before: Counts, after: Counts): Promise<void> {
  const { saved, gone } = diffRows(before.rolling, after.rolling, rollingKey);
  if (gone.length > 0)
    await tx.query(
      `delete from rolling_download r using json_populate_recordset(null::rolling_download, $1) k
       where (r.listener_key, r.episode_id, r.started_at) = (k.listener_key, k.episode_id, k.started_at)`,
      [JSON.stringify(gone)],
    );
  if (saved.length > 0)
    await tx.query(
      `insert into rolling_download (${columns.rolling_download})
       select ${columns.rolling_download} from json_populate_recordset(null::rolling_download, $1)
       on conflict (listener_key, episode_id, started_at) do update set
         last_touch = excluded.last_touch, counted = excluded.counted, address_key = excluded.address_key,
         address_safe = excluded.address_safe, country = excluded.country, region = excluded.region, app = excluded.app,
         device = excluded.device, platform = excluded.platform, operating_system = excluded.operating_system`,
      [JSON.stringify(saved)],
    );
}
