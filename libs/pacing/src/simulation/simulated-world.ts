import { buildIndex, type DecisionContext, type PlanIndex } from '@longwave/ad-decision';
import { anyTargeting, defaultSeparation, type PlanLineItem, type ServingPlanDocument } from '@longwave/events';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
export const startMs = Date.UTC(2026, 2, 2);

export interface WorldOptions {
  readonly seed: number;
  readonly days: number;
  readonly playsPerDay: number;
  /** Share of the plays that come in the hours after a release. */
  readonly spikes: number;
  /** Standard deviation of the logarithm of an episode's level, which the plan does not know. */
  readonly noise: number;
  /** Goals together that are wanted, of all slots. */
  readonly booked: number;
  /** Sells what is wanted; absent: all of it is sold. */
  readonly sell?: Sell;
}

/** What buyers want, and what is known when they ask: nothing of what the plays really are. */
export interface Market {
  /** Everything that is sold already, and the line items with a goal as they are wanted. */
  readonly plan: ServingPlanDocument;
  readonly wanted: readonly string[];
  /** Expected plays by podcast and hour of the window. */
  readonly expected: readonly (readonly number[])[];
  readonly window: { readonly fromMs: number; readonly toMs: number };
  readonly playOf: (podcast: number, atMs: number) => Omit<DecisionContext, 'decisionId'>;
}

/** Answers the quantity that is sold of each line item with a goal; one that is not named is not sold. */
export type Sell = (market: Market) => ReadonlyMap<string, number>;

/** Numbers that look random and are the same in every run (mulberry32). */
export function createDraws(seed: number) {
  let state = seed;
  const unit = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  /** A number of a normal distribution (Box and Muller). */
  const normal = () => Math.sqrt(-2 * Math.log(1 - unit())) * Math.cos(2 * Math.PI * unit());
  return { unit, normal, below: (count: number) => Math.floor(unit() * count) };
}

export type Draws = ReturnType<typeof createDraws>;

interface GuaranteedLine {
  readonly sold: PlanLineItem;
  /** Whether it is paid from the campaign's budget. */
  readonly isBudgeted: boolean;
  /** Expected opportunities by the hour, as the plan has them. */
  readonly plan: readonly number[];
}

export interface World {
  readonly index: PlanIndex;
  readonly guaranteed: readonly GuaranteedLine[];
  /** Goals together that were sold, of all slots. */
  readonly booked: number;
  /** Real plays by podcast and hour. */
  readonly plays: readonly (readonly number[])[];
  readonly endMs: number;
}

const podcastCount = 12;
const dayShape = [2, 1, 1, 1, 2, 4, 7, 9, 8, 6, 5, 5, 5, 5, 5, 6, 7, 8, 7, 6, 5, 4, 3, 2];
const priorities = [1, 4, 8];

/** Expected and real plays of a podcast by the hour: a tail all day long, and a spike after each release. */
function trafficOf({ days, spikes, noise }: WorldOptions, { below, normal }: Draws) {
  const shape = Array.from({ length: days * 24 }, (_, hour) => dayShape[hour % 24]!);
  const tail = shape.reduce((sum, each) => sum + each, 0);
  const releases = Array.from({ length: Math.max(1, Math.round(days / 2)) }, (_, at) => at * 48 + 5 + below(14));
  const spike = (level: (release: number) => number) => {
    const hours = shape.map(() => 0);
    releases.forEach((release, at) => {
      for (let hour = release; hour < hours.length; hour++)
        hours[hour]! += level(at) * Math.exp(-(hour - release) / 10) * (0.3 + shape[hour]! / 8);
    });
    return hours;
  };
  const levels = releases.map(() => Math.exp(noise * normal() - noise ** 2 / 2));
  const known = spike(() => 1);
  const inSpikes = known.reduce((sum, each) => sum + each, 0);
  const mixed = (hours: readonly number[]) =>
    shape.map((each, hour) => ((1 - spikes) * each) / tail + (spikes * hours[hour]!) / inSpikes);
  return { expected: mixed(known), real: mixed(spike((at) => levels[at]!)) };
}

function lineItem(id: string, given: Partial<PlanLineItem>): PlanLineItem {
  return {
    ...{
      line_item_id: id,
      campaign_id: `cmp_${id}`,
      advertiser_id: `adv_${id}`,
      type: 'guaranteed',
      priority: 5,
      weight: 1,
    },
    window: { start: new Date(startMs).toISOString(), end: '2100-01-01T00:00:00Z' },
    goal: { unit: 'unlimited' },
    ...{ billable: true, cpm_micros: 10_000_000, break_positions: ['pre', 'mid'], targeting: anyTargeting },
    ...{ frequency_caps: [], separation_groups: [], ad_product_categories: [], creative_rotation: 'weighted' },
    creatives: [
      {
        ...{ creative_id: `crv_${id}`, weight: 1, sequence_no: 1, window: null, place: 'any', production: 'produced' },
        click_url: null,
        media: [
          {
            ...{ stream_format: 'mp3', loudness_lufs: -16, segment_digest: 'ab'.repeat(32) },
            ...{ size_bytes: 1, duration_ms: 20_000 },
          },
        ],
      },
    ],
    ...given,
  };
}

const podcastOf = (podcast: number) => `pod_${podcast}`;

