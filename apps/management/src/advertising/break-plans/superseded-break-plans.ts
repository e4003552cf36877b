import { createSupersession } from '../../background/supersession.ts';

/**
 * Published break plans that a later plan replaces: it is in effect and covers everything that they cover. A plan for the whole workspace
 * replaces only another such plan; plans of single units stay in effect beside it.
 */
export const supersededBreakPlans = createSupersession({
  noun: 'break_plan',
  effectiveFrom: 'effective_at',
  replaces: `(instant_of(older.attributes ->> 'effective_at'), older.id) < (instant_of(newer.attributes ->> 'effective_at'), newer.id)
    and newer.attributes -> 'inventory_unit_ids' @> (older.attributes -> 'inventory_unit_ids')
    and (newer.attributes -> 'inventory_unit_ids' = '[]') = (older.attributes -> 'inventory_unit_ids' = '[]')`,
});
