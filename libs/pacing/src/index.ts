export { budgetUnits, costMicros, type BudgetLine } from './budget.ts';
export {
  confirmedOf,
  type Cohort,
  type CohortCounts,
  type CountingBasis,
  type GoalBasis,
  type SurfaceClass,
} from './cohort.ts';
export { createCohortBook, noCohorts, type CohortBook, type CohortSums } from './cohort-sums.ts';
export { fillDays } from './day-quotas.ts';
export { firstRatePrior, type RatePrior } from './committed.ts';
export { lowerGrants, raiseGrants, type NodeLease } from './grants.ts';
export { moveTarget } from './line-verdict.ts';
export { createNodeShares, type NodeShares } from './node-shares.ts';
export { paceLine, type LineMoment, type PacedLine, type PacedMoment } from './pace-line.ts';
export { knownForMs, shapePace, type LocalDay, type PaceShape, type PacingMode } from './pace-shape.ts';
export { bucketOf, isStaleRate } from './quota.ts';
export { curveAgesMs, horizonMs, measureCurve, type AgedServings, type ReturnCurve } from './return-curve.ts';
export { networkTraffic, plannedTraffic, type TrafficCurve } from './traffic-curve.ts';
export {
  createLinePacer,
  type Curves,
  type HourPlan,
  type KeptPacing,
  type LinePacer,
  type LocalDays,
  type NumberedDay,
} from './line-pacer.ts';
