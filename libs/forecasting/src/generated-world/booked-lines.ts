import { anyTargeting, defaultSeparation, type PlanLineItem, type ServingPlanDocument } from '@longwave/events';
import { createDraws, type Draws } from './draws.ts';
import { categories, type WorldPodcast } from './podcasts.ts';
import { streamFormat, type World } from './world.ts';

const include = (values: readonly string[]) => ({ include: [...values], exclude: [] });

/** A line item of one ad of 30 seconds that may serve everywhere, but for what is given. */
export function bookedLine(given: Partial<PlanLineItem> & Pick<PlanLineItem, 'line_item_id' | 'window'>): PlanLineItem {
  const id = given.line_item_id;
  return {
    ...{ campaign_id: `cmp_${id}`, advertiser_id: `adv_${id}`, type: 'guaranteed', priority: 5, weight: 1 },
    ...{ goal: { unit: 'unlimited' }, break_positions: ['pre', 'mid', 'post'], billable: true, cpm_micros: 10_000_000 },
    ...{ targeting: anyTargeting, frequency_caps: [], separation_groups: [], ad_product_categories: [] },
    creative_rotation: 'weighted',
    creatives: [
      {
        ...{ creative_id: `crv_${id}`, weight: 1, sequence_no: 1, window: null, place: 'any', production: 'produced' },
        click_url: null,
        media: [
          {
            ...{ stream_format: streamFormat, loudness_lufs: -16, segment_digest: 'ab'.repeat(32) },
            ...{ size_bytes: 480_000, duration_ms: 30_000 },
          },
        ],
      },
    ],
    ...given,
  };
}

/** Targetings as sellers book them: some podcasts, a category, a country, a language, a device, or two of them. */
export function targetingOf(
  podcasts: readonly WorldPodcast[],
  { pick, often, below }: Draws,
): PlanLineItem['targeting'] {
  const kind = below(6);
  const some = podcasts.filter(() => often(0.35)).map(({ podcastId }) => podcastId);
  return {
    ...anyTargeting,
    ...(kind === 0 && { podcasts: include(some.length > 0 ? some : [podcasts[0]!.podcastId]) }),
    ...(kind === 1 && { content_categories: include([pick(categories), pick(categories)]) }),
    ...(kind === 2 && { countries: include([pick(['DE', 'US', 'GB', 'FR'])]) }),
    ...(kind === 3 && { languages: include([pick(['de', 'en'])]) }),
    ...(kind === 4 && { devices: include([pick(['mobile', 'desktop'])]), countries: include(['DE', 'US']) }),
  };
}

/**
 * A plan of guaranteed line items of three priorities, a quarter of them in pre-rolls only, with two sponsorships and two that compete by
 * price. The goals of the guaranteed ones together are a share of all slots.
 */
export function bookedPlan(
  { podcasts }: Pick<World, 'podcasts'>,
  options: {
    readonly seed: number;
    readonly guaranteed: number;
    readonly window: PlanLineItem['window'];
    readonly slots: number;
    readonly bookedShare: number;
    /** Whether a third of the line items has a cap of two a day. */
    readonly capped?: boolean;
  },
): ServingPlanDocument {
  const draws = createDraws(options.seed);
  const { window } = options;
  const sizes = Array.from({ length: options.guaranteed }, () => 0.3 + draws.unit());
  const sum = sizes.reduce((total, one) => total + one, 0);
  const zone = { velocity: 1, finish_early_pct: 0, counting_basis: 'reserved', time_zone: 'UTC' } as const;
  const guaranteed = sizes.map((size, at) =>
    bookedLine({
      ...{ line_item_id: `li_${String(at).padStart(5, '0')}`, window, priority: 3 + (at % 3) },
      targeting: targetingOf(podcasts, draws),
      ...(at % 4 === 0 && { break_positions: ['pre'] }),
      ...(options.capped &&
        at % 3 === 0 && { frequency_caps: [{ max: 2, per: 'listener_bucket', window_seconds: 86_400 }] }),
      goal: {
        unit: 'impressions',
        quantity: Math.max(1, Math.round((options.slots * options.bookedShare * size) / sum)),
      },
      pacing: { mode: 'even', ...zone },
    }),
  );
  const sponsors = [0, 1].map((at) =>
    bookedLine({
      ...{ line_item_id: `sp_${at}`, window, type: 'sponsorship', goal: { unit: 'share_pct', quantity: 15 } },
      targeting: targetingOf(podcasts, draws),
    }),
  );
  const bulk = [0, 1].map((at) =>
    bookedLine({ line_item_id: `ng_${at}`, window, type: 'non_guaranteed', cpm_micros: (2 + at) * 1_000_000 }),
  );
  return {
    ...{ format: 2, workspace_id: 'ws_1', effective_from: window.start, inputs: [], floors: [] },
    separation: defaultSeparation,
    line_items: [...guaranteed, ...sponsors, ...bulk],
  };
}
