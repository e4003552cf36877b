import { expect, test } from '@jest/globals';
import { deliveryEventFactId, deliveryFactSchema, type CountedPart } from '@longwave/events';
import type { RowOf } from './batch.ts';
import { byteRangeFact, deliveryEventFact, mediaRangeFact, type KnownLayout } from './row-facts.ts';

const ad = {
  serving_id: 'srv_1',
  campaign_id: 'cmp_1',
  line_item_id: 'li_1',
  creative_id: 'crv_1',
  break_key: 'pre',
  slot: 0,
  billable: true,
};
const parts: CountedPart[] = [
  { kind: 'header', from: 0, to: 100, duration_ms: 0 },
  { kind: 'ad', from: 100, to: 500, duration_ms: 25, ad },
  { kind: 'content', from: 500, to: 1000, duration_ms: 31 },
];
const layout: KnownLayout = {
  arrangementId: 'arr_1',
  workspaceId: 'ws_1',
  podcastId: 'pod_1',
  episodeId: 'ep_1',
  publishedAt: new Date('2025-10-01T00:00:00Z'),
  totalBytes: 1000,
  parts,
};
const judged = { user_agent_verdict: 'ok', address_verdict: 'ok', country: 'DE', region: 'unknown' } as const;
const event: RowOf<'delivery_event'> = {
  kind: 'delivery_event',
  serving_id: 'srv_1',
  event: 'complete',
  seq: 0,
  at: '2025-11-02T10:00:01+00:00',
  late: true,
  workspace: 'ws_1',
  listener: '0'.repeat(32),
  ...judged,
};
const bytes: RowOf<'byte_range_served'> = {
  kind: 'byte_range_served',
  request: 'r1',
  arrangement: 'arr_1',
  serving_id: 'srv_1',
  from: 0,
  to: 1000,
  started_at: '2025-11-02T10:00:00Z',
  at: '2025-11-02T10:00:01Z',
  status: 200,
  listener: '0'.repeat(32),
  workspace: 'ws_1',
  podcast: 'pod_1',
  episode: 'ep_1',
  prefetch: false,
  ...judged,
};

const media: RowOf<'media_range_served'> = (() => {
  const { arrangement: _, serving_id: __, ...served } = bytes;
  return { ...served, kind: 'media_range_served', play: 'p1', presentation: 'presentation_1', track: 'track_1' };
})();

test("bytes of a track become a complete fact, with the ad of our own fact, in a play of the bucket's own", () => {
  const adTrack = { ...layout, parts: [{ kind: 'ad' as const, from: 0, to: 1000, duration_ms: 0, ad }] };
  const fact = mediaRangeFact('acme', media, adTrack);
  expect(deliveryFactSchema.parse(fact)).toEqual(fact);
  expect(fact).toMatchObject({ track: 'track_1', presentation: 'presentation_1', total_bytes: 1000, ad });
  const playOf = (producer: string, changes: Partial<typeof media>) => {
    const made = mediaRangeFact(producer, { ...media, ...changes }, layout);
    return typeof made === 'string' ? made : made.play_id;
  };
  const plays = [
    playOf('acme', {}),
    playOf('acme', { request: 'r2' }),
    playOf('acme', { play: 'p2' }),
    playOf('acme', { listener: '1'.repeat(32) }),
    playOf('rival', {}),
  ];
  expect(plays[0]).toBe(plays[1]);
  expect(new Set(plays).size).toBe(4);
});

test('an event takes its ad from our own facts of the serving', () => {
  const fact = deliveryEventFact('acme', event, layout);
  expect(deliveryFactSchema.parse(fact)).toEqual(fact);
  expect(fact).toMatchObject({
    fact_id: deliveryEventFactId('srv_1', 'complete', 0),
    event: 'complete',
    at: '2025-11-02T10:00:01.000Z',
    late: true,
    workspace_id: 'ws_1',
    podcast_id: 'pod_1',
    episode_id: 'ep_1',
    campaign_id: 'cmp_1',
    line_item_id: 'li_1',
    creative_id: 'crv_1',
  });
});

test('an event of two producers is one fact, and another one when its sequence differs', () => {
  const idOf = (producer: string, seq: number) => {
    const fact = deliveryEventFact(producer, { ...event, seq }, layout);
    return typeof fact === 'string' ? fact : fact.fact_id;
  };
  expect(idOf('acme', 1)).toBe(idOf('rival', 1));
  expect(idOf('acme', 1)).not.toBe(idOf('acme', 2));
});

test('an event of a serving that the layout lacks is rejected', () => {
  expect(deliveryEventFact('acme', { ...event, serving_id: 'srv_2' }, layout)).toBe('other_arrangement');
});

test('bytes become a complete fact, and each row of each producer a fact of its own', () => {
  const fact = byteRangeFact('acme', bytes, layout);
  expect(deliveryFactSchema.parse(fact)).toEqual(fact);
  const ids = [
    byteRangeFact('acme', bytes, layout),
    byteRangeFact('acme', { ...bytes }, layout),
    byteRangeFact('rival', bytes, layout),
    byteRangeFact('acme', { ...bytes, to: 999 }, layout),
  ].map((one) => (typeof one === 'string' ? one : one.fact_id));
  expect(new Set(ids).size).toBe(3);
  expect(ids[0]).toBe(ids[1]);
});

test.each([
  [undefined, 1000, [0, 1000]],
  [undefined, 1001, 'outside'],
  [0, 100, [0, 100]],
  [1, 400, [100, 500]],
  [1, 401, 'outside'],
  [2, 500, [500, 1000]],
  [3, 1, 'unknown_part'],
] as const)('in part %j the first %i bytes are %j of the arrangement', (part, to, expected) => {
  const fact = byteRangeFact('acme', { ...bytes, ...(part !== undefined && { part }), to }, layout);
  expect(typeof fact === 'string' ? fact : fact.written[0]).toEqual(expected);
});

test('bytes without a serving have no ad and keep their playing time', () => {
  const { serving_id: _serving, ...unnamed } = bytes;
  const fact = byteRangeFact('acme', unnamed, layout);
  expect(typeof fact === 'string' ? fact : fact.parts).toEqual([
    parts[0],
    { kind: 'ident', from: 100, to: 500, duration_ms: 25 },
    parts[2],
  ]);
});
