import type { PlanLineItem } from '@longwave/events';
import { askAvailability, findFittingQuantity, type DeliveryBaseline } from '@longwave/forecasting';
import type { ForecastInputs } from './forecast-inputs.ts';

/**
 * What a line item may have in the days that lie ahead, asked for as much as its goal lacks.
 * @param baseline of the plan that it stands in
 * @param maxPlays that are decided again; absent: all
 * @returns `had`: what it has been delivered already, which is its own and comes on top of every total; `fits`: finds the largest quantity
 *   that can be sold, undefined without a quantity
 */
export function findAhead(
  { committed }: Pick<ForecastInputs, 'committed'>,
  line: PlanLineItem,
  baseline: DeliveryBaseline,
  maxPlays?: number,
) {
  const had = committed.find(({ lineItemId }) => lineItemId === line.line_item_id)?.units ?? 0;
  const quantity = line.goal.unit === 'share_pct' ? undefined : line.goal.quantity;
  const { plan, projected: plays, days, deliveryRates } = baseline;
  const ask = askAvailability({
    ...{ plan, plays, days, deliveryRates, baseline, prospective: line },
    ...(maxPlays !== undefined && { maxPlays }),
  });
  if (quantity === undefined) return { found: ask(), had, fits: undefined };
  const asked = Math.max(1, quantity - had);
  const found = ask(asked);
  return { found, had, fits: () => findFittingQuantity(ask, asked, found) };
}
