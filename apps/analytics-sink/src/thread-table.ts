import { unionIntervals, type Layout, type ServedRequest } from '@longwave/audience';
import type { ByteRangeServed } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';
import { layoutDigest, loadLayouts } from './fact-table.ts';
import { parseMultirange, renderMultirange } from './multirange.ts';

/** A listener's key and an episode. */
export interface ListenerEpisode {
  readonly listener_key: string;
  readonly episode_id: string;
  readonly previous_listener_key?: string | undefined;
}

/** All keys of one listener and one episode that may share a window, and the earliest start among the new facts. */
export interface Thread {
  readonly keys: readonly string[];
  readonly episodeId: string;
  readonly sinceMs: number;
}

/** A counted request and where it came from. */
export interface StoredRequest extends ServedRequest {
  readonly episodeId: string;
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly country: string;
  readonly region: string;
  readonly userAgentDigest: string;
}

const name = (one: ListenerEpisode) => `${one.listener_key} ${one.episode_id}`;

/** Makes and locks the rows in key order; remembers the link to the previous key. */
async function lock(tx: Transaction, rows: readonly ListenerEpisode[]): Promise<void> {
  await tx.query(
    `insert into listener_episode select * from json_populate_recordset(null::listener_episode, $1)
     order by listener_key, episode_id on conflict (listener_key, episode_id)
     do update set previous_listener_key = excluded.previous_listener_key
     where listener_episode.previous_listener_key is null and excluded.previous_listener_key is not null`,
    [JSON.stringify(rows)],
  );
}

async function findLinks(tx: Transaction, rows: readonly ListenerEpisode[]): Promise<Required<ListenerEpisode>[]> {
  const { rows: links } = await tx.query<Required<ListenerEpisode>>(
    `with touched as materialized (select distinct listener_key, episode_id
       from json_populate_recordset(null::listener_episode, $1))
     select l.* from touched t join listener_episode l using (listener_key, episode_id)
       where l.previous_listener_key is not null
     union
     select l.* from touched t join listener_episode l
       on l.previous_listener_key = t.listener_key and l.episode_id = t.episode_id`,
    [JSON.stringify(rows)],
  );
  return links;
}

/**
 * Locks everything these facts can change and answers it as threads. Until the transaction ends nobody else counts these
 * listeners' sessions, under this period's key or a neighbouring one (measurement.md D5).
 */
export async function lockThreads(tx: Transaction, facts: readonly ByteRangeServed[]): Promise<Thread[]> {
  const touched = new Map<string, ListenerEpisode & { sinceMs: number }>();
  for (const { listener_key, episode_id, previous_listener_key, started_at } of facts) {
    const row = { listener_key, episode_id, previous_listener_key };
    const known = touched.get(name(row));
    touched.set(name(row), {
      ...row,
      previous_listener_key: previous_listener_key ?? known?.previous_listener_key,
      sinceMs: Math.min(known?.sinceMs ?? Infinity, Date.parse(started_at)),
    });
  }
  const locked = new Set<string>();
  const lockAll = async (rows: readonly ListenerEpisode[]) => {
    const fresh = new Map<string, ListenerEpisode>();
    for (const row of rows) {
      const previous = row.previous_listener_key;
      if (!locked.has(name(row))) fresh.set(name(row), row);
      const before = { listener_key: previous ?? '', episode_id: row.episode_id };
      if (previous != null && !locked.has(name(before)) && !fresh.has(name(before))) fresh.set(name(before), before);
    }
    if (fresh.size > 0) await lock(tx, [...fresh.values()]);
    for (const one of fresh.keys()) locked.add(one);
    return fresh.size > 0;
  };
  const own = [...touched.values()];
  // Read before locking, so that all rows are nearly always locked in one statement and in order; read again once they are ours.
  let links = await findLinks(tx, own);
  while (await lockAll([...own, ...links])) links = await findLinks(tx, own);

  const threads = new Map<string, { keys: Set<string>; episodeId: string; sinceMs: number }>();
  for (const row of own) {
    const near = links.filter(
      (link) =>
        link.episode_id === row.episode_id &&
        (link.listener_key === row.listener_key || link.previous_listener_key === row.listener_key),
    );
    const keys = [row.listener_key, ...near.flatMap((link) => [link.listener_key, link.previous_listener_key!])];
    const joined = new Set(
      keys.map((key) => threads.get(`${key} ${row.episode_id}`)).filter((one) => one !== undefined),
    );
    const thread = { keys: new Set(keys), episodeId: row.episode_id, sinceMs: row.sinceMs };
    for (const other of joined) {
      other.keys.forEach((key) => thread.keys.add(key));
      thread.sinceMs = Math.min(thread.sinceMs, other.sinceMs);
    }
    for (const key of thread.keys) threads.set(`${key} ${row.episode_id}`, thread);
  }
  return [...new Set(threads.values())].map((thread) => ({ ...thread, keys: [...thread.keys] }));
}

