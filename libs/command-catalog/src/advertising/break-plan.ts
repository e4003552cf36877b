import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { instant, reference, shortText } from '../fields.ts';

const breakKey = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'Write a key such as “mid-1”.');
const hourMs = 3_600_000;

/** Places of breaks: a marker of the episode, a time, or a repeated interval. */
const anchor = z.discriminatedUnion('kind', [
  /** The marker of this key, else every marker of the break's position. */
  z.strictObject({ kind: z.literal('marker'), key: breakKey.optional() }),
  z.strictObject({
    kind: z.literal('time'),
    position_ms: z
      .int()
      .min(0)
      .max(24 * hourMs),
  }),
  z.strictObject({
    kind: z.literal('rule'),
    first_ms: z
      .int()
      .min(0)
      .max(24 * hourMs),
    every_ms: z
      .int()
      .min(30_000)
      .max(24 * hourMs),
    count_max: z.int().min(1).max(100),
  }),
]);

/** The ads that one slot accepts; an absent list accepts all. Slots count from 0. */
const slotRule = z.strictObject({
  slot: z.int().min(0).max(7),
  max_duration_ms: z.int().min(1000).max(600_000).optional(),
  line_item_types: z
    .array(z.enum(['exclusive', 'sponsorship', 'guaranteed', 'non_guaranteed', 'house']))
    .min(1)
    .optional(),
  productions: z
    .array(z.enum(['host_read', 'producer_read', 'produced']))
    .min(1)
    .optional(),
});

const plannedBreak = z
  .strictObject({
    key: breakKey,
    position: z.enum(['pre', 'mid', 'post']),
    anchor,
    max_slots: z.int().min(1).max(8),
    max_duration_ms: z.int().min(1000).max(1_800_000),
    slot_rules: z.array(slotRule).max(8).default([]),
  })
  .refine(({ slot_rules: rules, max_slots: slots }) => rules.every(({ slot }) => slot < slots), {
    message: 'A rule names a slot that the break does not have.',
    path: ['slot_rules'],
  })
  .refine(({ slot_rules: rules }) => new Set(rules.map(({ slot }) => slot)).size === rules.length, {
    message: 'Two rules name the same slot.',
    path: ['slot_rules'],
  });

const breaks = z
  .array(plannedBreak)
  .min(1)
  .max(50)
  .refine((all) => new Set(all.map(({ key }) => key)).size === all.length, {
    message: 'Two breaks have the same key.',
  })
  .meta({
    examples: [
      [
        {
          ...{ key: 'pre', position: 'pre', anchor: { kind: 'time', position_ms: 0 } },
          ...{ max_slots: 2, max_duration_ms: 60_000 },
        },
        {
          ...{ key: 'mid', position: 'mid', anchor: { kind: 'marker' } },
          ...{ max_slots: 1, max_duration_ms: 30_000 },
        },
      ],
    ],
  });

const settings = {
  name: shortText,
  /** The units that it covers; an empty list means the whole workspace. */
  inventory_unit_ids: z.array(reference('inv')).max(1000),
  breaks,
  /** The longest advertising in one play. */
  ad_load_limit_ms: z.int().min(1000).optional(),
  /** The shortest content between two breaks. */
  min_gap_ms: z.int().min(0),
  /** The surfaces whose plays have these breaks. Only those that Public Delivery serves now can be published. */
  surfaces: z
    .array(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'Write a surface such as “progressive”.'))
    .min(1)
    .max(20),
};

/** Break plans: the places and the amount of advertising in episodes. */
export const breakPlans = defineResource({
  type: 'break_plans',
  noun: 'break_plan',
  prefix: 'brk',
  attributes: z.strictObject({
    ...settings,
    /** Absent: “progressive”, the only surface of earlier releases, which do not know the field. */
    surfaces: settings.surfaces.optional(),
    /** Time from which a published plan is in effect. */
    effective_at: instant.optional(),
    replacement_id: reference('brk').optional(),
  }),
  states: ['draft', 'published', 'superseded', 'retired'],
  terminalStates: ['superseded', 'retired'],
  links: { replacement: { attribute: 'replacement_id', type: 'break_plans' } },
  uniqueAttributes: [],
  sortKeys: { effective_at: { stable: false, at: ['effective_at'] } },
});

export const breakPlanCommands = {
  'break_plan.create': defineCommand({
    type: 'break_plan.create',
    subject: 'break_plans',
    to: 'draft',
    changes: z.strictObject({
      ...settings,
      inventory_unit_ids: settings.inventory_unit_ids.default([]),
      min_gap_ms: settings.min_gap_ms.default(0),
      /** Absent: “progressive”. */
      surfaces: settings.surfaces.optional(),
    }),
    roles: ['publisher', 'trafficker', 'admin'],
    event: 'break_plan.created',
    hasRule: true,
    problems: ['link_not_found'],
    summary: 'Creates a break plan for some inventory, or for the whole workspace.',
  }),
  'break_plan.publish': defineCommand({
    type: 'break_plan.publish',
    subject: 'break_plans',
    from: ['draft'],
    to: 'published',
    changes: z.strictObject({
      /** Absent: now. */
      effective_at: instant.optional(),
    }),
    roles: ['publisher', 'admin'],
    review: 'host',
    versionGuard: 'required',
    event: 'break_plan.published',
    hasRule: true,
    problems: ['link_not_found', 'capability_not_supported'],
    externalEffect: 'From its start time on, plays have the breaks of this plan.',
    summary: 'Publishes a break plan; when it takes effect, it replaces the plan that covered the same inventory.',
  }),
  'break_plan.retire': defineCommand({
    type: 'break_plan.retire',
    subject: 'break_plans',
    from: ['published'],
    to: 'retired',
    changes: z.strictObject({ replacement_id: z.union([reference('brk'), z.literal('none')]) }),
    roles: ['publisher', 'admin'],
    review: 'host',
    versionGuard: 'required',
    event: 'break_plan.retired',
    hasRule: true,
    problems: ['link_not_found', 'validation_failed'],
    externalEffect: 'Plays that begin from now on have the breaks of the replacement, or of another plan that applies.',
    summary: 'Takes a break plan out of use. `replacement_id` names a published plan in its place, or is `none`.',
  }),
  'break_plan.supersede': defineCommand({
    type: 'break_plan.supersede',
    subject: 'break_plans',
    from: ['published'],
    to: 'superseded',
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'break_plan.superseded',
    summary: 'Ends a plan whose inventory a newer plan covers.',
  }),
} as const;
