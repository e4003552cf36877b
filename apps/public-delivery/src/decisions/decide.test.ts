import { describe, expect, test } from '@jest/globals';
import type { DecideResponse, Pick } from '@longwave/rpc/serving';
import { readAnswer } from './decide.ts';

const asked = (key: string, position: string, maxSlots: number, positionMs = 0n) => ({
  ...{ key, position, maxSlots, positionMs, maxDurationMs: 90_000n },
  slotRules: [] as { slot: number; maxDurationMs: bigint; lineItemTypes: string[]; productions: string[] }[],
});
const request = {
  decisionId: 'dec_1',
  adLoadLimitMs: 0n,
  breaks: [asked('pre', 'pre', 1), asked('mid', 'mid', 3, 48_000n), asked('post', 'post', 1, 96_000n)],
};
const pick: Pick = {
  breakKey: 'pre',
  slot: 0,
  servingId: 'srv_1',
  campaignId: 'cmp_1',
  lineItemId: 'li_1',
  creativeId: 'crv_1',
  segmentDigest: 'a'.repeat(64),
  sizeBytes: 384_000n,
  durationMs: 24_000n,
  clickUrl: '',
  billable: true,
  hls: undefined,
  pictures: [],
};
const answer = (picks: Pick[], decisionId = 'dec_1'): DecideResponse => ({
  decisionId,
  servingPlanId: 'spl_1',
  picks,
  noAdReason: '',
});
const longer = (seconds: number) => ({ sizeBytes: 16_000n * BigInt(seconds), durationMs: 1_000n * BigInt(seconds) });

test('a pick becomes an ad of its slot, with what counting must know', () => {
  expect(readAnswer(request, answer([pick]))).toEqual({
    decided: true,
    breaks: [
      {
        key: 'pre',
        position: 'pre',
        contentMs: 0,
        ads: [{ digest: 'a'.repeat(64), sizeBytes: 384_000, durationMs: 24_000, kind: 'ad', slot: 'pre/0' }],
      },
    ],
    counted: {
      'pre/0': {
        serving_id: 'srv_1',
        campaign_id: 'cmp_1',
        line_item_id: 'li_1',
        creative_id: 'crv_1',
        break_key: 'pre',
        slot: 0,
        billable: true,
      },
    },
  });
  expect(readAnswer(request, answer([]))).toEqual({ decided: true, breaks: [], counted: {} });
});

test('an ad keeps its track of HLS beside the MP3, and stays without one that is not valid', () => {
  const hls = {
    ...{ codec: 'mp4a.40.2', digest: 'b'.repeat(64), sizeBytes: 576_605n, durationMs: 24_021n },
    ...{ indexDigest: 'c'.repeat(64), indexSizeBytes: 300n },
  };
  const trackOf = (given: Pick['hls']) => {
    const decision = readAnswer(request, answer([{ ...pick, hls: given }]));
    return decision.decided && decision.breaks[0]!.ads[0]!.hls;
  };
  expect(trackOf(hls)).toEqual({
    ...{ codec: 'mp4a.40.2', digest: 'b'.repeat(64), size_bytes: 576_605, duration_ms: 24_021 },
    ...{ index_digest: 'c'.repeat(64), index_size_bytes: 300 },
  });
  for (const wrong of [undefined, { ...hls, digest: '../x' }, { ...hls, sizeBytes: 0n }, { ...hls, codec: '' }])
    expect(trackOf(wrong)).toBeUndefined();
});

test('an ad keeps its pictures, and stays without any when one is not valid or missing', () => {
  const track = {
    ...{ codec: 'avc1.64001f', digest: 'b'.repeat(64), sizeBytes: 1_000n, durationMs: 24_000n },
    ...{ indexDigest: 'c'.repeat(64), indexSizeBytes: 300n },
  };
  const pictures = ['v360', 'v720', 'v1080', 'iframe'].map((name) => ({
    ...{ name, track, width: 16, height: 9, frameRateFrames: 30_000, frameRateSeconds: 1_001 },
  }));
  const picturesOf = (given: Pick['pictures']) => {
    const decision = readAnswer(request, answer([{ ...pick, pictures: given }]));
    return decision.decided && decision.breaks[0]!.ads[0]!.pictures;
  };
  const found = picturesOf(pictures);
  expect(found && Object.keys(found)).toEqual(['v360', 'v720', 'v1080', 'iframe']);
  expect(found && found.v720).toMatchObject({ width: 16, frame_rate: { frames: 30_000, seconds: 1_001 } });
  const [first, ...others] = pictures;
  for (const wrong of [[], others, [...others, { ...first!, width: 0 }], [...pictures, { ...first!, name: 'v9' }]])
    expect(picturesOf(wrong)).toBeUndefined();
});

