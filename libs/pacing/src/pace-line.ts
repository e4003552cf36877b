import { committedUnits, deliveryRate, waitingUnits, type RatePrior } from './committed.ts';
import type { GoalBasis } from './cohort.ts';
import type { CohortSums } from './cohort-sums.ts';
import { pacingState, shortByOf, urgencyOf, type PacingState, type ShortBy, type Urgency } from './line-verdict.ts';
import type { PaceShape, PacingMode } from './pace-shape.ts';
import { quotaOf, type Quota } from './quota.ts';

/** What a line item with a goal asks of its pacing. */
export interface PacedLine {
  readonly lineItemId: string;
  readonly goal: number;
  readonly basis: GoalBasis;
  readonly windowStartMs: number;
  readonly windowEndMs: number;
  readonly mode: PacingMode;
  /** 1 to 2: how much faster it goes at least while it is behind. */
  readonly velocity: number;
  readonly finishEarlyPct: number;
  readonly dailyMin: number | undefined;
  readonly dailyMax: number | undefined;
  /** IANA name of the zone whose days bound it. */
  readonly timeZone: string;
  /** Millionths of the currency for a thousand units; 0 or absent when it is not sold by units. */
  readonly unitPriceMicros?: number;
}

/** A line item at one moment. */
export interface LineMoment {
  readonly atMs: number;
  /** Slots given so far, under closed leases and open ones. */
  readonly used: number;
  /** Those of them that open leases show. */
  readonly usedOpen: number;
  readonly sums: CohortSums;
  readonly ratePrior: RatePrior;
  /** Units that the campaign's budget pays for; infinite without one. */
  readonly budget: number;
  /** The local day, and the slots that had been given when it began. */
  readonly day: { readonly usedAtStart: number; readonly endMs: number };
  readonly shape: PaceShape;
  /** What is to be committed by now. */
  readonly target: number;
  readonly isLearning: boolean;
}

export interface PacedMoment {
  readonly committed: number;
  readonly target: number;
  readonly deliveryRate: number;
  readonly urgency: Urgency;
  readonly state: PacingState;
  readonly shortBy: ShortBy | undefined;
  /** The most that its open leases together may have been granted (I1). It stays the same while nodes give slots. */
  readonly maxGranted: number;
  readonly quota: Quota;
}

/** Where a line item stands, and how much its nodes may give in the runway. */
export function paceLine(line: PacedLine, moment: LineMoment): PacedMoment {
  const { goal, basis, mode, dailyMin, dailyMax, windowStartMs, windowEndMs } = line;
  const { used, usedOpen, sums, budget, day, shape } = moment;
  const atMs = Math.max(moment.atMs, windowStartMs);
  const hasEnded = atMs >= windowEndMs;
  const committed = committedUnits(used, sums);
  const rate = basis === 'reserved' ? 1 : deliveryRate(sums, moment.ratePrior);
  const target = mode === 'asap' ? Math.min(goal, committed) : moment.target;
  const expected = committed - waitingUnits(used, sums, rate);
  const urgency = mode === 'asap' || hasEnded ? 0 : urgencyOf(goal, target, expected);
  const dayLeft = dailyMax === undefined ? Infinity : day.usedAtStart + dailyMax - used;
  const left = Math.min(goal, budget) - committed;
  const quota: Quota = hasEnded
    ? { units: 0, isReleased: false }
    : quotaOf({
        left,
        unmet: Math.min(goal, budget) - expected,
        deliveryRate: rate,
        atMs,
        windowEndMs,
        planShare: target / goal,
        shape,
        velocity: target > expected ? line.velocity : 1,
        behind: Math.max(0, target - expected),
        mode,
        day: dailyMin === undefined ? undefined : { lacking: dailyMin - (used - day.usedAtStart), endMs: day.endMs },
      });
  const isCommitted = left < 1;
  return {
    committed,
    target,
    deliveryRate: rate,
    urgency,
    state: pacingState({ hasEnded, isCommitted, urgency, isLearning: moment.isLearning }),
    shortBy: shortByOf({ goal, budget, dayLeft, committed, isReleased: quota.isReleased }),
    maxGranted: usedOpen + Math.floor(Math.min(left, dayLeft)),
    quota,
  };
}
