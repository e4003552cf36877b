import { createSupersession } from '../supersession.ts';

/**
 * Published serving plans that are no longer in force: one that was published after them is in effect. Decisions use the one that was
 * published last, of those in effect.
 */
export const supersededServingPlans = createSupersession({
  noun: 'serving_plan',
  effectiveFrom: 'effective_from',
  replaces: '(older.updated_at, older.id) < (newer.updated_at, newer.id)',
});
