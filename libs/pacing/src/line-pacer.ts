import { createCohortBook, noCohorts, type CohortBook, type CohortSums } from './cohort-sums.ts';
import type { Cohort, SurfaceClass } from './cohort.ts';
import { costMicros } from './budget.ts';
import { committedMicros, priceRanges, type PastPrice } from './committed-money.ts';
import { firstRatePrior, type RatePrior } from './committed.ts';
import { moveTarget } from './line-verdict.ts';
import { createNodeShares, type NodeShares } from './node-shares.ts';
import { paceLine, type PacedLine, type PacedMoment } from './pace-line.ts';
import { knownForMs, shapePace, type LocalDay, type PaceShape } from './pace-shape.ts';
import type { ReturnCurve } from './return-curve.ts';
import { networkTraffic, plannedTraffic, type TrafficCurve } from './traffic-curve.ts';

export type Curves = Readonly<Partial<Record<SurfaceClass, ReturnCurve | undefined>>>;

/** A calendar day of a zone, numbered from 1970-01-01 on. */
export interface NumberedDay extends LocalDay {
  readonly number: number;
}

/** Calendar days of zones, of 23, 24 or 25 hours. */
export interface LocalDays {
  dayAt(timeZone: string, atMs: number): NumberedDay;
  /** The days that a half-open range touches, in order. */
  daysBetween(timeZone: string, fromMs: number, toMs: number): readonly NumberedDay[];
}

/** Expected opportunities of a line item, by the hour from a time on. */
export interface HourPlan {
  readonly digest: string;
  readonly startsAtMs: number;
  readonly hours: readonly number[];
  /** It comes from less than 14 days of facts. */
  readonly isLearning: boolean;
}

/** What a line item's pacer is told at a tick, besides its cohorts and plan. */
interface LineTick {
  readonly atMs: number;
  readonly usedOpen: number;
  readonly budget: number;
  readonly ratePrior: RatePrior | undefined;
}

/** What a pacer leaves to the next one. */
export interface KeptPacing {
  /** Slots that were used under closed leases. */
  readonly closedUsed: number;
  readonly used?: number;
  readonly committed?: number;
  /** What was to be committed, and when; absent of a line item that nobody paced before. */
  readonly target?: number | undefined;
  readonly targetAtMs?: number | undefined;
  /** Number of the local day since 1970, and the slots that had been given when it began. */
  readonly day?: { readonly number: number; readonly usedAtStart: number } | undefined;
  /** Its price then, those before, and what was committed at all of them; absent where nobody kept them. */
  readonly unitPriceMicros?: number | undefined;
  readonly pastPrices?: readonly PastPrice[] | undefined;
  readonly committedMicros?: number | undefined;
}

/** One line item, as the pacer keeps it in memory. */
export interface LinePacer<L extends PacedLine> {
  readonly line: L;
  readonly shares: NodeShares;
  closedUsed: number;
  /** Of the last tick; undefined before the first. */
  moment(): PacedMoment | undefined;
  committed(): number;
  /** What that costs, each unit at the price at which it was decided. */
  committedMicros(): number;
  sums(): CohortSums;
  cohorts(): CohortBook;
  /** A newer plan of the same line item; a changed basis loses its cohorts, which are to be read again. */
  replace(line: L): void;
  planDigest(): string | undefined;
  /** Its plan comes from less than 14 days of facts, or there is none. */
  isLearning(): boolean;
  setPlan(plan: HourPlan | undefined): void;
  putCohorts(cohorts: readonly Cohort[]): void;
  /** Sums its cohorts anew. @param watermarkMs undefined: nothing is returned */
  settle(watermarkMs: number | undefined, curves: Curves): void;
  tick(tick: LineTick): PacedMoment;
  /** As it is to be kept. */
  keep(): KeptPacing & {
    readonly used: number;
    readonly committed: number;
    readonly target: number;
    readonly unitPriceMicros: number;
    readonly pastPrices: readonly PastPrice[];
    readonly committedMicros: number;
  };
}

/** A shape is made again after so long, with what is left by then. */
const remakeMs = knownForMs / 3;

/** A shape is made of single hours, so it reaches no further; line items of more are given as soon as possible. */
const maxShapeMs = 1_100 * 86_400_000;

/** What a shape is made of, besides what is left and the traffic. */
const shaping: readonly (keyof PacedLine)[] = [
  ...(['goal', 'mode', 'windowStartMs', 'windowEndMs', 'finishEarlyPct', 'dailyMin', 'dailyMax', 'timeZone'] as const),
];

const isShapedAs = (before: PacedLine, after: PacedLine) =>
  before === after || shaping.every((key) => before[key] === after[key]);

/**
 * Paces one line item.
 * @param kept what the last pacer left, or what stored decisions say of a new one
 */
