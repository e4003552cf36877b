import type { CohortSums } from './cohort-sums.ts';

/** Quantile of a normal distribution that 99.9 per cent lie under. */
const z = 3.1;

/** Units that servings without a confirmation gave back to their goal. It depends on cohorts alone, so no slot that is given moves it. */
export const returnedUnits = ({ returned, variance }: CohortSums): number =>
  Math.max(0, returned - z * Math.sqrt(variance));

/**
 * Units of a goal that are spoken for: confirmed servings, those that may still be confirmed, and those that no cohort shows yet.
 * @param used slots given so far; where cohorts show more, theirs counts
 */
export const committedUnits = (used: number, sums: CohortSums): number =>
  Math.max(used, sums.decided) - returnedUnits(sums);

/** A belief in a delivery rate: so many servings, of which this share was confirmed. */
export interface RatePrior {
  readonly share: number;
  readonly servings: number;
}

/** Before a workspace has servings older than a day. */
export const firstRatePrior: RatePrior = { share: 0.9, servings: 100 };

const leastRate = 0.1;

/** The share of decided servings that are confirmed in the end: those older than a day, with the prior of the workspace. */
export function deliveryRate(
  { settledDecided, settledConfirmed }: Pick<CohortSums, 'settledDecided' | 'settledConfirmed'>,
  prior: RatePrior,
): number {
  const rate = (settledConfirmed + prior.share * prior.servings) / (settledDecided + prior.servings);
  return Math.min(1, Math.max(leastRate, rate));
}

/**
 * Units that are committed and will come back, as it looks: servings of the last day are confirmed at the delivery rate, and what they owe
 * above it only waits for its time. It moves the pace, never the bound.
 */
export function waitingUnits(used: number, sums: CohortSums, rate: number): number {
  const given = Math.max(used, sums.decided);
  return Math.max(0, Math.min((1 - rate) * given - returnedUnits(sums), (1 - rate) * (given - sums.settledDecided)));
}
