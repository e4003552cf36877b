import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { buildIndex, decide, type AdBreak } from '../src/index.ts';
import { contextOf, planOf, preroll, type CaseLine } from './_support.ts';

const positions = ['pre', 'mid', 'post'] as const;
const types = ['exclusive', 'sponsorship', 'guaranteed', 'non_guaranteed', 'house'] as const;
const hour = (h: number) => new Date(Date.UTC(2026, 5, 1, h)).toISOString();

const line = fc.record({
  advertiser_id: fc.constantFrom('adv_1', 'adv_2', 'adv_3', 'adv_4', 'adv_5'),
  type: fc.constantFrom(...types),
  priority: fc.integer({ min: 1, max: 3 }),
  window: fc.tuple(fc.integer({ min: 0, max: 22 }), fc.integer({ min: 1, max: 12 })).map(([from, length]) => ({
    start: hour(from),
    end: hour(from + length),
  })),
  break_positions: fc.subarray([...positions], { minLength: 1 }),
  targeting: fc.record({
    podcasts: fc.subarray(['pod_1', 'pod_2']),
    episodes: fc.subarray(['ep_1', 'ep_2']),
    countries: fc.subarray(['DE', 'FR']),
  }),
  creatives: fc.array(
    fc.record({
      creative_id: fc.constantFrom('crv_1', 'crv_2'),
      duration_ms: fc.integer({ min: 1, max: 60_000 }),
      weight: fc.integer({ min: 1, max: 9 }),
      stream_format: fc.constantFrom('mp3/128000/48000/2', 'aac/128000/48000/2'),
    }),
    { maxLength: 3 },
  ),
});
const lines: fc.Arbitrary<CaseLine[]> = fc
  .array(line, { maxLength: 40 })
  .map((list) => list.map((one, at) => ({ line_item_id: `li_${at}`, ...one })));
const adBreaks: fc.Arbitrary<AdBreak[]> = fc
  .array(
    fc.record({
      position: fc.constantFrom(...positions),
      maxSlots: fc.integer({ min: 0, max: 4 }),
      maxDurationMs: fc.integer({ min: 0, max: 120_000 }),
    }),
    { maxLength: 4 },
  )
  .map((list) => list.map((one, at) => ({ key: `b${at}`, positionMs: at * 600_000, slotRules: [], ...one })));
const context = fc
  .record({
    decisionId: fc.string(),
    podcastId: fc.constantFrom('pod_1', 'pod_2', 'pod_3'),
    episodeId: fc.constantFrom('ep_1', 'ep_2', 'ep_3'),
    country: fc.constantFrom('DE', 'FR', 'US', ''),
    atMs: fc.integer({ min: 0, max: 30 }).map((h) => Date.parse(hour(h))),
    breaks: adBreaks,
  })
  .map(contextOf);
const refusals = fc.func(fc.boolean());

test('equal inputs give equal decisions, whatever was decided between them', () => {
  fc.assert(
    fc.property(lines, context, context, (given, play, other) => {
      const index = buildIndex(planOf(given));
      const first = decide(index, play);
      decide(index, other);
      expect(decide(index, play)).toEqual(first);
      expect(decide(buildIndex(planOf(given.toReversed())), play)).toEqual(first);
    }),
  );
});

test('every pick is inside its window and targeting, in the stream format, and no break exceeds its slots or duration', () => {
  fc.assert(
    fc.property(lines, context, (given, play) => {
      const plan = planOf(given);
      const { picks } = decide(buildIndex(plan), play);
      for (const adBreak of play.breaks) {
        const here = picks.filter((pick) => pick.breakKey === adBreak.key);
        expect(here.map((pick) => pick.slot)).toEqual(here.map((_, at) => at));
        expect(here.length).toBeLessThanOrEqual(adBreak.maxSlots);
        expect(here.reduce((sum, pick) => sum + pick.durationMs, 0)).toBeLessThanOrEqual(adBreak.maxDurationMs);
        const booked = here.map((pick) => plan.line_items.find((one) => one.line_item_id === pick.lineItemId)!);
        expect(new Set(booked.map((one) => one.advertiser_id)).size).toBe(here.length);
        for (const [at, one] of booked.entries()) {
          expect(Date.parse(one.window.start)).toBeLessThanOrEqual(play.atMs);
          expect(Date.parse(one.window.end)).toBeGreaterThan(play.atMs);
          expect(one.break_positions).toContain(adBreak.position);
          const [podcasts, episodes, countries] = [
            one.targeting.podcasts.include,
            one.targeting.episodes.include,
            one.targeting.countries.include,
          ];
          if (podcasts.length) expect(podcasts).toContain(play.podcastId);
          if (episodes.length) expect(episodes).toContain(play.episodeId);
          if (countries.length) expect(countries).toContain(play.country);
          const creatives = one.creatives.filter((creative) => creative.creative_id === here[at]!.creativeId);
          expect(creatives.flatMap((creative) => creative.media.map((media) => media.stream_format))).toContain(
            play.streamFormat,
          );
        }
      }
    }),
  );
});

