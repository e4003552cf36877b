import type { PlanLineItem } from '@longwave/events';
import type { Campaign } from '../campaigns/campaign.ts';
import type { LineItem } from '../line-items/line-item.ts';

type PlanPacing = NonNullable<PlanLineItem['pacing']>;

/** Sums in plans are safe integers; nobody sells for nine thousand million. */
const planMicros = (micros: bigint) =>
  Number(micros < BigInt(Number.MAX_SAFE_INTEGER) ? micros : Number.MAX_SAFE_INTEGER);

const budgetLeft = ({ amount_micros: amount }: NonNullable<Campaign['budget']>, fixedMicros: bigint) =>
  planMicros(BigInt(amount) > fixedMicros ? BigInt(amount) - fixedMicros : 0n);

/** Price of a thousand units; undefined when the line item is not sold by units. */
function unitPriceOf({ model, price }: LineItem['rate']): number | undefined {
  if (!price || (model !== 'cpm' && model !== 'cpcv')) return undefined;
  return planMicros(BigInt(price.amount_micros) * (model === 'cpm' ? 1n : 1000n));
}

/**
 * What the pacer needs of a line item (docs/pacing.md). A budget in another currency than the line item's price bounds nothing.
 * @param timeZone the workspace's
 * @param fixedMicros what line items of the campaign cost whatever they deliver: the budget has so much less for units
 */
export function planPacing(
  lineItem: LineItem,
  { budget }: Campaign,
  timeZone: string,
  fixedMicros: bigint,
): PlanPacing {
  const { goal, rate, counting_basis: basis } = lineItem;
  // Line items of the first release have no pacing of their own.
  const { mode = 'even', velocity = 1, finish_early_pct: finishEarly = 0 } = lineItem.pacing ?? {};
  const unitPrice = unitPriceOf(rate);
  const isPaidFrom = budget !== undefined && budget.currency === rate.price?.currency;
  return {
    ...{ mode, velocity, finish_early_pct: finishEarly },
    ...(goal.daily_min !== undefined && { daily_min: goal.daily_min }),
    ...(goal.daily_max !== undefined && { daily_max: goal.daily_max }),
    counting_basis: basis,
    ...(unitPrice !== undefined && { unit_price_micros: unitPrice }),
    ...(isPaidFrom && { campaign_budget_micros: budgetLeft(budget, fixedMicros) }),
    time_zone: timeZone,
  };
}