export function createLinePacer<L extends PacedLine>(first: L, kept: KeptPacing, days: LocalDays): LinePacer<L> {
  let line = first;
  let book = createCohortBook(first.basis);
  let sums = noCohorts;
  let traffic: TrafficCurve = networkTraffic;
  let plan: Pick<HourPlan, 'digest' | 'isLearning'> | undefined;
  let shape: { of: PaceShape; fromMs: number; day: number; line: L } | undefined;
  let day: { number: number; usedAtStart: number } | undefined = kept.day;
  let used = kept.used ?? kept.closedUsed;
  let target = kept.target;
  /** When the target was right, and where the plan stood then. */
  let targetAtMs = kept.targetAtMs;
  let last: PacedMoment | undefined;
  let settled: { watermarkMs: number | undefined; curves: Curves } = { watermarkMs: undefined, curves: {} };
  let price = kept.unitPriceMicros ?? first.unitPriceMicros ?? 0;
  let pastPrices = kept.pastPrices ?? [];
  let sumsByPrice = priceRanges(pastPrices, price).map(() => noCohorts);
  let micros = kept.committedMicros ?? costMicros(kept.committed ?? used, price);

  function sumByPrice(): void {
    sumsByPrice =
      pastPrices.length === 0
        ? [sums]
        : priceRanges(pastPrices, price).map((range) => book.sums(settled.watermarkMs, settled.curves, range));
  }

  /** What was given since the last tick was given at the dearer of two prices. */
  function movePrice(atMs: number, usedNow: number): void {
    const { unitPriceMicros: next = 0 } = line;
    if (next === price) return;
    const isDearer = price > next;
    const usedUntil = isDearer ? usedNow : used;
    const untilMs = isDearer ? atMs : (targetAtMs ?? atMs);
    if (usedUntil > (pastPrices.at(-1)?.usedUntil ?? 0))
      pastPrices = [...pastPrices, { priceMicros: price, usedUntil, untilMs }];
    price = next;
    sumByPrice();
  }

  function moveDay(today: NumberedDay, usedNow: number): void {
    // What was used when the pacer looked last is no more than what was when the day began.
    if (day?.number !== today.number) day = { number: today.number, usedAtStart: Math.min(used, usedNow) };
  }

  function makeShape(atMs: number, usedNow: number): typeof shape {
    const fromMs = Math.max(atMs, line.windowStartMs);
    const from = days.dayAt(line.timeZone, fromMs);
    const windowStartMs = Math.max(line.windowStartMs, fromMs - maxShapeMs);
    const windowEndMs = Math.min(line.windowEndMs, fromMs + maxShapeMs);
    const of = shapePace({
      ...{
        mode: windowEndMs < line.windowEndMs ? 'asap' : line.mode,
        finishEarlyPct: line.finishEarlyPct,
        windowStartMs,
      },
      ...{ windowEndMs, fromMs, traffic, dailyMin: line.dailyMin, dailyMax: line.dailyMax },
      units: Math.max(1, line.goal - (last?.committed ?? usedNow)) / (last?.deliveryRate ?? 1),
      days: fromMs < windowEndMs ? days.daysBetween(line.timeZone, fromMs, windowEndMs) : [],
      usedToday: from.number === day?.number ? usedNow - day.usedAtStart : 0,
    });
    return { of, fromMs, day: from.number, line };
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
      !isShapedAs(shape!.line, line) ||
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
    committedMicros: () => micros,
    sums: () => sums,
    cohorts: () => book,
    replace(next) {
      if (next.basis !== line.basis) {
        book = createCohortBook(next.basis);
        sums = noCohorts;
        sumByPrice();
      }
      line = next;
    },
    planDigest: () => plan?.digest,
    isLearning: () => plan?.isLearning ?? true,
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
      settled = { watermarkMs, curves };
      sumByPrice();
    },
    tick({ atMs, usedOpen, budget, ratePrior }) {
      const usedNow = this.closedUsed + usedOpen;
      const today = days.dayAt(line.timeZone, atMs);
      moveDay(today, usedNow);
      movePrice(atMs, usedNow);
      const of = moveOn(atMs, usedNow);
      const moment = paceLine(line, {
        ...{ atMs, used: usedNow, usedOpen, sums, budget, shape: of, target: target! },
        ratePrior: ratePrior ?? firstRatePrior,
        day: { usedAtStart: day!.usedAtStart, endMs: today.endMs },
        isLearning: this.isLearning(),
      });
      target = moment.target;
      used = usedNow;
      micros = committedMicros(pastPrices, price, used, sumsByPrice);
      last = moment;
      return moment;
    },
    keep() {
      const committed = last?.committed ?? used;
      const money = { unitPriceMicros: price, pastPrices, committedMicros: micros };
      return { closedUsed: this.closedUsed, used, committed, target: target ?? used, targetAtMs, day, ...money };
    },
  };
}
