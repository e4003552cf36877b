export {
  alertKinds,
  evaluateAlerts,
  foundKinds,
  lineAlertKinds,
  moveStreak,
  noAlert,
  type AlertKind,
  type AlertStreak,
  type FoundKind,
} from './alert-conditions.ts';
export { missingAtEnd, missingOfDay, unusuallyUnfilled, type FilledSlots } from './alert-findings.ts';
export { affordableUnits, budgetUnits, costMicros } from './budget.ts';
export { type Cohort, type GoalBasis, type SurfaceClass } from './cohort.ts';
export { createCohortBook } from './cohort-sums.ts';
export { fillDays } from './day-quotas.ts';
export { type RatePrior } from './committed.ts';
export { lowerGrants, raiseGrants, type NodeLease } from './grants.ts';
export type { PastPrice } from './committed-money.ts';
export { paceLine, type PacedLine } from './pace-line.ts';
export { shapePace } from './pace-shape.ts';
export { bucketOf, isStaleRate } from './quota.ts';
export { curveAgesMs, measureCurve, type AgedServings } from './return-curve.ts';
export {
  createLinePacer,
  type Curves,
  type HourPlan,
  type LinePacer,
  type LocalDays,
  type NumberedDay,
} from './line-pacer.ts';
