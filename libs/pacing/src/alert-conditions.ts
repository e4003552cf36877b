import type { PacingMode } from './pace-shape.ts';
import type { ShortBy } from './line-verdict.ts';

/** Kinds of alerts that follow from how a line item is paced (docs/pacing.md#alerts). */
const pacedKinds = ['behind_plan', 'stalled', 'ending', 'over', 'budget'] as const;
type PacedKind = (typeof pacedKinds)[number];
/** Kinds of alerts of line items that the forecaster and management find, whatever the pacer knows. */
const otherKinds = ['at_risk', 'daily_min_unreachable', 'discrepancy'] as const;
/** What other services find: those, and reservations that are `ending`. */
export const foundKinds = [...otherKinds, 'ending'] as const;
export type FoundKind = (typeof foundKinds)[number];
/** What an alert of a line item can be about. */
export const lineAlertKinds = [...pacedKinds, ...otherKinds] as const;
/** What an alert can be about; `unfilled` is one of podcasts. */
export const alertKinds = [...lineAlertKinds, 'unfilled'] as const;
export type AlertKind = (typeof alertKinds)[number];

/** A line item at the moment of an evaluation. Units are those of its counting basis. */
export interface AlertMoment {
  readonly atMs: number;
  readonly windowEndMs: number;
  readonly mode: PacingMode;
  readonly goal: number;
  /** The goal, or what was committed already when the goal was lowered beneath it. */
  readonly bound: number;
  /** What is to be committed by now; `committed` itself in the mode `asap`. */
  readonly target: number;
  readonly committed: number;
  /** Confirmed servings and held ones. */
  readonly confirmed: number;
  /** Slots given so far. */
  readonly used: number;
  readonly deliveryRate: number;
  readonly shortBy: ShortBy | undefined;
  /** Its plan comes from less than 14 days of facts, or there is none. */
  readonly isLearning: boolean;
  /** How it stood one to two hours ago; undefined when nobody paced it then. */
  readonly hourAgo: { readonly used: number; readonly target: number } | undefined;
  /** What was committed a day before, and when that was. */
  readonly dayAgo: { readonly atMs: number; readonly committed: number } | undefined;
  /** Of a line item that is sold by units, in a campaign with a budget: the share of the budget that the campaign committed, in per cent. */
  readonly budgetPercent: number | undefined;
}

const hourMs = 3_600_000;
const endingMs = 72 * hourMs;
const leastExpected = 20;
const budgetPercentMax = 90;
/** Of a line item without a plan: it ends short when at the pace of the last day less than this share of the goal is committed in the end. */
const enough = 0.98;

/** Units behind the plan; 0 in the mode `asap`, which has none. */
const behind = ({ target, committed }: AlertMoment): number => Math.max(0, target - committed);

/** Units that are missing at the end when it goes on as in the last day. */
function missingAtPace({ atMs, windowEndMs, goal, committed, dayAgo }: AlertMoment): number {
  if (!dayAgo || dayAgo.atMs >= atMs) return 0;
  const perMs = Math.max(0, committed - dayAgo.committed) / (atMs - dayAgo.atMs);
  return Math.max(0, goal - committed - perMs * (windowEndMs - atMs));
}

/**
 * The units that each kind is about while its condition holds, else undefined: behind the plan, expected slots of which none was given,
 * missing at the end, above the goal; of `budget` the units committed.
 */
const conditions: Readonly<Record<PacedKind, (moment: AlertMoment) => number | undefined>> = {
  behind_plan: (moment) => {
    const { goal, target, isLearning } = moment;
    const units = behind(moment);
    return !isLearning && units > Math.max(0.02 * goal, 3 * Math.sqrt(target)) ? units : undefined;
  },
  stalled: ({ hourAgo, used, target, deliveryRate, shortBy }) => {
    if (!hourAgo || used > hourAgo.used || (shortBy !== undefined && shortBy !== 'plan')) return undefined;
    const expected = (target - hourAgo.target) / deliveryRate;
    return expected >= leastExpected ? expected : undefined;
  },
  ending: (moment) => {
    const { atMs, windowEndMs, mode, goal, target } = moment;
    if (windowEndMs - atMs > endingMs) return undefined;
    if (mode === 'asap') {
      const units = missingAtPace(moment);
      return units > (1 - enough) * goal ? units : undefined;
    }
    const units = behind(moment);
    return units > Math.max(0.005 * goal, Math.sqrt(target)) ? units : undefined;
  },
  over: ({ bound, confirmed }) => {
    const units = confirmed - bound;
    return units > Math.max(0.005 * bound, 5) ? units : undefined;
  },
  budget: ({ budgetPercent = 0, committed }) => (budgetPercent >= budgetPercentMax ? committed : undefined),
};

/** The kinds that follow from pacing whose condition holds, each with the units that it is about. */
export const evaluateAlerts = (moment: AlertMoment): ReadonlyMap<PacedKind, number> =>
  new Map(
    pacedKinds.flatMap((kind) => {
      const units = conditions[kind](moment);
      return units === undefined ? [] : [[kind, units] as const];
    }),
  );

/** How one alert stands: whether it is open, and how many evaluations in a row have spoken against that. */
export interface AlertStreak {
  readonly isOpen: boolean;
  readonly against: number;
}

export const noAlert: AlertStreak = { isOpen: false, against: 0 };

/** So many evaluations in a row raise an alert, and so many clear it. */
const raiseAfter = 3;
const clearAfter = 6;

/** The streak after another evaluation. One that agrees with how the alert stands begins the count anew. */
export function moveStreak({ isOpen, against }: AlertStreak, holds: boolean): AlertStreak {
  if (holds === isOpen) return { isOpen, against: 0 };
  const isTurned = against + 1 >= (isOpen ? clearAfter : raiseAfter);
  return isTurned ? { isOpen: !isOpen, against: 0 } : { isOpen, against: against + 1 };
}