/** What is asked about a play: a pre-roll and a mid-roll. */
export function playOf(podcast: number, atMs: number): Omit<DecisionContext, 'decisionId'> {
  return {
    ...{
      podcastId: podcastOf(podcast),
      episodeId: 'ep',
      country: 'DE',
      region: '',
      surface: 'progressive',
      device: '',
    },
    ...{ operatingSystem: '', app: '', language: '', explicit: false, contentCategories: [], publishedAtMs: startMs },
    ...{ loudnessLufs: -16, adLoadLimitMs: undefined, streamFormat: 'mp3', atMs },
    breaks: (['pre', 'mid'] as const).map((position, at) => ({
      ...{ key: position, position, maxSlots: 1, maxDurationMs: 60_000, positionMs: at * 600_000, slotRules: [] },
    })),
  };
}

/** How a goal is to be met: some line items count in `reserved`, some have a most of a day, which was wanted with the goal. */
function pacingOf(at: number, wanted: number, days: number): NonNullable<PlanLineItem['pacing']> {
  return {
    ...{ mode: 'even', velocity: 1.2, finish_early_pct: 0, time_zone: 'UTC' },
    counting_basis: at % 5 === 1 ? 'reserved' : 'ad_delivered',
    // Less than it takes to meet all that is wanted, as not every ad is heard: most days reach it.
    ...(at % 4 === 3 && { daily_max: Math.ceil((1.1 * wanted) / days) }),
  };
}

/**
 * A world of 12 podcasts and 20 line items: 16 guaranteed of three priorities, a quarter of them pre-roll only and half of them on some
 * podcasts only, 2 sponsorships of 7 per cent, 2 bulk. With goals of 45 per cent of all slots and four of five ads heard, two thirds are sold.
 */
export function createWorld(options: WorldOptions): World {
  const draws = createDraws(options.seed);
  const sizes = Array.from({ length: podcastCount }, (_, at) => 1 / (at + 2));
  const allSizes = sizes.reduce((sum, size) => sum + size, 0);
  const traffic = sizes.map((size) => {
    const { expected, real } = trafficOf(options, draws);
    const plays = (options.playsPerDay * options.days * size) / allSizes;
    return { expected: expected.map((share) => share * plays), real: real.map((share) => share * plays) };
  });
  const slots = options.playsPerDay * options.days * 2;
  const specs = Array.from({ length: 16 }, (_, at) => {
    const isPreroll = at % 4 === 0;
    const on = at % 2 === 0 ? [] : sizes.flatMap((_size, podcast) => ((podcast + at) % 3 === 0 ? [] : [podcast]));
    const plan = traffic[0]!.expected.map((_, hour) =>
      traffic.reduce((sum, { expected }, podcast) => {
        const fits = on.length === 0 || on.includes(podcast);
        return sum + (fits ? expected[hour]! * (isPreroll ? 1 : 2) : 0);
      }, 0),
    );
    return { at, isPreroll, on, plan, weight: 0.5 + draws.unit() };
  });
  const weights = specs.reduce((sum, { weight }) => sum + weight, 0);
  const endMs = startMs + options.days * dayMs;
  const window = { start: new Date(startMs).toISOString(), end: new Date(endMs).toISOString() };
  const wantedOf = ({ weight }: (typeof specs)[number]) => Math.round((options.booked * slots * weight) / weights);
  const guaranteedLine = (spec: (typeof specs)[number], goal: number) => {
    const { at, isPreroll, on } = spec;
    return lineItem(`li_${at}`, {
      ...{ window, priority: priorities[at % 3]!, goal: { unit: 'impressions', quantity: goal } },
      break_positions: isPreroll ? ['pre'] : ['pre', 'mid'],
      targeting: { ...anyTargeting, podcasts: { include: on.map(podcastOf), exclude: [] } },
      pacing: pacingOf(at, wantedOf(spec), options.days),
    });
  };
  const others = [
    ...[0, 1].map((at) => lineItem(`sponsor_${at}`, { type: 'sponsorship', goal: { unit: 'share_pct', quantity: 7 } })),
    ...[0, 1].map((at) => lineItem(`bulk_${at}`, { type: 'non_guaranteed', cpm_micros: 1_000_000 + at })),
  ];
  const planOf = (lineItems: readonly PlanLineItem[]): ServingPlanDocument => ({
    ...{ format: 2, workspace_id: 'ws', effective_from: window.start, inputs: [], floors: [] },
    ...{ separation: defaultSeparation, line_items: [...lineItems, ...others] },
  });
  const wanted = specs.map((spec) => guaranteedLine(spec, wantedOf(spec)));
  const sold = options.sell?.({
    ...{ plan: planOf(wanted), wanted: wanted.map((line) => line.line_item_id), playOf },
    ...{ expected: traffic.map(({ expected }) => expected), window: { fromMs: startMs, toMs: endMs } },
  });
  const goalOf = (spec: (typeof specs)[number]) => (sold ? (sold.get(`li_${spec.at}`) ?? 0) : wantedOf(spec));
  const guaranteed = specs
    .filter((spec) => goalOf(spec) > 0)
    .map((spec) => ({ sold: guaranteedLine(spec, goalOf(spec)), isBudgeted: spec.at >= 14, plan: spec.plan }));
  return {
    index: buildIndex(planOf(guaranteed.map((line) => line.sold))),
    ...{ guaranteed, plays: traffic.map(({ real }) => real), endMs },
    booked: guaranteed.reduce((sum, line) => sum + line.sold.goal.quantity!, 0) / slots,
  };
}
