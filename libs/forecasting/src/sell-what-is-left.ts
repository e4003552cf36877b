import type { PlanLineItem } from '@longwave/events';
import type { Market, Sell } from '@longwave/pacing/simulation';
import { addToBaseline } from './add-to-baseline.ts';
import { askAvailability } from './find-availability.ts';
import { findFittingQuantity } from './find-fitting-quantity.ts';
import type { SamplePlay } from './sample-play.ts';
import { makeBaseline } from './simulate-delivery.ts';

const hourMs = 3_600_000;
const weekMs = 7 * 24 * hourMs;

/** The expected plays of each podcast and hour as one row of a sample, a week before the window, from where a simulation lays them on it. */
function sampleOf({ expected, window, playOf }: Market): readonly SamplePlay[] {
  return expected.flatMap((hours, podcast) =>
    hours.flatMap((weight, hour): SamplePlay[] => {
      if (weight <= 0) return [];
      const play = playOf(podcast, window.fromMs - weekMs + hour * hourMs);
      return [{ ...play, listener: '', weight, lineItemIds: [], noAdReason: '' }];
    }),
  );
}

/**
 * Sells the line items of a simulation one after another, as a seller does who is answered by the forecaster: of each as much as is left
 * and takes nothing from those that were sold before it, at most what is wanted.
 * @param deliveryRate confirmed ÷ decided, as it was before the sale
 * @param count plays that the answers are made from
 */
export function sellWhatIsLeft(deliveryRate: number, count = 10_000): Sell {
  return (market) => {
    const { plan, window, wanted } = market;
    const plays = sampleOf(market);
    const days = { ...window, timeZone: 'UTC' };
    const rateOf = ({ pacing }: PlanLineItem) => (pacing?.counting_basis === 'reserved' ? 1 : deliveryRate);
    const deliveryRates = new Map(plan.line_items.map((line) => [line.line_item_id, rateOf(line)]));
    const isWanted = ({ line_item_id: id }: PlanLineItem) => wanted.includes(id);
    let sold = { ...plan, line_items: plan.line_items.filter((line) => !isWanted(line)) };
    let baseline = makeBaseline({ plan: sold, plays, days, deliveryRates, count });
    const quantities = new Map<string, number>();
    for (const line of plan.line_items.filter(isWanted)) {
      const asked = line.goal.quantity!;
      const ask = askAvailability({ plan: sold, plays, days, deliveryRates, baseline, prospective: line });
      const quantity = Math.min(asked, findFittingQuantity(ask, asked, ask(asked)));
      quantities.set(line.line_item_id, quantity);
      if (quantity === 0) continue;
      const added = [{ ...line, goal: { ...line.goal, quantity } }];
      sold = { ...sold, line_items: [...sold.line_items, ...added] };
      baseline = addToBaseline(baseline, sold, { added, goalsLeft: new Map(), deliveryRates })!;
    }
    return quantities;
  };
}