test('whoever lost to a pick of a lower rank was refused, too long or too close to the same advertiser', () => {
  fc.assert(
    fc.property(lines, context, refusals, (given, play, refuse) => {
      const index = buildIndex(planOf(given));
      const { picks, candidates } = decide(index, play, (ordinal) => !refuse(ordinal));
      const rankOf = (lineItemId: string) => {
        const { tier, priority } = index.lines.find((one) => one.lineItemId === lineItemId)!;
        return tier * 10 + priority;
      };
      for (const pick of picks) {
        expect(refuse(pick.ordinal)).toBe(false);
        for (const other of candidates)
          if (other.breakKey === pick.breakKey && rankOf(other.lineItemId) < rankOf(pick.lineItemId))
            expect(other.verdict).not.toBe('outranked');
      }
    }),
  );
});

test('every stage accounts for every line item, and every candidate has one verdict per break', () => {
  fc.assert(
    fc.property(lines, context, refusals, (given, play, refuse) => {
      const { stages, candidates, noAdReason, picks } = decide(buildIndex(planOf(given)), play, (o) => !refuse(o));
      for (const stage of stages)
        expect(stage.out + Object.values(stage.droppedBy).reduce((sum, count) => sum + count, 0)).toBe(stage.in);
      const names = candidates.map((one) => `${one.breakKey} ${one.lineItemId}`);
      expect(new Set(names).size).toBe(names.length);
      expect(candidates.filter((one) => one.verdict === 'won').length).toBe(picks.length);
      if (picks.length === 0 && play.breaks.every((one) => one.maxSlots > 0 && one.maxDurationMs > 0))
        expect(noAdReason).toBeDefined();
    }),
  );
});

test('equal line items share the plays evenly, also when there are more than one piece of the walk holds', () => {
  for (const [count, plays] of [
    [10, 500],
    [600, 40],
  ] as const) {
    const index = buildIndex(planOf(Array.from({ length: count }, (_, at) => ({ line_item_id: `li_${at}` }))));
    const served = new Map<string, number>();
    for (let play = 0; play < count * plays; play++) {
      const [pick] = decide(index, contextOf({ decisionId: `dec_${play}`, breaks: [preroll] })).picks;
      served.set(pick!.lineItemId, (served.get(pick!.lineItemId) ?? 0) + 1);
    }
    expect(served.size).toBe(count);
    expect(Math.min(...served.values())).toBeGreaterThan(plays * 0.3);
    expect(Math.max(...served.values())).toBeLessThan(plays * 1.9);
  }
});

test('creatives of one line item share its plays by weight', () => {
  const creatives = [
    { creative_id: 'crv_light', duration_ms: 30_000, weight: 1 },
    { creative_id: 'crv_heavy', duration_ms: 30_000, weight: 3 },
  ];
  const index = buildIndex(planOf([{ line_item_id: 'li_1', creatives }]));
  let heavy = 0;
  for (let play = 0; play < 10_000; play++)
    if (decide(index, contextOf({ decisionId: `dec_${play}` })).picks[0]!.creativeId === 'crv_heavy') heavy++;
  expect(heavy / 10_000).toBeGreaterThan(0.73);
  expect(heavy / 10_000).toBeLessThan(0.77);
});

test('loudnesses that a creative is prepared in never change what it is chosen for', () => {
  const loudnesses = fc.array(fc.option(fc.integer({ min: -30, max: -8 }), { nil: null }), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(lines, context, fc.infiniteStream(loudnesses), (given, play, prepared) => {
      const louder = given.map((one) => ({
        ...one,
        creatives: one.creatives!.map((creative) => ({ ...creative, loudnesses: prepared.next().value! })),
      }));
      const names = (plan: CaseLine[]) =>
        decide(buildIndex(planOf(plan)), play).picks.map(
          (pick) => `${pick.slot} ${pick.lineItemId} ${pick.creativeId}`,
        );
      expect(names(louder)).toEqual(names(given));
    }),
  );
});

test('a plan with a line item twice, an unreadable window or a goal without quantity is refused', () => {
  expect(() => buildIndex(planOf([{ line_item_id: 'li_1' }, { line_item_id: 'li_1' }]))).toThrow('li_1 twice');
  const window = { start: 'soon', end: hour(1) };
  expect(() => buildIndex(planOf([{ line_item_id: 'li_1', window }]))).toThrow('no instant');
  expect(() => buildIndex(planOf([{ line_item_id: 'li_1', goal: { unit: 'impressions' } }]))).toThrow('no quantity');
});
