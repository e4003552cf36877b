/** What a line item of a campaign with a budget has cost and may still cost. Prices are millionths of a currency for a thousand units. */
export interface BudgetLine {
  readonly priceMicros: number;
  readonly goal: number;
  /** Units that are spoken for. */
  readonly committed: number;
  /** False once it has left the plan: what it committed is spent, and it gets no more. */
  readonly isOpen: boolean;
}

/** Millionths of the currency that so many units cost. */
export const costMicros = (units: number, priceMicros: number): number => (units * priceMicros) / 1000;

/**
 * For each line item of a campaign the units that it may reach at its price: what it has committed, and its part of the rest of the budget,
 * split by the value that is still planned. Infinite for a price of 0.
 */
export function budgetUnits(budgetMicros: number, lines: readonly BudgetLine[]): readonly number[] {
  const spent = lines.reduce((sum, { committed, priceMicros }) => sum + costMicros(committed, priceMicros), 0);
  const rest = Math.max(0, budgetMicros - spent);
  const planned = lines.map(({ goal, committed, priceMicros, isOpen }) =>
    isOpen ? costMicros(Math.max(0, goal - committed), priceMicros) : 0,
  );
  const sum = planned.reduce((all, value) => all + value, 0);
  return lines.map(({ committed, priceMicros }, at) => {
    if (priceMicros === 0) return Infinity;
    const part = sum === 0 ? 0 : (rest * planned[at]!) / sum;
    return committed + (part * 1000) / priceMicros;
  });
}
