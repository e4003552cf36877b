import { describe, expect, test } from '@jest/globals';
import type { PlanPolicy } from '@longwave/events';
import fc from 'fast-check';
import { hasBit } from '../src/bitset.ts';
import { buildIndex, decide, preparePlay } from '../src/index.ts';
import { inputs, lines, plays, separations } from './_arbitraries.ts';
import { planOf } from './_support.ts';

const place: fc.Arbitrary<PlanPolicy['place']> = fc.option(
  fc.record({ podcasts: fc.subarray(['pod_1', 'pod_2']), episodes: fc.subarray(['ep_1', 'ep_2']) }),
);
const distance = fc.oneof(
  fc.record({ scope: fc.constantFrom('break' as const, 'episode' as const) }),
  fc.record({ scope: fc.constant('minutes' as const), minutes: fc.constantFrom(1, 10, 11) }),
);
const optional = { requiredKeys: [] };

const brandSafety = fc.record(
  {
    blocked_ad_categories: fc.subarray(['food', 'toys']),
    blocked_advertiser_ids: fc.subarray(['adv_1', 'adv_2']),
    explicit_episodes: fc.constant('blocked' as const),
  },
  optional,
);
const privacy = fc.record({ blocked_targeting: fc.subarray(['countries' as const, 'dayparts' as const]) }, optional);
const frequency = fc.record({
  caps: fc.array(
    fc.record({
      max: fc.integer({ min: 1, max: 3 }),
      per: fc.constantFrom('listener_bucket' as const, 'episode' as const, 'break' as const),
      window_seconds: fc.integer({ min: 1, max: 100_000 }),
    }),
    { minLength: 1, maxLength: 2 },
  ),
});
const separation = fc.record({ advertiser: distance, group: distance, category: distance }, optional);
const adLoad = fc.record(
  {
    max_ms_per_play: fc.integer({ min: 1, max: 120_000 }),
    max_ads_per_play: fc.integer({ min: 1, max: 4 }),
    max_ads_per_break: fc.integer({ min: 1, max: 3 }),
  },
  optional,
);

const policyOf = <K extends PlanPolicy['kind']>(kind: K, rules: fc.Arbitrary<object>) =>
  fc.record({ kind: fc.constant(kind), place, rules });
const numbered = (list: readonly object[]) =>
  list.map((one, at) => ({ id: `pol_${at}`, version: 1, ...one }) as PlanPolicy);
const linePolicies = fc
  .array(fc.oneof(policyOf('brand_safety', brandSafety), policyOf('privacy', privacy)), { maxLength: 3 })
  .map(numbered);
const policies = fc
  .array(
    fc.oneof(
      policyOf('brand_safety', brandSafety),
      policyOf('privacy', privacy),
      policyOf('frequency', frequency),
      policyOf('separation', separation),
      policyOf('ad_load', adLoad),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map(numbered);

describe('policies only narrow what a plan allows', () => {
  test('of one line item in one break, nothing serves under policies that does not serve without them', () => {
    fc.assert(
      fc.property(lines, policies, plays, inputs, (given, some, play, inputsOf) => {
        for (const line of given) {
          for (const adBreak of play.breaks) {
            const one = { ...play, breaks: [adBreak] };
            const decideBy = (list: readonly PlanPolicy[]) => {
              const index = buildIndex(planOf([line]), list);
              return decide(index, one, inputsOf(index)).picks.length;
            };
            expect(decideBy(some)).toBeLessThanOrEqual(decideBy([]));
          }
        }
      }),
      { numRuns: 50 },
    );
  });

  test('of any plan, every ad that serves under policies could serve in its break without them', () => {
    fc.assert(
      fc.property(lines, separations, policies, plays, inputs, (given, distances, some, play, inputsOf) => {
        const plan = planOf(given, { separation: distances });
        const free = buildIndex(plan);
        const index = buildIndex(plan, some);
        const { picks } = decide(index, play, inputsOf(index));
        const { eligible } = preparePlay(free, play, inputsOf(free).suspended);
        for (const pick of picks) {
          const at = play.breaks.findIndex(({ key }) => key === pick.breakKey);
          expect(hasBit(eligible[at]!.bits, pick.ordinal)).toBe(true);
        }
        // The ads that were chosen, alone and in their breaks, are allowed by the plan: its own limits are kept beside the policies'.
        const sumMs = picks.reduce((sum, { durationMs }) => sum + durationMs, 0);
        expect(sumMs).toBeLessThanOrEqual(play.adLoadLimitMs ?? Infinity);
        for (const { key, maxSlots, maxDurationMs } of play.breaks) {
          const here = picks.filter(({ breakKey }) => breakKey === key);
          expect(here.length).toBeLessThanOrEqual(maxSlots);
          expect(here.reduce((sum, { durationMs }) => sum + durationMs, 0)).toBeLessThanOrEqual(maxDurationMs);
        }
      }),
    );
  });

  test('what brand safety and privacy keep out, the plan might as well not contain', () => {
    fc.assert(
      fc.property(lines, linePolicies, plays, inputs, (given, some, play, inputsOf) => {
        const index = buildIndex(planOf(given), some);
        const { policies: obeyed, picks } = decide(index, play, inputsOf(index));
        const tests = index.policies.inPlay(play).tests;
        const kept = index.lines.filter((_, ordinal) => tests.every(({ allowed }) => hasBit(allowed, ordinal)));
        const keptIds = new Set(kept.map(({ lineItemId }) => lineItemId));
        for (const { lineItemId } of picks) expect(keptIds).toContain(lineItemId);
        expect(obeyed.length).toBeLessThanOrEqual(some.length);
        if (kept.length < index.lines.length) expect(obeyed.length).toBeGreaterThan(0);
      }),
    );
  });
});

test('no limit of a policy is exceeded', () => {
  fc.assert(
    fc.property(lines, policies, plays, inputs, (given, some, play, inputsOf) => {
      const index = buildIndex(planOf(given), some);
      const { picks } = decide(index, play, inputsOf(index));
      const { frequencyRecord } = inputsOf(index);
      const { maxAds, maxAdsPerBreak, maxMs, caps } = index.policies.inPlay(play);
      expect(picks.length).toBeLessThanOrEqual(maxAds);
      expect(picks.reduce((sum, { durationMs }) => sum + durationMs, 0)).toBeLessThanOrEqual(maxMs);
      for (const adBreak of play.breaks)
        expect(picks.filter(({ breakKey }) => breakKey === adBreak.key).length).toBeLessThanOrEqual(maxAdsPerBreak);
      for (const { lineItemId, capKeys } of picks)
        for (const { max, per, windowMs } of caps) {
          expect(frequencyRecord).toBeDefined();
          if (per !== 'listener_bucket') continue;
          expect(capKeys).toContain(lineItemId);
          const here = picks.filter((one) => one.lineItemId === lineItemId).length;
          expect(frequencyRecord!(lineItemId, play.atMs - windowMs) + here).toBeLessThanOrEqual(max);
        }
    }),
  );
});
