import {
  createCohortBook,
  createNodeShares,
  firstRatePrior,
  knownForMs,
  moveTarget,
  networkTraffic,
  noCohorts,
  paceLine,
  plannedTraffic,
  shapePace,
  type Cohort,
  type CohortSums,
  type PacedMoment,
  type PaceShape,
  type RatePrior,
  type ReturnCurve,
  type SurfaceClass,
  type TrafficCurve,
} from '@longwave/pacing';
import type { PlannedLine } from '../plans/paced-lines.ts';
import type { LinePacing } from './line-pacing-table.ts';
import type { LocalDays, NumberedDay } from './local-days.ts';
import type { StoredPlan } from './pacing-plan-table.ts';

export type Curves = Readonly<Partial<Record<SurfaceClass, ReturnCurve | undefined>>>;

/** What a line item's pacer is told at a tick, besides its cohorts and plan. */
export interface LineTick {
  readonly atMs: number;
  readonly usedOpen: number;
  readonly budget: number;
  readonly ratePrior: RatePrior | undefined;
}

/** One line item, as the pacer keeps it in memory. */
export interface LinePacer {
  readonly line: PlannedLine;
  readonly shares: ReturnType<typeof createNodeShares>;
  closedUsed: number;
  /** Of the last tick; undefined before the first. */
  moment(): PacedMoment | undefined;
  committed(): number;
  sums(): CohortSums;
  cohorts(): ReturnType<typeof createCohortBook>;
  /** A newer plan of the same line item; a changed basis loses its cohorts, which are to be read again. */
  replace(line: PlannedLine): void;
  planDigest(): string | undefined;
  setPlan(plan: StoredPlan | undefined): void;
  putCohorts(cohorts: readonly Cohort[]): void;
  /** Sums its cohorts anew. @param watermarkMs undefined: nothing is returned */
  settle(watermarkMs: number | undefined, curves: Curves): void;
  tick(tick: LineTick): PacedMoment;
  /** As it is to be kept. */
  toRow(): LinePacing;
}

/** A shape is made again after so long, with what is left by then. */
const remakeMs = knownForMs / 3;

const keyOf = (line: PlannedLine) =>
  JSON.stringify([
    line.goal,
    line.mode,
    line.windowStartMs,
    line.windowEndMs,
    line.finishEarlyPct,
    line.dailyMin,
    line.dailyMax,
    line.timeZone,
  ]);

/**
 * Paces one line item.
 * @param kept what the last pacer left, or what stored decisions say of a new one
 */
