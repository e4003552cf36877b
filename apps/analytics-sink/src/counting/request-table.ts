import { mergeRequests, type AddressedRequest, type Layout } from '@longwave/audience';
import { columns, type Rows, parseMultirange, renderMultirange } from '@longwave/audience-store';
import type { ByteRangeServed } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';
import { layoutDigest, loadLayouts } from './fact-table.ts';
import { threadName, type Thread } from './thread-table.ts';

/** A counted request and where it came from. */
export interface StoredRequest extends AddressedRequest {
  readonly episodeId: string;
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly country: string;
  readonly region: string;
  readonly userAgentDigest: string;
  readonly webPlayer: string | undefined;
}

/** Columns that follow the fact of a request that began first, in the order of `mergeRequests`. */
const ofFirst = ['started_at', 'address_safe', 'country', 'region', 'address_key', 'user_agent_digest', 'web_player'];
const beginning = (row: string) =>
  `(${row}.started_at, ${row}.address_safe, ${row}.country collate "C", ${row}.region collate "C",
    coalesce(${row}.web_player, '') collate "C")`;

/** Adds the bytes of eligible facts to their requests; adding the same bytes again changes nothing. */
export async function addToRequests(tx: Transaction, facts: readonly ByteRangeServed[]): Promise<void> {
  const byThread = Map.groupBy(facts, threadName);
  const rows = [...byThread.values()].flatMap(mergeRequests).map(({ requestId, first, written }) => ({
    ...first,
    request_id: requestId,
    layout_digest: layoutDigest(first),
    address_safe: first.address_safe === true,
    written: renderMultirange(written),
    parts: undefined,
    requested: undefined,
  }));
  const followFirst = ofFirst.map(
    (column) =>
      `${column} = case when ${beginning('excluded')} < ${beginning('served')} then excluded.${column} else served.${column} end`,
  );
  await tx.query(
    `insert into served_request as served (${columns.served_request})
     select ${columns.served_request} from json_populate_recordset(null::served_request, $1)
     on conflict (listener_key, episode_id, request_id) do update
     set written = served.written + excluded.written, ${followFirst.join(', ')}`,
    [JSON.stringify(rows)],
  );
}

type RequestRow = Rows['served_request'] & { readonly thread: number; readonly island: Date };

/** The requests of a thread that new facts may have moved, and the time from which they are all there. */
export interface Island {
  readonly thread: Thread;
  readonly fromMs: number;
  readonly requests: readonly StoredRequest[];
}

/**
 * The requests of each thread from the last gap of 24 h before its first new fact on: no session and no rolling window reaches across
 * such a gap.
 * @param layouts layouts already read, by digest; grows
 */
export async function loadIslands(
  tx: Transaction,
  threads: readonly Thread[],
  layouts: Map<string, Layout>,
): Promise<Island[]> {
  const { rows } = await tx.query<RequestRow>(
    `with recursive thread as materialized (
       select thread, array(select json_array_elements_text(keys)) as keys, episode_id, since
       from json_to_recordset($1) as t(thread int, keys json, episode_id text, since timestamptz)),
     step as (
       select thread, since as island from thread
       union all
       select s.thread, earlier.at from step s join thread t using (thread) cross join lateral (
         select min(r.started_at) as at from served_request r where r.listener_key = any(t.keys) and r.episode_id = t.episode_id
           and r.started_at > s.island - interval '24 hours' and r.started_at < s.island) earlier
       where earlier.at is not null),
     start as (select thread, min(island) as island from step group by thread)
     select s.thread, s.island, r.* from start s join thread t using (thread)
       join served_request r on r.listener_key = any(t.keys) and r.episode_id = t.episode_id and r.started_at >= s.island`,
    [
      JSON.stringify(
        threads.map(({ keys, episodeId, sinceMs }, thread) => ({
          thread,
          keys,
          episode_id: episodeId,
          since: new Date(sinceMs).toISOString(),
        })),
      ),
    ],
  );
  const missing = [...new Set(rows.map((row) => row.layout_digest))].filter((digest) => !layouts.has(digest));
  if (missing.length > 0) for (const [digest, layout] of await loadLayouts(tx, missing)) layouts.set(digest, layout);
  const byThread = Map.groupBy(rows, (row) => row.thread);
  return threads.map((thread, nth) => {
    const own = byThread.get(nth) ?? [];
    return {
      thread,
      fromMs: own[0]?.island.getTime() ?? thread.sinceMs,
      requests: own.map((row) => ({
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
        addressKey: row.address_key,
        addressSafe: row.address_safe,
        webPlayer: row.web_player ?? undefined,
      })),
    };
  });
}

/** The islands' keys as rows, with the time from which their rows matter. */
export function islandKeys(islands: readonly Island[]): string {
  return JSON.stringify(
    islands.flatMap(({ thread: { keys, episodeId }, fromMs }) =>
      keys.map((key) => ({ listener_key: key, episode_id: episodeId, since: new Date(fromMs).toISOString() })),
    ),
  );
}
