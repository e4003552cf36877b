import { fileURLToPath } from 'node:url';
import { readAudienceLists, userAgentDigest } from '@longwave/audience';
import type { ByteRangeServed, UserAgentSeen } from '@longwave/events';
import fc from 'fast-check';

export const dataFolder = fileURLToPath(new URL('../../audience/data', import.meta.url));
export const lists = readAudienceLists(dataFolder, Date.now);

export const player = 'Overcast/3.0 (+http://overcast.fm/; iOS podcast app)';
const bot = 'AhrefsBot/7.0';

const ad = {
  serving_id: 'srv_1',
  campaign_id: 'cmp_1',
  line_item_id: 'li_1',
  creative_id: 'crv_1',
  break_key: 'pre',
  slot: 0,
  billable: true,
};

/** 128 kbit/s, 16 bytes a millisecond: a header, an ad of 10 s, content of 120 s. */
const parts: ByteRangeServed['parts'] = [
  { kind: 'header', from: 0, to: 1000, duration_ms: 0 },
  { kind: 'ad', from: 1000, to: 161_000, duration_ms: 10_000, ad },
  { kind: 'content', from: 161_000, to: 2_081_000, duration_ms: 120_000 },
];
export const totalBytes = 2_081_000;

/** A fact of a whole download, with the changes of a test. */
export function fact(changes: Partial<ByteRangeServed> & { fact_id: string }): ByteRangeServed {
  return {
    kind: 'byte_range_served',
    request_id: `req_${changes.fact_id}`,
    started_at: '2025-11-02T10:00:00.000Z',
    at: changes.started_at ?? '2025-11-02T10:00:01.000Z',
    workspace_id: 'ws_1',
    podcast_id: 'pod_1',
    episode_id: 'ep_1',
    arrangement_id: 'arr_1',
    method: 'GET',
    status: 200,
    requested: [[0, totalBytes]],
    written: [[0, totalBytes]],
    total_bytes: totalBytes,
    parts,
    published_at: '2025-10-01T00:00:00.000Z',
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

/** A fact of an own arrangement, whose ad has another serving. */
export function withServing(
  servingId: string,
  changes: Partial<ByteRangeServed> & { fact_id: string },
  billable = true,
) {
  const one = fact({ arrangement_id: `arr ${servingId}`, ...changes });
  const parts = one.parts.map((part) =>
    part.ad ? { ...part, ad: { ...part.ad, serving_id: servingId, billable } } : part,
  );
  return { ...one, parts };
}

export function seen(userAgent = player): UserAgentSeen {
  return {
    kind: 'user_agent_seen',
    fact_id: `seen ${userAgentDigest(userAgent)}`,
    at: '2025-11-02T10:00:00.000Z',
    user_agent_digest: userAgentDigest(userAgent)!,
    user_agent: userAgent,
  };
}

const start = Date.parse('2025-10-30T20:00:00Z');

/** Requests of few listeners over four days, around midnights and the change of secrets at the end of October. */
const requests = fc.array(
  fc.record({
    listener: fc.constantFrom('a', 'b', 'c'),
    episode: fc.constantFrom('ep_1', 'ep_2'),
    // Half of them begin in one of a few minutes, so that some share it.
    minutes: fc.oneof(
      fc.integer({ min: 0, max: 4 * 24 * 60 }),
      fc.integer({ min: 0, max: 12 }).map((n) => n * 8 * 60),
    ),
    seconds: fc.integer({ min: 0, max: 59 }),
    arrangement: fc.constantFrom('arr_1', 'arr_2'),
    from: fc.integer({ min: 0, max: 20 }).map((n) => n * 100_000),
    length: fc.integer({ min: 1, max: 12 }).map((n) => n * 100_000),
    userAgent: fc.constantFrom(player, player, player, bot),
  }),
  { minLength: 80, maxLength: 80 },
);

/** Random facts, each response in two pieces, and their user agents. Equal seeds give equal facts. */
export function randomFacts(seed: number): (ByteRangeServed | UserAgentSeen)[] {
  const [list = []] = fc.sample(requests, { seed, numRuns: 1 });
  const served = list.flatMap((one, index) => {
    const startedAt = new Date(start + one.minutes * 60_000 + one.seconds * 1000).toISOString();
    const november = startedAt >= '2025-11';
    const [from, to] = [one.from, Math.min(one.from + one.length, totalBytes)];
    const middle = from + Math.floor((to - from) / 3);
    const pieces: [number, number][] = [
      [from, middle],
      [middle, to],
    ];
    return pieces.map((piece, sequence) =>
      fact({
        fact_id: `fct_${index}.${sequence}`,
        request_id: `req_${index}`,
        started_at: startedAt,
        at: startedAt,
        status: 206,
        episode_id: one.episode,
        listener_key: `${one.listener}${november ? '11' : '10'}`,
        ...(november && startedAt < '2025-11-03' && { previous_listener_key: `${one.listener}10` }),
        arrangement_id: one.arrangement,
        user_agent_digest: userAgentDigest(one.userAgent),
        requested: [[from, to]],
        written: [piece],
      }),
    );
  });
  return [...served, seen(player), seen(bot)];
}

/** The list twice, in an order that the seed decides. */
export function shuffledTwice<T>(list: readonly T[], seed: number): T[] {
  const both = [...list, ...list];
  return fc.sample(fc.shuffledSubarray(both, { minLength: both.length }), { seed, numRuns: 1 })[0]!;
}

/** Cuts a list into pieces of at most `size`. */
export function batches<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}
