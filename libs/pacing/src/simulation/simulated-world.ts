import { buildIndex, type PlanIndex } from '@longwave/ad-decision';
import { anyTargeting, defaultSeparation, type PlanLineItem } from '@longwave/events';

const hourMs = 3_600_000;
export const startMs = Date.UTC(2026, 2, 2);

export interface WorldOptions {
  readonly seed: number;
  readonly days: number;
  readonly playsPerDay: number;
  /** Share of the plays that come in the hours after a release. */
  readonly spikes: number;
  /** Standard deviation of the logarithm of an episode's level, which the plan does not know. */
  readonly noise: number;
  /** Goals together, of all slots. */
  readonly booked: number;
}

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

interface SimulatedLine {
  readonly lineItemId: string;
  readonly goal: number;
  /** Expected opportunities by the hour, as the plan has them. */
  readonly plan: readonly number[];
}

export interface World {
  readonly index: PlanIndex;
  readonly podcasts: readonly string[];
  readonly guaranteed: readonly SimulatedLine[];
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

/**
 * A world of 12 podcasts and 20 line items: 16 guaranteed of three priorities, a quarter of them pre-roll only and half of them on some
 * podcasts only, 2 sponsorships of 7 per cent, 2 bulk. With goals of 45 per cent of all slots and four of five ads heard, two thirds are sold.
 */
export function createWorld(options: WorldOptions): World {
  const draws = createDraws(options.seed);
  const podcasts = Array.from({ length: podcastCount }, (_, at) => `pod_${at}`);
  const sizes = podcasts.map((_, at) => 1 / (at + 2));
  const allSizes = sizes.reduce((sum, size) => sum + size, 0);
  const traffic = sizes.map((size) => {
    const { expected, real } = trafficOf(options, draws);
    const plays = (options.playsPerDay * options.days * size) / allSizes;
    return { expected: expected.map((share) => share * plays), real: real.map((share) => share * plays) };
  });
  const slots = options.playsPerDay * options.days * 2;
  const specs = Array.from({ length: 16 }, (_, at) => {
    const isPreroll = at % 4 === 0;
    const on = at % 2 === 0 ? [] : podcasts.filter((_, podcast) => (podcast + at) % 3 !== 0);
    const plan = traffic[0]!.expected.map((_, hour) =>
      traffic.reduce((sum, { expected }, podcast) => {
        const fits = on.length === 0 || on.includes(podcasts[podcast]!);
        return sum + (fits ? expected[hour]! * (isPreroll ? 1 : 2) : 0);
      }, 0),
    );
    return { at, isPreroll, on, plan, weight: 0.5 + draws.unit() };
  });
  const weights = specs.reduce((sum, { weight }) => sum + weight, 0);
  const guaranteed = specs.map(({ at, plan, weight }) => ({
    ...{ lineItemId: `li_${at}`, plan },
    goal: Math.round((options.booked * slots * weight) / weights),
  }));
  const lines = [
    ...specs.map(({ at, isPreroll, on }) =>
      lineItem(`li_${at}`, {
        priority: priorities[at % 3]!,
        goal: { unit: 'impressions', quantity: guaranteed[at]!.goal },
        break_positions: isPreroll ? ['pre'] : ['pre', 'mid'],
        targeting: { ...anyTargeting, podcasts: { include: on, exclude: [] } },
      }),
    ),
    ...[0, 1].map((at) => lineItem(`sponsor_${at}`, { type: 'sponsorship', goal: { unit: 'share_pct', quantity: 7 } })),
    ...[0, 1].map((at) => lineItem(`bulk_${at}`, { type: 'non_guaranteed', cpm_micros: 1_000_000 + at })),
  ];
  return {
    index: buildIndex({
      ...{ format: 2, workspace_id: 'ws', effective_from: new Date(startMs).toISOString(), inputs: [], floors: [] },
      ...{ separation: defaultSeparation, line_items: lines },
    }),
    ...{ podcasts, guaranteed, plays: traffic.map(({ real }) => real), endMs: startMs + options.days * 24 * hourMs },
  };
}
