import {
  addBit,
  createBits,
  createUrgency,
  hasBit,
  setUrgency,
  type DecisionContext,
  type DecisionInputs,
  type PlanIndex,
} from '@longwave/ad-decision';
import { anyTargeting, defaultSeparation, type PlanLineItem, type ServingPlanDocument } from '@longwave/events';

/** Numbers that look random and are the same in every run (mulberry32). */
function createDraws(seed: number) {
  let state = seed;
  const unit = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(unit() * count);
  const pick = <T>(values: readonly T[]) => values[below(values.length)]!;
  const some = (name: string, of: number, max: number) => [
    ...new Set(Array.from({ length: 1 + below(max) }, () => `${name}${below(of)}`)),
  ];
  return { unit, below, pick, some, often: (share: number) => unit() < share };
}

const mp3 = 'mp3/128000/48000/2';
const nowMs = Date.UTC(2026, 5, 1, 12);
const dayMs = 86_400_000;
/** Out of 2,000 line items. */
const mix = { guaranteed: 1200, house: 380, non_guaranteed: 359, sponsorship: 60, exclusive: 1 } as const;
const types = (Object.keys(mix) as (keyof typeof mix)[]).flatMap((type) => Array<typeof type>(mix[type]).fill(type));
const zones = ['Europe/Berlin', 'America/New_York', 'America/Los_Angeles', 'Asia/Tokyo'];

type Draws = ReturnType<typeof createDraws>;

function targetingOf({ often, some, pick }: Draws): PlanLineItem['targeting'] {
  const include = (share: number, name: string, of: number, max: number) => ({
    include: often(share) ? some(name, of, max) : [],
    exclude: often(share / 6) ? some(name, of, 2) : [],
  });
  const firstHour = 24 * 3;
  return {
    ...anyTargeting,
    podcasts: include(0.5, 'pod_', 500, 30),
    episodes: include(0.03, 'ep_', 20_000, 5),
    countries: include(0.7, 'C', 60, 4),
    regions: include(0.15, 'R', 400, 8),
    languages: include(0.4, 'L', 12, 2),
    devices: include(0.15, 'D', 6, 2),
    apps: include(0.1, 'A', 80, 4),
    content_categories: include(0.3, 'K', 40, 5),
    explicit: often(0.2) ? 'none' : 'any',
    episode_age_hours: often(0.2) ? { max: pick([24, 72, 168, 720]) } : {},
    dayparts: often(0.1)
      ? { time_zone: pick(zones), hours: Array.from({ length: 96 }, (_, at) => (firstHour + at) % 168) }
      : null,
  };
}

function lineItemOf(at: number, draws: Draws): PlanLineItem {
  const { often, below, pick, some } = draws;
  const type = pick(types);
  const start = nowMs - below(60) * dayMs;
  return {
    line_item_id: `li_${String(at).padStart(6, '0')}`,
    campaign_id: `cmp_${below(20_000)}`,
    advertiser_id: `adv_${below(3_000)}`,
    type,
    priority: 1 + below(10),
    weight: 1 + below(5),
    window: { start: new Date(start).toISOString(), end: new Date(start + (10 + below(90)) * dayMs).toISOString() },
    goal:
      type === 'sponsorship'
        ? { unit: 'share_pct', quantity: 10 + below(80) }
        : type === 'guaranteed'
          ? { unit: 'impressions', quantity: 100_000 }
          : { unit: 'unlimited' },
    billable: type !== 'house',
    cpm_micros: (5 + below(40)) * 500_000,
    break_positions: pick([['pre'], ['mid'], ['pre', 'mid'], ['pre', 'mid', 'post']]),
    targeting: targetingOf(draws),
    frequency_caps: often(0.4) ? [{ max: 1 + below(5), per: 'listener_bucket', window_seconds: 86_400 }] : [],
    separation_groups: often(0.3) ? some('group_', 50, 2) : [],
    ad_product_categories: some('category_', 40, 2),
    creative_rotation: 'weighted',
    creatives: Array.from({ length: 1 + below(3) }, (_, creative) => ({
      creative_id: `crv_${at}_${creative}`,
      weight: 1 + below(3),
      sequence_no: creative + 1,
      window: null,
      place: 'any' as const,
      production: 'produced' as const,
      click_url: null,
      media: [-14, -16, -19].map((loudness_lufs) => ({
        stream_format: mp3,
        loudness_lufs,
        segment_digest: 'ab'.repeat(32),
        size_bytes: 480_000,
        duration_ms: pick([15_000, 20_000, 30_000, 60_000]),
      })),
    })),
  };
}