export function createLinePacer(
  first: PlannedLine,
  kept: Pick<LinePacing, 'closedUsed'> & Partial<LinePacing>,
  days: LocalDays,
): LinePacer {
  let line = first;
  let book = createCohortBook(first.basis);
  let sums = noCohorts;
  let traffic: TrafficCurve = networkTraffic;
  let plan: Pick<StoredPlan, 'digest' | 'isLearning'> | undefined;
  let shape: { of: PaceShape; fromMs: number; day: number; key: string } | undefined;
  let day: { number: number; usedAtStart: number } | undefined = kept.day;
  let used = kept.used ?? kept.closedUsed;
  let target = kept.updatedAtMs === 0 ? undefined : kept.target;
  /** When the target was right, and where the plan stood then. */
  let targetAtMs = kept.updatedAtMs === 0 ? undefined : kept.updatedAtMs;
  let last: PacedMoment | undefined;

  function moveDay(today: NumberedDay, usedNow: number): void {
    // What was used when the pacer looked last is no more than what was when the day began.
    if (day?.number !== today.number) day = { number: today.number, usedAtStart: Math.min(used, usedNow) };
  }

  function makeShape(atMs: number, usedNow: number): typeof shape {
    const fromMs = Math.max(atMs, line.windowStartMs);
    const from = days.dayAt(line.timeZone, fromMs);
    const of = shapePace({
      ...{ mode: line.mode, finishEarlyPct: line.finishEarlyPct, windowStartMs: line.windowStartMs },
      ...{ windowEndMs: line.windowEndMs, fromMs, traffic, dailyMin: line.dailyMin, dailyMax: line.dailyMax },
      units: Math.max(1, line.goal - (last?.committed ?? usedNow)) / (last?.deliveryRate ?? 1),
      days: fromMs < line.windowEndMs ? days.daysBetween(line.timeZone, fromMs, line.windowEndMs) : [],
      usedToday: from.number === day?.number ? usedNow - day.usedAtStart : 0,
    });
    return { of, fromMs, day: from.number, key: keyOf(line) };
  }

  /** Moves the target by the part of the rest of the plan that has passed since it was right. */
  function moveOn(atMs: number, usedNow: number): PaceShape {
    // What was given before anybody paced it is as if planned; the rest is spread from here on.
    target ??= atMs > line.windowStartMs ? usedNow : 0;
    const sinceMs = Math.max(targetAtMs ?? atMs, atMs - remakeMs);
    shape ??= makeShape(sinceMs, usedNow);
    const before = shape!.of.shareUntil(sinceMs);
    const share = before >= 1 ? 1 : (shape!.of.shareUntil(atMs) - before) / (1 - before);
    if (line.mode !== 'asap') target = moveTarget(target, line.goal, atMs <= line.windowStartMs ? 0 : share);
    targetAtMs = atMs;
    const isStale =
      shape!.key !== keyOf(line) ||
      atMs - shape!.fromMs >= remakeMs ||
      (atMs >= shape!.fromMs && shape!.day !== days.dayAt(line.timeZone, atMs).number);
    if (isStale) shape = makeShape(atMs, usedNow);
    return shape!.of;
  }

  return {
    shares: createNodeShares(),
    closedUsed: kept.closedUsed,
    get line() {
      return line;
    },
    moment: () => last,
    committed: () => last?.committed ?? kept.committed ?? used,
    sums: () => sums,
    cohorts: () => book,
    replace(next) {
      if (next.basis !== line.basis) {
        book = createCohortBook(next.basis);
        sums = noCohorts;
      }
      line = next;
    },
    planDigest: () => plan?.digest,
    setPlan(next) {
      plan = next && { digest: next.digest, isLearning: next.isLearning };
      traffic = next ? plannedTraffic(next.startsAtMs, Float64Array.from(next.hours)) : networkTraffic;
      shape = undefined;
    },
    putCohorts(cohorts) {
      for (const cohort of cohorts) book.put(cohort);
    },
    settle(watermarkMs, curves) {
      sums = book.sums(watermarkMs, curves);
    },
    tick({ atMs, usedOpen, budget, ratePrior }) {
      const usedNow = this.closedUsed + usedOpen;
      const today = days.dayAt(line.timeZone, atMs);
      moveDay(today, usedNow);
      const of = moveOn(atMs, usedNow);
      const moment = paceLine(line, {
        ...{ atMs, used: usedNow, usedOpen, sums, budget, shape: of, target: target! },
        ratePrior: ratePrior ?? firstRatePrior,
        day: { usedAtStart: day!.usedAtStart, endMs: today.endMs },
        isLearning: plan?.isLearning ?? true,
      });
      target = moment.target;
      used = usedNow;
      last = moment;
      return moment;
    },
    toRow() {
      return {
        ...{ lineItemId: line.lineItemId, workspaceId: line.workspaceId, goal: line.goal, basis: line.basis },
        ...{ windowStartMs: line.windowStartMs, windowEndMs: line.windowEndMs, planDigest: plan?.digest },
        ...{ closedUsed: this.closedUsed, committed: last?.committed ?? used, target: target ?? used },
        ...{ deliveryRate: last?.deliveryRate ?? 1, urgency: last?.urgency ?? 0, state: last?.state ?? 'learning' },
        ...{ day, used, campaignId: line.campaignId, unitPriceMicros: line.unitPriceMicros },
        ...{ updatedAtMs: targetAtMs ?? 0, pacingVersion: 0 },
      };
    },
  };
}
