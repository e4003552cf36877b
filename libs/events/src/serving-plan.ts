import { z } from 'zod';

/** One prepared stream of a creative. */
const planMedia = z.strictObject({
  stream_format: z.string(),
  segment_digest: z.string(),
  size_bytes: z.int().min(1),
  duration_ms: z.int().min(1),
});

/** One line item as the decision sees it; windows are half-open. */
const planLineItem = z.strictObject({
  line_item_id: z.string(),
  campaign_id: z.string(),
  advertiser_id: z.string(),
  type: z.enum(['exclusive', 'sponsorship', 'guaranteed', 'non_guaranteed', 'house']),
  priority: z.int().min(1).max(10),
  window: z.strictObject({ start: z.string(), end: z.string() }),
  goal: z.strictObject({ unit: z.enum(['impressions', 'unlimited']), quantity: z.int().min(1).optional() }),
  break_positions: z.array(z.enum(['pre', 'mid', 'post'])),
  targeting: z.strictObject({
    podcasts: z.array(z.string()),
    episodes: z.array(z.string()),
    countries: z.array(z.string()),
  }),
  creatives: z.array(z.strictObject({ creative_id: z.string(), weight: z.int().min(1), media: z.array(planMedia) })),
});

/**
 * A compiled serving plan: everything a decision reads, and nothing else (no rates, budgets or names).
 * Stored under `plans/{sha256 of its JCS form}.json`; `serving_plan.published` carries the pointer.
 */
export const servingPlanSchema = z.strictObject({
  format: z.literal(1),
  workspace_id: z.string(),
  effective_from: z.string(),
  inputs: z.array(z.strictObject({ type: z.string(), id: z.string(), version: z.int() })),
  line_items: z.array(planLineItem),
});

export type ServingPlanDocument = z.infer<typeof servingPlanSchema>;
export type PlanLineItem = z.infer<typeof planLineItem>;
