import type { EarlierCharge, StatementLine } from './statement-terms.ts';

/** What the lines of earlier statements have charged, by line item and price. */
export function earlierCharges(lines: readonly StatementLine[]): ReadonlyMap<string, readonly EarlierCharge[]> {
  const byPrice = Map.groupBy(lines, ({ line_item_id: id, rate_from: from }) => `${id} ${from}`);
  const charges = [...byPrice.values()].map((of) => ({
    id: of[0]!.line_item_id,
    charge: {
      rate_from: of[0]!.rate_from,
      units: of.reduce((sum, { units }) => sum + units, 0),
      days: of.reduce((sum, { days }) => sum + days, 0),
      amount_micros: of.reduce((sum, { amount_micros: micros }) => sum + BigInt(micros), 0n).toString(),
    },
  }));
  const byLineItem = Map.groupBy(charges, ({ id }) => id);
  return new Map([...byLineItem].map(([id, of]) => [id, of.map(({ charge }) => charge)]));
}
