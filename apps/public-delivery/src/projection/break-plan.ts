import { z } from 'zod';

const milliseconds = z.int().min(0);

/** The position of a break: at a marker of the episode, at a time, or again and again. */
const anchor = z.discriminatedUnion('kind', [
  /** The marker of this key, else every marker of the break's position. */
  z.object({ kind: z.literal('marker'), key: z.string().optional() }),
  z.object({ kind: z.literal('time'), position_ms: milliseconds }),
  z.object({
    kind: z.literal('rule'),
    first_ms: milliseconds,
    every_ms: milliseconds.min(1),
    count_max: z.int().min(1),
  }),
]);

const plannedBreak = z.object({
  key: z.string().min(1),
  position: z.enum(['pre', 'mid', 'post']),
  anchor,
  max_slots: z.int().min(1),
  max_duration_ms: milliseconds.min(1),
  slot_rules: z
    .array(
      z.object({
        slot: z.int().min(0),
        max_duration_ms: milliseconds.optional(),
        line_item_types: z.array(z.string()).optional(),
        productions: z.array(z.string()).optional(),
      }),
    )
    .default([]),
});

/** The attributes of a break plan that delivery reads: where plays may have ads, and how many. Times are content time. */
export const breakPlanSchema = z.object({
  /** Empty for the whole workspace. */
  inventory_unit_ids: z.array(z.string()).default([]),
  breaks: z.array(plannedBreak),
  ad_load_limit_ms: milliseconds.optional(),
  min_gap_ms: milliseconds.default(0),
  effective_at: z.string().optional(),
});

/** The attributes of an inventory unit that delivery reads. */
export const inventoryUnitSchema = z.object({
  kind: z.enum(['network', 'show', 'episode_set']),
  parent_id: z.string().optional(),
  source_ref: z.object({ podcast_id: z.string().optional(), episode_ids: z.array(z.string()).default([]) }),
  default_break_plan: z.string().optional(),
});

/** The surface of plays of files, as halts and decisions name it. */
export const surface = 'progressive';

/** The scope of a halt. */
export const haltScopeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('workspace') }),
  z.object({ kind: z.literal('show'), podcast_id: z.string() }),
  z.object({ kind: z.literal('line_item'), line_item_id: z.string() }),
  z.object({ kind: z.literal('creative'), creative_id: z.string() }),
  z.object({ kind: z.literal('surface'), surface: z.string() }),
]);

export type BreakPlan = z.infer<typeof breakPlanSchema>;
export type BreakPosition = BreakPlan['breaks'][number]['position'];
export type SlotRule = BreakPlan['breaks'][number]['slot_rules'][number];
export type HaltScope = z.infer<typeof haltScopeSchema>;
