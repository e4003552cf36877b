import type { ServingPlanDocument } from '@longwave/events';
import fc from 'fast-check';
import {
  addBit,
  createBits,
  createUrgency,
  noSuspensions,
  setUrgency,
  suspendLines,
  type AdBreak,
  type DecisionContext,
  type DecisionInputs,
  type PlanIndex,
  type UrgencyLevel,
} from '../src/index.ts';
import { contextOf, type CaseLine } from './_support.ts';

const positions = ['pre', 'mid', 'post'] as const;
const types = ['exclusive', 'sponsorship', 'guaranteed', 'non_guaranteed', 'house'] as const;
export const hour = (h: number) => new Date(Date.UTC(2026, 5, 1, h)).toISOString();

const lists = (...values: string[]) =>
  fc.record({
    include: fc.subarray(values),
    exclude: fc.oneof({ weight: 3, arbitrary: fc.constant<string[]>([]) }, fc.subarray(values)),
  });

const creative = fc.record({
  duration_ms: fc.integer({ min: 1, max: 60_000 }),
  weight: fc.integer({ min: 1, max: 9 }),
  sequence_no: fc.integer({ min: 1, max: 3 }),
  stream_format: fc.constantFrom('mp3/128000/48000/2', 'mp3/128000/48000/2', 'aac/128000/48000/2'),
  loudnesses: fc.constantFrom([-16], [-16, -20]),
  /** None, or all. */
  tracks: fc.constantFrom(0, 9),
  place: fc.constantFrom('any' as const, 'any' as const, 'any' as const, 'first' as const, 'last' as const),
  production: fc.constantFrom('host_read' as const, 'produced' as const),
  categories: fc.constantFrom<string[] | undefined>(undefined, undefined, ['food'], ['toys', 'games']),
});

const line = fc.record({
  advertiser_id: fc.constantFrom('adv_1', 'adv_2', 'adv_3', 'adv_4', 'adv_5'),
  type: fc.constantFrom(...types),
  priority: fc.integer({ min: 1, max: 3 }),
  weight: fc.integer({ min: 1, max: 5 }),
  cpm_micros: fc.constantFrom(null, 5_000_000, 12_000_000),
  goal: fc.oneof(
    fc.constant({ unit: 'unlimited' as const }),
    fc.constant({ unit: 'impressions' as const, quantity: 100 }),
    fc.record({ unit: fc.constant('share_pct' as const), quantity: fc.integer({ min: 1, max: 100 }) }),
  ),
  window: fc.tuple(fc.integer({ min: 0, max: 14 }), fc.integer({ min: 8, max: 24 })).map(([from, length]) => ({
    start: hour(from),
    end: hour(from + length),
  })),
  break_positions: fc.subarray([...positions], { minLength: 1 }),
  targeting: fc.record({
    podcasts: lists('pod_1', 'pod_2'),
    episodes: fc.subarray(['ep_1', 'ep_2']),
    countries: lists('DE', 'FR'),
    explicit: fc.constantFrom('any' as const, 'any' as const, 'only' as const, 'none' as const),
    episode_age_hours: fc.constantFrom({}, {}, { max: 12 }, { min: 12 }),
    dayparts: fc.option(
      fc.constant({ time_zone: 'Europe/Berlin', hours: Array.from({ length: 11 }, (_, at) => at + 2) }),
      {
        nil: null,
        freq: 1,
      },
    ),
  }),
  frequency_caps: fc.array(
    fc.record({
      max: fc.integer({ min: 1, max: 3 }),
      per: fc.constantFrom('listener_bucket' as const, 'episode' as const, 'break' as const),
      window_seconds: fc.integer({ min: 1, max: 100_000 }),
    }),
    { maxLength: 2 },
  ),
  separation_groups: fc.subarray(['cars', 'banks']),
  ad_product_categories: fc.subarray(['food', 'toys']),
  creative_rotation: fc.constantFrom('weighted' as const, 'sequential' as const),
  creatives: fc
    .array(creative, { maxLength: 3 })
    .map((list) => list.map((one, at) => ({ creative_id: `crv_${at}`, ...one }))),
});

export const lines: fc.Arbitrary<CaseLine[]> = fc
  .array(line, { maxLength: 40 })
  .map((list) => list.map((one, at) => ({ line_item_id: `li_${at}`, ...one })));