/** Adds the bytes of eligible facts to their requests; adding the same bytes again changes nothing. */
export async function addToRequests(tx: Transaction, facts: readonly ByteRangeServed[]): Promise<void> {
  const byRequest = Map.groupBy(facts, (fact) => `${name(fact)} ${fact.request_id}`);
  const rows = [...byRequest.values()].map((own) => ({
    ...own[0]!,
    layout_digest: layoutDigest(own[0]!),
    written: renderMultirange(unionIntervals(own.flatMap((fact) => fact.written))),
    parts: undefined,
    requested: undefined,
  }));
  await tx.query(
    `insert into served_request as served select * from json_populate_recordset(null::served_request, $1)
     on conflict (listener_key, episode_id, request_id) do update
     set written = served.written + excluded.written, started_at = least(served.started_at, excluded.started_at)`,
    [JSON.stringify(rows)],
  );
}

interface RequestRow {
  readonly listener_key: string;
  readonly episode_id: string;
  readonly request_id: string;
  readonly workspace_id: string;
  readonly podcast_id: string;
  readonly arrangement_id: string;
  readonly layout_digest: string;
  readonly started_at: Date;
  readonly written: string;
  readonly country: string;
  readonly region: string;
  readonly user_agent_digest: string;
}

/** The threads' keys as rows, with the time after which their rows matter: 24 h before the first new fact. */
export function threadKeys(threads: readonly Thread[]): string {
  return JSON.stringify(
    threads.flatMap(({ keys, episodeId, sinceMs }) =>
      keys.map((key) => ({
        listener_key: key,
        episode_id: episodeId,
        since: new Date(sinceMs - 24 * 3_600_000).toISOString(),
      })),
    ),
  );
}

/**
 * The requests of the threads that may share a session with the new facts or come after them.
 * @param layouts layouts already read, by digest; grows
 */
export async function loadRequests(
  tx: Transaction,
  threads: readonly Thread[],
  layouts: Map<string, Layout>,
): Promise<StoredRequest[]> {
  const { rows } = await tx.query<RequestRow>(
    `select r.* from json_to_recordset($1) as k(listener_key text, episode_id text, since timestamptz)
     join served_request r using (listener_key, episode_id) where r.started_at > k.since`,
    [threadKeys(threads)],
  );
  const missing = [...new Set(rows.map((row) => row.layout_digest))].filter((digest) => !layouts.has(digest));
  if (missing.length > 0) for (const [digest, layout] of await loadLayouts(tx, missing)) layouts.set(digest, layout);
  return rows.map((row) => ({
    requestId: row.request_id,
    listenerKey: row.listener_key,
    arrangementId: row.arrangement_id,
    layout: layouts.get(row.layout_digest)!,
    startedAtMs: row.started_at.getTime(),
    written: parseMultirange(row.written),
    episodeId: row.episode_id,
    workspaceId: row.workspace_id,
    podcastId: row.podcast_id,
    country: row.country,
    region: row.region,
    userAgentDigest: row.user_agent_digest,
  }));
}
