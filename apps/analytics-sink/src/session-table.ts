import { methodologyVersion, type Session, type UserAgentDescription } from '@longwave/audience';
import type { Transaction } from '@longwave/postgres';
import { threadKeys, type StoredRequest, type Thread } from './thread-table.ts';

/** A session as stored; column names, so that rows go in and out unchanged. Times are RFC 3339. */
export interface SessionRow {
  readonly listener_key: string;
  readonly episode_id: string;
  readonly window_on: string;
  readonly started_at: string;
  readonly workspace_id: string;
  readonly podcast_id: string;
  readonly counted: boolean;
  readonly arrangement_id: string | null;
  readonly credited_ms: number;
  readonly content_ms: number;
  readonly duplicate_arrangements: number;
  readonly country: string;
  readonly region: string;
  readonly user_agent_digest: string;
  readonly methodology_version: string;
  readonly app: string;
  readonly device: string;
  readonly platform: string;
}

export interface AdRow {
  readonly listener_key: string;
  readonly episode_id: string;
  readonly window_on: string;
  readonly break_key: string;
  readonly slot: number;
  readonly creative_id: string;
  readonly started_at: string;
  readonly workspace_id: string;
  readonly podcast_id: string;
  readonly campaign_id: string;
  readonly line_item_id: string;
  readonly serving_id: string;
}

/** What a set of threads counts, in stored form. */
export interface Counts {
  readonly sessions: readonly SessionRow[];
  readonly ads: readonly AdRow[];
}

/** The rows of a counted session. */
export function sessionRows(
  { first, windowOn, download }: Session<StoredRequest>,
  { app, device, platform }: UserAgentDescription,
): { readonly session: SessionRow; readonly ads: readonly AdRow[] } {
  const place = {
    listener_key: first.listenerKey,
    episode_id: first.episodeId,
    window_on: windowOn,
    started_at: new Date(first.startedAtMs).toISOString(),
    workspace_id: first.workspaceId,
    podcast_id: first.podcastId,
  };
  const session = {
    ...place,
    counted: download !== undefined,
    arrangement_id: download?.arrangementId ?? null,
    credited_ms: download?.creditedMs ?? 0,
    content_ms: download?.contentMs ?? 0,
    duplicate_arrangements: download?.duplicateArrangements.length ?? 0,
    country: first.country,
    region: first.region,
    user_agent_digest: first.userAgentDigest,
    methodology_version: methodologyVersion,
    app,
    device,
    platform,
  };
  const ads = (download?.ads ?? []).map((ad) => ({
    ...place,
    break_key: ad.breakKey,
    slot: ad.slot,
    creative_id: ad.creativeId,
    campaign_id: ad.campaignId,
    line_item_id: ad.lineItemId,
    serving_id: ad.servingId,
  }));
  return { session, ads };
}

/** The stored counts of the threads from 24 h before their first new fact on. */
export async function loadCounts(tx: Transaction, threads: readonly Thread[]): Promise<Counts> {
  const keys = `json_to_recordset($1) as k(listener_key text, episode_id text, since timestamptz)`;
  const read = async <R>(table: 'session' | 'ad_delivered') => {
    const { rows } = await tx.query<{ row: R & { started_at: string } }>(
      `select to_json(t) as row from ${keys} join ${table} t using (listener_key, episode_id) where t.started_at > k.since`,
      [threadKeys(threads)],
    );
    return rows.map(({ row }) => ({ ...row, started_at: new Date(row.started_at).toISOString() }));
  };
  return { sessions: await read<SessionRow>('session'), ads: await read<AdRow>('ad_delivered') };
}

/** Rows of `after` that are new or differ, and rows of `before` that must go. Rows are alike when all their columns are. */
export function diffRows<R extends object>(before: readonly R[], after: readonly R[], key: (row: R) => string) {
  const columns = (row: R) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));
  const old = new Map(before.map((row) => [key(row), row]));
  const kept = new Set(after.map(key));
  const saved = after.filter((row) => {
    const known = old.get(key(row));
    return known === undefined || columns(known) !== columns(row);
  });
  return { saved, gone: before.filter((row) => !kept.has(key(row))) };
}

const sessionKey = (row: SessionRow) => JSON.stringify([row.listener_key, row.episode_id, row.window_on]);
const adKey = (row: AdRow) =>
  JSON.stringify([row.listener_key, row.episode_id, row.window_on, row.break_key, row.slot, row.creative_id]);

async function saveSessions(tx: Transaction, saved: readonly SessionRow[], gone: readonly SessionRow[]): Promise<void> {
  if (gone.length > 0)
    await tx.query(
      `with gone as (delete from session s using json_populate_recordset(null::session, $1) k
         where (s.listener_key, s.episode_id, s.window_on) = (k.listener_key, k.episode_id, k.window_on) returning s.*)
       insert into restatement (kind, old) select 'download', to_jsonb(gone) from gone where counted`,
      [JSON.stringify(gone)],
    );
  if (saved.length > 0)
    await tx.query(
      `insert into session select * from json_populate_recordset(null::session, $1)
       on conflict (listener_key, episode_id, window_on) do update set
         started_at = excluded.started_at, counted = excluded.counted, arrangement_id = excluded.arrangement_id,
         credited_ms = excluded.credited_ms, content_ms = excluded.content_ms, country = excluded.country,
         region = excluded.region, duplicate_arrangements = excluded.duplicate_arrangements,
         methodology_version = excluded.methodology_version, app = excluded.app, device = excluded.device,
         platform = excluded.platform`,
      [JSON.stringify(saved)],
    );
}