/** A plan of so many line items as a busy network has them: most guaranteed, most with a country, half with podcasts. */
export function mixedPlan(lineItems: number): ServingPlanDocument {
  const draws = createDraws(lineItems);
  return {
    format: 2,
    workspace_id: 'ws_bench',
    effective_from: '2026-01-01T00:00:00Z',
    inputs: [],
    separation: defaultSeparation,
    floors: [{ podcast_id: null, min_cpm_micros: 6_000_000 }],
    line_items: Array.from({ length: lineItems }, (_, at) => lineItemOf(at, draws)),
  };
}

/** The same plan with a goal for `goals` of its guaranteed line items, and for no other. */
export function planWithGoals(lineItems: number, goals: number): ServingPlanDocument {
  const plan = mixedPlan(lineItems);
  const guaranteed = plan.line_items.filter(({ type }) => type === 'guaranteed');
  const kept = new Set(guaranteed.filter((_, at) => (at * goals) % guaranteed.length < goals));
  return {
    ...plan,
    line_items: plan.line_items.map((line) =>
      line.type !== 'guaranteed' || kept.has(line) ? line : { ...line, goal: { unit: 'unlimited' as const } },
    ),
  };
}

/** Plays of one break of two slots each, a tenth of a second apart. */
export function mixedPlays(count: number, seed: number): DecisionContext[] {
  const { below, some, often } = createDraws(seed);
  return Array.from({ length: count }, (_, at) => ({
    decisionId: `dec_${seed}_${at}`,
    podcastId: `pod_${below(500)}`,
    episodeId: `ep_${below(20_000)}`,
    country: `C${below(60)}`,
    region: `R${below(400)}`,
    surface: 'progressive',
    device: `D${below(6)}`,
    operatingSystem: `O${below(6)}`,
    app: `A${below(80)}`,
    language: `L${below(12)}`,
    explicit: often(0.2),
    contentCategories: some('K', 40, 2),
    publishedAtMs: nowMs - below(60) * dayMs,
    loudnessLufs: -16,
    adLoadLimitMs: undefined,
    streamFormat: mp3,
    atMs: nowMs + at * 100,
    breaks: [
      {
        key: 'b',
        position: often(0.4) ? ('pre' as const) : ('mid' as const),
        maxSlots: 2,
        maxDurationMs: 90_000,
        positionMs: 0,
        slotRules: [],
      },
    ],
  }));
}

/** A tenth of the goals is reached, listeners heard a fifth of the line items lately, and sponsorships are near their shares. */
export const mixedInputs: DecisionInputs = {
  remaining: (ordinal) => (ordinal % 10 === 0 ? 0 : Infinity),
  share: (ordinal) => ({ served: (ordinal * 7919) % 60, opportunities: 100 }),
  frequencyRecord: (capKey) => (capKey.endsWith('3') || capKey.endsWith('7') ? 4 : 0),
};

/** Inputs of a node at one instant: a twentieth of the goals has credit, a fifth is behind its plan. */
export function pacedInputs({ lines }: PlanIndex): DecisionInputs {
  const credit = createBits(lines.length);
  const urgency = createUrgency(lines.length);
  lines.forEach(({ goalQuantity }, ordinal) => {
    if (goalQuantity === undefined) return;
    const draw = (ordinal * 7919) % 1_000;
    if (draw % 20 === 0) addBit(credit, ordinal);
    setUrgency(urgency, ordinal, draw < 50 ? 3 : draw < 100 ? 2 : draw < 200 ? 1 : 0);
  });
  return { ...mixedInputs, remaining: (ordinal) => (hasBit(credit, ordinal) ? 3 : 0), credit, urgency };
}
