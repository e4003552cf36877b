import { createSupersession } from '../../background/supersession.ts';

/**
 * Published serving plans that a later published plan in effect replaces. Decisions use the last published of the plans in effect.
 */
export const supersededServingPlans = createSupersession({
  noun: 'serving_plan',
  effectiveFrom: 'effective_from',
  replaces: '(older.updated_at, older.id) < (newer.updated_at, newer.id)',
});
