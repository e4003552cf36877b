import { creates, on, type Examples } from './_example.ts';
import { service } from './_values.ts';

const cause = 'Sold elsewhere.';

/** Valid requests for the commands of inventory, break plans and halts. */
export const inventoryExamples = {
  'inventory_unit.create': async (w) =>
    creates(
      'inventory_units',
      {
        kind: 'show',
        name: 'Harbour Light',
        source_ref: { podcast_id: (await w.podcast()).id },
        parent_id: (await w.network()).id,
        min_cpm: { amount_micros: '12000000', currency: 'EUR' },
      },
      w.actor,
    ),
  'inventory_unit.revise': async (w) => on(await w.activeUnit(), { language: 'en', explicit: false }, w.actor),
  'inventory_unit.activate': async (w) => on(await w.show(), {}, w.actor),
  'inventory_unit.pause': async (w) => on(await w.activeUnit(), { cause }, w.actor),
  'inventory_unit.archive': async (w) => on(await w.activeUnit(), {}, w.actor),
  'break_plan.create': async (w) =>
    creates(
      'break_plans',
      {
        name: 'Every ten minutes',
        inventory_unit_ids: [(await w.show()).id],
        breaks: [
          {
            key: 'mid',
            position: 'mid',
            anchor: { kind: 'rule', first_ms: 600_000, every_ms: 600_000, count_max: 3 },
            max_slots: 2,
            max_duration_ms: 60_000,
            slot_rules: [{ slot: 0, productions: ['host_read'] }],
          },
        ],
        ad_load_limit_ms: 240_000,
      },
      w.actor,
    ),
  'break_plan.publish': async (w) => on(await w.breakPlan(), { effective_at: new Date().toISOString() }, w.actor),
  'break_plan.retire': async (w) => on(await w.publishedBreakPlan(), { replacement_id: 'none' }, w.actor),
  'break_plan.supersede': async (w) => on(await w.publishedBreakPlan(), {}, service('management')),
  'serving.halt': async (w) =>
    creates('serving_halts', { scope: { kind: 'show', podcast_id: (await w.podcast()).id }, cause }, w.actor),
  'serving.release': async (w) => on(await w.halt(), { cause: 'It was the right one.' }, w.actor),
} satisfies Examples;