async function saveAds(tx: Transaction, saved: readonly AdRow[], gone: readonly AdRow[]): Promise<void> {
  if (gone.length > 0)
    await tx.query(
      `with gone as (delete from ad_delivered a using json_populate_recordset(null::ad_delivered, $1) k
         where (a.listener_key, a.episode_id, a.window_on, a.break_key, a.slot, a.creative_id)
             = (k.listener_key, k.episode_id, k.window_on, k.break_key, k.slot, k.creative_id) returning a.*)
       insert into restatement (kind, old) select 'ad_delivered', to_jsonb(gone) from gone`,
      [JSON.stringify(gone)],
    );
  if (saved.length > 0)
    await tx.query(
      `insert into ad_delivered select * from json_populate_recordset(null::ad_delivered, $1)
       on conflict (listener_key, episode_id, window_on, break_key, slot, creative_id) do update set
         started_at = excluded.started_at, campaign_id = excluded.campaign_id,
         line_item_id = excluded.line_item_id, serving_id = excluded.serving_id`,
      [JSON.stringify(saved)],
    );
}

/** An hour's downloads as stored, by the columns that name it. */
type HourRow = Pick<SessionRow, 'workspace_id' | 'podcast_id' | 'episode_id'> & { readonly hour: string };
type AudienceRow = HourRow & Pick<SessionRow, 'country' | 'region' | 'app' | 'device' | 'platform'>;

/** What these downloads add to the rows that `place` names: new ones minus old ones, without the unchanged. */
function movedRows<R extends HourRow>(
  before: readonly SessionRow[],
  after: readonly SessionRow[],
  place: (row: SessionRow, hour: string) => R,
): (R & { readonly downloads: number })[] {
  const moved = new Map<string, R & { readonly downloads: number }>();
  const add = (rows: readonly SessionRow[], downloads: number) => {
    for (const row of rows) {
      if (!row.counted) continue;
      const at = place(row, `${row.started_at.slice(0, 13)}:00:00Z`);
      const key = JSON.stringify(at);
      moved.set(key, { ...at, downloads: (moved.get(key)?.downloads ?? 0) + downloads });
    }
  };
  add(before, -1);
  add(after, 1);
  return [...moved.values()].filter((row) => row.downloads !== 0);
}

/** Moves the hourly numbers from the old downloads to the new ones, rows in key order. */
async function moveHours(tx: Transaction, before: readonly SessionRow[], after: readonly SessionRow[]): Promise<void> {
  const hours = movedRows(before, after, ({ workspace_id, podcast_id, episode_id }, hour): HourRow => ({
    workspace_id,
    podcast_id,
    episode_id,
    hour,
  }));
  if (hours.length > 0)
    await tx.query(
      `insert into download_hour as d select * from json_populate_recordset(null::download_hour, $1)
       order by workspace_id, podcast_id, episode_id, hour
       on conflict (workspace_id, podcast_id, episode_id, hour)
       do update set downloads = d.downloads + excluded.downloads`,
      [JSON.stringify(hours)],
    );
  const audience = movedRows(before, after, (row, hour): AudienceRow => {
    const { workspace_id, podcast_id, episode_id, country, region, app, device, platform } = row;
    return { workspace_id, podcast_id, episode_id, hour, country, region, app, device, platform };
  });
  if (audience.length > 0)
    await tx.query(
      `insert into download_audience_hour as d select * from json_populate_recordset(null::download_audience_hour, $1)
       order by workspace_id, podcast_id, episode_id, hour, country, region, app, device, platform
       on conflict (workspace_id, podcast_id, episode_id, hour, country, region, app, device, platform)
       do update set downloads = d.downloads + excluded.downloads`,
      [JSON.stringify(audience)],
    );
}

/**
 * Turns the stored counts `before` into `after`. What is taken back is kept as a restatement (measurement.md D14).
 * The caller holds the threads' locks.
 */
export async function saveCounts(tx: Transaction, before: Counts, after: Counts): Promise<void> {
  const ads = diffRows(before.ads, after.ads, adKey);
  await saveAds(tx, ads.saved, ads.gone);
  const sessions = diffRows(before.sessions, after.sessions, sessionKey);
  const counted = new Map(before.sessions.map((row) => [sessionKey(row), row]));
  const uncounted = sessions.saved.flatMap((row) => {
    const old = counted.get(sessionKey(row));
    return old?.counted && !row.counted ? [old] : [];
  });
  await saveSessions(tx, sessions.saved, [...sessions.gone, ...uncounted]);
  await moveHours(tx, before.sessions, after.sessions);
}
