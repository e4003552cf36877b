/** What an open line item of a campaign with a budget has cost and may still cost. Prices are millionths of a currency for a thousand units. */
export interface BudgetLine {
  readonly priceMicros: number;
  readonly goal: number;
  /** Units that are spoken for, and what they cost at the prices at which they were decided. */
  readonly committed: number;
  readonly committedMicros: number;
}

/** Millionths of the currency that so many units cost. */
export const costMicros = (units: number, priceMicros: number): number => (units * priceMicros) / 1000;

/**
 * For each line item of a campaign the units that it may reach at its price: what it has committed, and its part of the rest of the budget,
 * split by the value that is still planned. Infinite for a price of 0.
 */
export function budgetUnits(budgetMicros: number, lines: readonly BudgetLine[]): readonly number[] {
  const spent = lines.reduce((sum, line) => sum + line.committedMicros, 0);
  const rest = Math.max(0, budgetMicros - spent);
  const planned = lines.map(({ goal, committed, priceMicros }) =>
    costMicros(Math.max(0, goal - committed), priceMicros),
  );
  const sum = planned.reduce((all, value) => all + value, 0);
  return lines.map(({ committed, priceMicros }, at) => {
    if (priceMicros === 0) return Infinity;
    const part = sum === 0 ? 0 : (rest * planned[at]!) / sum;
    return committed + (part * 1000) / priceMicros;
  });
}

/** Whole units that so much money pays for, in millionths of the currency; none where it is less than nothing. */
export const affordableUnits = (micros: number, priceMicros: number): number =>
  Math.max(0, Math.floor((micros * 1000) / priceMicros));
