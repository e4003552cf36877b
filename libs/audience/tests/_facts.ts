import { fileURLToPath } from 'node:url';
import type { ByteRangeServed, CountedPart, DeliveryFact, UserAgentSeen } from '@longwave/events';
import { readAudienceLists, userAgentDigest, type Recount } from '../src/index.ts';

export const lists = readAudienceLists(fileURLToPath(new URL('../data', import.meta.url)), () =>
  Date.parse('2026-11-02T00:00:00Z'),
);

export const player = 'Overcast/3.0 (+http://overcast.fm/; iOS podcast app)';

const ad = {
  serving_id: 'srv_1',
  campaign_id: 'cmp_1',
  line_item_id: 'li_1',
  creative_id: 'crv_1',
  break_key: 'pre',
  slot: 0,
  billable: true,
};

/** 128 kbit/s: 16 bytes a millisecond. */
export const layouts: Readonly<Record<string, readonly CountedPart[]>> = {
  long: [
    { kind: 'header', from: 0, to: 1000, duration_ms: 0 },
    { kind: 'ad', from: 1000, to: 161_000, duration_ms: 10_000, ad },
    { kind: 'content', from: 161_000, to: 2_081_000, duration_ms: 120_000 },
  ],
  short: [
    { kind: 'header', from: 0, to: 1000, duration_ms: 0 },
    { kind: 'content', from: 1000, to: 481_000, duration_ms: 30_000 },
  ],
  unknown: [{ kind: 'content', from: 0, to: 5_000_000, duration_ms: 0 }],
};

/** A whole download of the long arrangement, with what a case changes. */
export function fact(changes: Partial<ByteRangeServed> = {}, parts = layouts['long']!): ByteRangeServed {
  const total = parts.at(-1)!.to;
  return {
    kind: 'byte_range_served',
    fact_id: 'fct_1',
    request_id: 'req_1',
    started_at: '2026-11-02T10:00:00.000Z',
    at: '2026-11-02T10:00:01.000Z',
    workspace_id: 'ws_1',
    podcast_id: 'pod_1',
    episode_id: 'ep_1',
    arrangement_id: 'arr_1',
    method: 'GET',
    status: 200,
    requested: [[0, total]],
    written: [[0, total]],
    total_bytes: total,
    parts: [...parts],
    published_at: '2026-10-01T00:00:00.000Z',
    listener_key: 'listener',
    address_key: 'address',
    address_verdict: 'ok',
    user_agent_digest: userAgentDigest(player),
    prefetch: false,
    preload: false,
    internal: false,
    country: 'DE',
    region: 'unknown',
    late: false,
    lists_version: lists.listsVersion,
    ...changes,
  };
}

export function seen(userAgent: string): UserAgentSeen {
  return {
    kind: 'user_agent_seen',
    fact_id: `seen:${userAgent}`,
    at: '2026-11-02T10:00:00.000Z',
    user_agent_digest: userAgentDigest(userAgent)!,
    user_agent: userAgent,
  };
}

interface CaseRequest {
  readonly listener?: string;
  readonly previous?: string;
  readonly at: string;
  readonly arrangement?: string;
  readonly written: [number, number][];
}

interface ExpectedDownload {
  readonly listener?: string;
  readonly window: string;
  readonly arrangement?: string;
  readonly credited_ms: number;
  readonly content_ms: number;
  readonly ads: readonly string[];
  readonly duplicates?: readonly string[];
}

export interface CountingCase {
  readonly name: string;
  readonly layout?: string;
  readonly requests: readonly CaseRequest[];
  readonly downloads: readonly ExpectedDownload[];
}

/** The facts of a counting case. */
export function caseFacts(one: CountingCase): DeliveryFact[] {
  return [
    seen(player),
    ...one.requests.map((request, index) =>
      fact(
        {
          fact_id: `fct_${index}`,
          request_id: `req_${index}`,
          started_at: request.at,
          at: request.at,
          status: 206,
          requested: request.written,
          written: request.written,
          arrangement_id: request.arrangement ?? 'arr_1',
          listener_key: request.listener ?? 'listener',
          ...(request.previous !== undefined && { previous_listener_key: request.previous }),
        },
        layouts[one.layout ?? 'long'],
      ),
    ),
  ];
}

/** The numbers of all windows, in one order. */
export function numbers(counted: Recount): unknown {
  type Row = { readonly startedAtMs: number; readonly listener: string; readonly episodeId: string };
  const placeOf = ({ listener, episodeId }: Row) => `${listener} ${episodeId}`;
  const inOrder = <T extends Row>(list: T[]) =>
    list.sort((a, b) => a.startedAtMs - b.startedAtMs || placeOf(a).localeCompare(placeOf(b)));
  const sessions = counted.sessions.map(({ episodeId, held, session: { first, windowOn, download } }) => ({
    episodeId,
    listener: first.listenerKey,
    startedAtMs: first.startedAtMs,
    windowOn,
    download,
    held,
  }));
  const rollingDownloads = counted.rollingDownloads.map(
    ({ episodeId, held, rollingDownload: { first, firstTouch, lastTouch } }) => ({
      episodeId,
      listener: first.listenerKey,
      startedAtMs: first.startedAtMs,
      requestId: first.requestId,
      firstTouch,
      lastTouch,
      held,
    }),
  );
  return [inOrder(sessions), inOrder(rollingDownloads)];
}
