import { costMicros } from './budget.ts';
import type { CohortSums } from './cohort-sums.ts';
import { quarterMs } from './cohort.ts';
import { returnedUnits } from './committed.ts';

/** A price of a line item that is not in force any more, in millionths of the currency for a thousand units. */
export interface PastPrice {
  readonly priceMicros: number;
  /** Slots that had been given when it ended. */
  readonly usedUntil: number;
  readonly untilMs: number;
}

/**
 * The decision times of each price, the present one last. A quarter hour in which the price changed is one of the cheaper price: what
 * returns of it is worth no more.
 */
export function priceRanges(
  past: readonly PastPrice[],
  priceMicros: number,
): readonly { readonly fromMs: number; readonly untilMs: number }[] {
  const ends = past.map(({ priceMicros: before, untilMs }, at) => {
    const after = past[at + 1]?.priceMicros ?? priceMicros;
    return (before < after ? Math.ceil(untilMs / quarterMs) : Math.floor(untilMs / quarterMs)) * quarterMs;
  });
  return [...ends, Infinity].map((untilMs, at) => ({ fromMs: ends[at - 1] ?? -Infinity, untilMs }));
}

/**
 * What the committed units of a line item cost, each at the price at which it was decided, in millionths of the currency.
 * @param used slots given so far
 * @param sums of the cohorts of each of `priceRanges`
 */
export function committedMicros(
  past: readonly PastPrice[],
  priceMicros: number,
  used: number,
  sums: readonly CohortSums[],
): number {
  const prices = [...past, { priceMicros, usedUntil: used }];
  const decided = sums.reduce((all, one) => all + one.decided, 0);
  // Slots that only cohorts show may be of any price.
  const unseen = costMicros(Math.max(0, decided - used), Math.max(...prices.map((price) => price.priceMicros)));
  return prices.reduce((sum, { priceMicros: price, usedUntil }, at) => {
    const given = Math.max(0, usedUntil - (prices[at - 1]?.usedUntil ?? 0));
    return sum + costMicros(Math.max(0, given - returnedUnits(sums[at]!)), price);
  }, unseen);
}
