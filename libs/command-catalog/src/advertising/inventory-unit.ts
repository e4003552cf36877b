import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { cause, languageTag, reference, shortText, stateReason, taxonomyIds, unitPrice } from '../fields.ts';
import { adPosition } from './placement.ts';

const kind = z.enum(['network', 'show', 'episode_set']);

/** The source of the inventory: none for a network, a podcast for a show, some of its episodes for an episode set. */
const sourceRef = z.strictObject({
  podcast_id: reference('pod').optional(),
  episode_ids: z.array(reference('ep')).min(1).max(1000).optional(),
});

const settings = {
  name: shortText,
  parent_id: reference('inv').optional(),
  source_ref: sourceRef,
  content_categories: taxonomyIds,
  language: languageTag.optional(),
  explicit: z.boolean().optional(),
  /** The break plan of this inventory when no published plan names the unit. */
  default_break_plan: reference('brk').optional(),
  /** Least price of a thousand for non-guaranteed line items. */
  min_cpm: unitPrice.optional(),
  /** The same of single positions, in place of `min_cpm`. */
  min_cpm_by_position: z
    .array(z.strictObject({ position: adPosition, min_cpm: unitPrice }))
    .min(1)
    .max(adPosition.options.length)
    .refine((list) => new Set(list.map((one) => one.position)).size === list.length, {
      message: 'Name each position once.',
    })
    .optional(),
};

/** Inventory units: advertising space as it is sold: the whole network, a podcast, or some of its episodes. */
export const inventoryUnits = defineResource({
  type: 'inventory_units',
  noun: 'inventory_unit',
  prefix: 'inv',
  attributes: z.strictObject({ kind, ...settings, state_reason: stateReason }),
  states: ['draft', 'active', 'paused', 'archived'],
  terminalStates: ['archived'],
  links: {
    parent: { attribute: 'parent_id', type: 'inventory_units' },
    default_break_plan: { attribute: 'default_break_plan', type: 'break_plans' },
  },
  uniqueAttributes: [],
});

const roles = ['publisher', 'admin'] as const;

export const inventoryUnitCommands = {
  'inventory_unit.create': defineCommand({
    type: 'inventory_unit.create',
    subject: 'inventory_units',
    to: 'draft',
    changes: z.strictObject({
      kind,
      ...settings,
      content_categories: taxonomyIds.default([]),
    }),
    roles,
    event: 'inventory_unit.created',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found'],
    summary: 'Creates an inventory unit over the whole workspace, a podcast, or some of its episodes.',
  }),
  'inventory_unit.revise': defineCommand({
    type: 'inventory_unit.revise',
    subject: 'inventory_units',
    from: ['draft', 'active'],
    changes: z.strictObject(settings).partial(),
    roles,
    versionGuard: 'required',
    event: 'inventory_unit.revised',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found'],
    summary: 'Changes an inventory unit; the change takes effect with the next serving plan.',
  }),
  'inventory_unit.activate': defineCommand({
    type: 'inventory_unit.activate',
    subject: 'inventory_units',
    from: ['draft', 'paused'],
    to: 'active',
    changes: z.strictObject({}),
    roles,
    versionGuard: 'required',
    event: 'inventory_unit.activated',
    summary: 'Opens an inventory unit for sale.',
  }),
  'inventory_unit.pause': defineCommand({
    type: 'inventory_unit.pause',
    subject: 'inventory_units',
    from: ['active'],
    to: 'paused',
    changes: z.strictObject({ cause }),
    roles,
    versionGuard: 'required',
    event: 'inventory_unit.paused',
    summary: 'Closes an inventory unit temporarily; from the next serving plan on, no ads are served there.',
  }),
  'inventory_unit.archive': defineCommand({
    type: 'inventory_unit.archive',
    subject: 'inventory_units',
    from: ['draft', 'active', 'paused'],
    to: 'archived',
    changes: z.strictObject({}),
    roles,
    versionGuard: 'required',
    event: 'inventory_unit.archived',
    summary: 'Ends an inventory unit; line items that target only this unit are no longer served.',
  }),
} as const;
