import type { PlanLineItem } from '@longwave/events';
import { findAvailability, type DeliveryBaseline, type DeliveryInputs } from '@longwave/forecasting';
import type { ForecastInputs } from './forecast-inputs.ts';

/**
 * What a line item may have in the days that lie ahead, asked for as much as its goal lacks.
 * @returns `had`: what it has been delivered already, which is its own and comes on top of every total
 */
export function findAhead(
  { committed }: Pick<ForecastInputs, 'committed'>,
  line: PlanLineItem,
  delivery: DeliveryInputs & { readonly maxPlays?: number; readonly baseline?: DeliveryBaseline },
) {
  const had = committed.find(({ lineItemId }) => lineItemId === line.line_item_id)?.units ?? 0;
  const { quantity } = line.goal;
  const found = findAvailability({
    ...delivery,
    ...{ prospective: line, ...(quantity !== undefined && { quantity: Math.max(1, quantity - had) }) },
  });
  return { found, had };
}