test.each([
  ['https://shop.example/a?b=c', true],
  ['http://shop.example', true],
  ['', false],
  ['javascript:alert(1)', false],
  ['//shop.example/', false],
  ['ftp://shop.example/', false],
])('a click goes where a browser may be sent, and the ad stays without one: %p, %p', (clickUrl, kept) => {
  const decision = readAnswer(request, answer([{ ...pick, clickUrl }]));
  expect(decision.decided && decision.counted['pre/0']!.click_url).toBe(kept ? clickUrl : undefined);
});

test('breaks come in the order asked and ads in the order of their slots, whatever order they are answered in', () => {
  const mixed = [
    { ...pick, breakKey: 'post' },
    { ...pick, breakKey: 'mid', slot: 2 },
    pick,
    { ...pick, breakKey: 'mid', slot: 0 },
  ];
  const decision = readAnswer(request, answer(mixed));
  expect(
    decision.decided && decision.breaks.map(({ contentMs, ads }) => [contentMs, ads.map(({ slot }) => slot)]),
  ).toEqual([
    [0, ['pre/0']],
    [48_000, ['mid/0', 'mid/2']],
    [96_000, ['post/0']],
  ]);
});

describe('an answer is not used', () => {
  test.each([
    ['of another decision', answer([pick], 'dec_2')],
    ['with two ads in one slot', answer([pick, { ...pick, servingId: 'srv_2' }])],
    ['with more ads than slots', answer([pick, { ...pick, slot: 1 }])],
    ['before the first slot', answer([{ ...pick, slot: -1 }])],
    ['for a break that nobody asked for', answer([{ ...pick, breakKey: 'other' }])],
    ['with an ad that is too long', answer([{ ...pick, ...longer(96) }])],
    [
      'with ads that are too long together',
      answer([0, 1, 2].map((slot) => ({ ...pick, breakKey: 'mid', slot, ...longer(36) }))),
    ],
    ['with an ad of no length', answer([{ ...pick, durationMs: 0n, sizeBytes: 0n }])],
    ['with another length than its bytes have', answer([{ ...pick, durationMs: 23_976n }])],
    ['with half a frame', answer([{ ...pick, sizeBytes: 385n }])],
    ['with a path in place of a digest', answer([{ ...pick, segmentDigest: '../x' }])],
  ])('%s', (_name, wrong) => {
    expect(readAnswer(request, wrong)).toEqual({ decided: false, reason: 'invalid_answer' });
  });

  test('that gives more advertising than one play may have', () => {
    const two = answer([pick, { ...pick, breakKey: 'post' }]);
    expect(readAnswer({ ...request, adLoadLimitMs: 48_000n }, two).decided).toBe(true);
    expect(readAnswer({ ...request, adLoadLimitMs: 47_999n }, two).decided).toBe(false);
  });

  test('that breaks the rule of its slot', () => {
    const rule = { slot: 1, maxDurationMs: 20_000n, lineItemTypes: [], productions: [] };
    const ruled = { ...request, breaks: [{ ...asked('mid', 'mid', 2), slotRules: [rule] }] };
    const inMid = (slot: number) => answer([{ ...pick, breakKey: 'mid', slot }]);
    expect(readAnswer(ruled, inMid(0)).decided).toBe(true);
    expect(readAnswer(ruled, inMid(1)).decided).toBe(false);
    const unlimited = { ...rule, maxDurationMs: 0n };
    expect(readAnswer({ ...ruled, breaks: [{ ...ruled.breaks[0]!, slotRules: [unlimited] }] }, inMid(1)).decided).toBe(
      true,
    );
  });
});
