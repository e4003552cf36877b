import { mergeRequests, type AddressedRequest, type Layout, type ServedBytes, type Track } from '@longwave/audience';
import { columns, type Rows, parseMultirange, renderMultirange } from '@longwave/audience-store';
import type { Transaction } from '@longwave/postgres';
import { layoutDigest, loadLayouts } from './fact-table.ts';
import { listenerEpisodeName, type ListenerEpisodeChain } from './listener-episode-table.ts';
import { findTracks } from './track-table.ts';

/** A request with its episode, place and user agent. */
export interface StoredRequest extends AddressedRequest {
  readonly episodeId: string;
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly country: string;
  readonly region: string;
  readonly userAgentDigest: string;
  readonly webPlayer: string | undefined;
}

/** Columns that a request takes from its first fact, in the order of `mergeRequests`. */
const ofFirst = ['started_at', 'address_safe', 'country', 'region', 'address_key', 'user_agent_digest', 'web_player'];
const beginning = (row: string) =>
  `(${row}.started_at, ${row}.address_safe, ${row}.country collate "C", ${row}.region collate "C",
    coalesce(${row}.web_player, '') collate "C")`;

/** Adds the bytes of eligible facts to their requests; repeated bytes change nothing. */
export async function addToRequests(tx: Transaction, facts: readonly ServedBytes[]): Promise<void> {
  const byChain = Map.groupBy(facts, listenerEpisodeName);
  const rows = [...byChain.values()].flatMap(mergeRequests).map(({ requestId, first, written }) => ({
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

/** How a request used the token of a play, where that may join two keys. */
const playUseOf = ({ play_id, play_address_key, user_agent_digest }: Rows['served_request']): StoredRequest['play'] =>
  play_id === null || play_address_key === null
    ? undefined
    : { playId: play_id, addressKey: play_address_key, userAgentDigest: user_agent_digest };

type RequestRow = Rows['served_request'] & { readonly chain: number; readonly window_start: Date };

/** The requests of a chain that new facts may move, complete from `fromMs` on. */
export interface RecountWindow {
  readonly chain: ListenerEpisodeChain;
  readonly fromMs: number;
  readonly requests: readonly StoredRequest[];
}

/**
 * The requests of each chain from the last gap of 24 h before its first new fact on: no session and no rolling window reaches across
 * such a gap (docs/counting.md#the-three-windows).
 * @param cache of layouts and tracks by digest, which it fills
 */
export async function loadRecountWindows(
  tx: Transaction,
  chains: readonly ListenerEpisodeChain[],
  { layouts, tracks }: { readonly layouts: Map<string, Layout>; readonly tracks: Map<string, Track> },
): Promise<RecountWindow[]> {
  const { rows } = await tx.query<RequestRow>(
    `with recursive chain as materialized (
       select chain, array(select json_array_elements_text(keys)) as keys, episode_id, since
       from json_to_recordset($1) as t(chain int, keys json, episode_id text, since timestamptz)),
     step as (
       select chain, since as window_start from chain
       union all
       select s.chain, earlier.at from step s join chain t using (chain) cross join lateral (
         select min(r.started_at) as at from served_request r where r.listener_key = any(t.keys) and r.episode_id = t.episode_id
           and r.started_at > s.window_start - interval '24 hours' and r.started_at < s.window_start) earlier
       where earlier.at is not null),
     start as (select chain, min(window_start) as window_start from step group by chain)
     select s.chain, s.window_start, r.* from start s join chain t using (chain)
       cross join lateral (
         select * from served_request r
         where r.listener_key = any(t.keys) and r.episode_id = t.episode_id and r.started_at >= s.window_start offset 0) r`,
    [
      JSON.stringify(
        chains.map(({ keys, episodeId, sinceMs }, chain) => ({
          chain,
          keys,
          episode_id: episodeId,
          since: new Date(sinceMs).toISOString(),
        })),
      ),
    ],
  );
  const missing = [...new Set(rows.map((row) => row.layout_digest))].filter((digest) => !layouts.has(digest));
  if (missing.length > 0) for (const [digest, layout] of await loadLayouts(tx, missing)) layouts.set(digest, layout);
  const named = new Set(rows.flatMap((row) => layouts.get(row.layout_digest)!.track ?? []));
  const unread = [...named].filter((digest) => !tracks.has(digest));
  if (unread.length > 0) for (const [digest, track] of await findTracks(tx, unread)) tracks.set(digest, track);
  const byChain = Map.groupBy(rows, (row) => row.chain);
  return chains.map((chain, nth) => {
    const own = byChain.get(nth) ?? [];
    return {
      chain,
      fromMs: own[0]?.window_start.getTime() ?? chain.sinceMs,
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
        track: tracks.get(layouts.get(row.layout_digest)!.track ?? ''),
        play: playUseOf(row),
      })),
    };
  });
}

/** The keys of recount windows as JSON rows, each with the start of its window. */
export function recountWindowKeys(recountWindows: readonly RecountWindow[]): string {
  return JSON.stringify(
    recountWindows.flatMap(({ chain: { keys, episodeId }, fromMs }) =>
      keys.map((key) => ({ listener_key: key, episode_id: episodeId, since: new Date(fromMs).toISOString() })),
    ),
  );
}