const separation = fc.oneof(
  fc.record({ scope: fc.constantFrom('none' as const, 'break' as const, 'episode' as const) }),
  fc.record({ scope: fc.constant('minutes' as const), minutes: fc.constantFrom(1, 10, 11) }),
);
export const separations: fc.Arbitrary<ServingPlanDocument['separation']> = fc.record({
  advertiser: separation,
  group: separation,
  category: separation,
});

const slotRules = fc.uniqueArray(
  fc.record({
    slot: fc.integer({ min: 0, max: 3 }),
    maxDurationMs: fc.constantFrom(0, 20_000, 40_000),
    lineItemTypes: fc.oneof(fc.constant([]), fc.subarray([...types])),
    productions: fc.oneof(fc.constant([]), fc.subarray(['host_read', 'produced'] as const)),
  }),
  { maxLength: 3, selector: (rule) => rule.slot },
);

const adBreaks: fc.Arbitrary<AdBreak[]> = fc
  .array(
    fc.record({
      position: fc.constantFrom(...positions),
      maxSlots: fc.integer({ min: 0, max: 4 }),
      maxDurationMs: fc.integer({ min: 0, max: 120_000 }),
      slotRules: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, slotRules),
    }),
    { maxLength: 4 },
  )
  .map((list) => list.map((one, at) => ({ key: `b${at}`, positionMs: at * 600_000, ...one })));

export const plays: fc.Arbitrary<DecisionContext> = fc
  .record({
    decisionId: fc.string(),
    podcastId: fc.constantFrom('pod_1', 'pod_2', 'pod_3'),
    episodeId: fc.constantFrom('ep_1', 'ep_2', 'ep_3'),
    country: fc.constantFrom('DE', 'FR', 'US', ''),
    explicit: fc.boolean(),
    atMs: fc.integer({ min: 0, max: 30 }).map((h) => Date.parse(hour(h))),
    publishedAtMs: fc.integer({ min: -20, max: 10 }).map((h) => Date.parse(hour(h))),
    adLoadLimitMs: fc.constantFrom(undefined, undefined, 45_000, 150_000),
    breaks: adBreaks,
    streamFormats: fc.constantFrom(undefined, undefined, ['mp3/128000/48000/2', 'hls-aac-192']),
  })
  .map(contextOf);

/** Inputs of a decision as a function of the index, so that they are the same for every order of the plan. */
export const inputs: fc.Arbitrary<(index: PlanIndex) => DecisionInputs> = fc
  .record({
    remaining: fc.option(fc.dictionary(fc.nat({ max: 39 }).map(String), fc.nat({ max: 2 }))),
    shares: fc.dictionary(fc.nat({ max: 39 }).map(String), fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 20 }))),
    servings: fc.option(
      fc.dictionary(
        fc.nat({ max: 39 }).map((at) => `li_${at}`),
        fc.nat({ max: 3 }),
      ),
    ),
    halted: fc.subarray(['li_0', 'li_3', 'li_5']),
    stopped: fc.subarray(['li_1', 'li_4']),
    creatives: fc.subarray(['crv_1']),
    knowsCredit: fc.boolean(),
    urgencies: fc.option(
      fc.dictionary(fc.nat({ max: 39 }).map(String), fc.constantFrom<UrgencyLevel>(1, 2, 3), { minKeys: 1 }),
    ),
  })
  .map(({ remaining, shares, servings, halted, stopped, creatives, knowsCredit, urgencies }) => (index) => {
    const numberOf = (ordinal: number) => index.lines[ordinal]!.lineItemId.slice('li_'.length);
    const credit = createBits(index.lines.length);
    const urgency = createUrgency(index.lines.length);
    index.lines.forEach((_, ordinal) => {
      if (remaining?.[numberOf(ordinal)] !== 0) addBit(credit, ordinal);
      setUrgency(urgency, ordinal, urgencies?.[numberOf(ordinal)] ?? 0);
    });
    return {
      remaining: remaining ? (ordinal) => remaining[numberOf(ordinal)] ?? Infinity : undefined,
      ...(knowsCredit && { credit }),
      ...(urgencies && { urgency }),
      share: (ordinal) => {
        const [served, opportunities] = shares[numberOf(ordinal)] ?? [0, 0];
        return { served, opportunities: Math.max(served, opportunities) };
      },
      frequencyRecord: servings ? (key) => servings[key] ?? 0 : undefined,
      suspended: suspendLines(index, {
        halts: { ...noSuspensions.halts, line_item_ids: halted },
        not_active: { ...noSuspensions.not_active, line_item_ids: stopped, creative_ids: creatives },
      }).lines,
    };
  });
