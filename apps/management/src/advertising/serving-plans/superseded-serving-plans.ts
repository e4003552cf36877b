import { createSupersession } from '../../background/supersession.ts';

/** SQL: the place of a published plan in the order of publication; a renewal has that of the plan whose content it has. */
const placeOf = (plan: 'older' | 'newer') =>
  `(coalesce(instant_of(${plan}.attributes ->> 'published_at'), ${plan}.updated_at), ${plan}.updated_at, ${plan}.id)`;

/**
 * Published serving plans that a later published plan in effect replaces. Decisions use the last published of the plans in effect.
 */
export const supersededServingPlans = createSupersession({
  noun: 'serving_plan',
  effectiveFrom: 'effective_from',
  replaces: `${placeOf('older')} < ${placeOf('newer')}`,
});
