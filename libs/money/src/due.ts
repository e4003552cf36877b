import { charge, isChargedByUnits } from './charge.ts';
import type { Rational } from './rational.ts';
import type { LedgerAdjustment, LineItemTerms } from './statement-terms.ts';

/** Calendar days of a time zone, numbered from 1970-01-01 on. */
export interface Days {
  readonly dayAt: (atMs: number) => number;
  /** First instant of a day. */
  readonly startMs: (day: number) => number;
}

/** What is due for a line item under one of its prices, from the beginning of its flight on. */
export interface DueUnderRate {
  readonly units: bigint;
  readonly days: bigint;
  /** Millionths of the currency, not rounded. */
  readonly exact: Rational;
}

/** Finds the place of the price that is in force at a time, for times that follow each other; each `from` is parsed once. */
function createRates({ rates }: LineItemTerms): (atMs: number) => number {
  const startsMs = rates.map(({ from }) => Date.parse(from));
  let place = 0;
  let askedMs = -Infinity;
  return (atMs) => {
    if (atMs < askedMs) place = 0;
    askedMs = atMs;
    while (place + 1 < rates.length && startsMs[place + 1]! <= atMs) place++;
    return place;
  };
}

const dayMs = 86_400_000;

/** A local day, and the places of the first and the last price of it. */
interface AdjustedDay {
  readonly beginningMs: number;
  readonly first: number;
  readonly last: number;
}

function adjustedDay(rateAt: (atMs: number) => number, date: string, { startMs }: Days): AdjustedDay {
  const day = Date.parse(`${date}T00:00:00.000Z`) / dayMs;
  const beginningMs = startMs(day);
  return { beginningMs, first: rateAt(beginningMs), last: rateAt(startMs(day + 1) - 1) };
}

/**
 * Adjustments of days that began before a time, by price: the first one of the day that counts by their basis. Where none does, the ads of the
 * day are charged by other units, and the adjustment changes none of these.
 */
function adjustedUnits(
  terms: LineItemTerms,
  adjustments: readonly LedgerAdjustment[],
  untilMs: number,
  calendar: Days,
): bigint[] {
  const sums = terms.rates.map(() => 0n);
  const rateAt = createRates(terms);
  // A month of adjustments has few days, and zones are slow.
  const days = new Map<string, AdjustedDay>();
  for (const { day: date, quantity, basis } of adjustments) {
    const day = days.get(date) ?? adjustedDay(rateAt, date, calendar);
    days.set(date, day);
    let place = day.first;
    while (place <= day.last && terms.rates[place]!.basis !== basis) place++;
    if (day.beginningMs < untilMs && place <= day.last) sums[place] = sums[place]! + BigInt(quantity);
  }
  return sums;
}

/**
 * Units to charge by price: of those whose goals have one unit the first ones up to the goal, in the order of the prices. Units of days are no
 * part of the goal.
 * @param counted units of the ledger with their adjustments, by price
 */
function withinGoal({ rates }: LineItemTerms, counted: readonly bigint[]): bigint[] {
  const sums = new Map<string | undefined, bigint>();
  return counted.map((units, place) => {
    const { model, goal } = rates[place]!;
    if (!isChargedByUnits(model)) return 0n;
    const bounded = (sum: bigint) => {
      const positive = sum < 0n ? 0n : sum;
      return goal !== undefined && positive > BigInt(goal.units) ? BigInt(goal.units) : positive;
    };
    const before = sums.get(goal?.unit) ?? 0n;
    sums.set(goal?.unit, before + units);
    return bounded(before + units) - bounded(before);
  });
}

/** Local days of the flight that have begun before a time, by the price that was in force when each began; and those of its whole window. */
function flightDays(terms: LineItemTerms, untilMs: number, { dayAt, startMs }: Days) {
  const { window, began_at: beganAt, ended, rates } = terms;
  const [windowStart, windowEnd, began] = [window.start, window.end, beganAt].map((text) => Date.parse(text)) as [
    number,
    number,
    number,
  ];
  const from = Math.max(windowStart, began);
  const ends = rates.map(({ model }) => {
    if (model !== 'flat' && model !== 'cpd') return -Infinity;
    // A flat price is for the goal where the goal was reached early; a stopped flight has earned its days.
    const isOver = ended !== undefined && (ended.state === 'stopped' || model === 'cpd');
    const until = Math.min(untilMs, windowEnd, isOver ? Date.parse(ended.at) : Infinity);
    return until > from ? dayAt(until - 1) : -Infinity;
  });
  const days = rates.map(() => 0n);
  const rateAt = createRates(terms);
  const lastDay = ends.reduce((last, end) => Math.max(last, end), -Infinity);
  for (let day = dayAt(from); day <= lastDay; day++) {
    const place = rates.length === 1 ? 0 : rateAt(Math.max(startMs(day), from));
    if (day <= ends[place]!) days[place] = days[place]! + 1n;
  }
  return { days, daysInAll: BigInt(Math.max(1, dayAt(windowEnd - 1) - dayAt(windowStart) + 1)) };
}

/**
 * What is due for a line item by a time, from the beginning of its flight on, under each of its prices.
 * @param counted units of the ledger before that time, by the price that was in force when their servings were decided
 */
export function dueBy(
  terms: LineItemTerms,
  ledger: { readonly counted: readonly number[]; readonly adjustments: readonly LedgerAdjustment[] },
  untilMs: number,
  calendar: Days,
): readonly DueUnderRate[] {
  const adjusted = adjustedUnits(terms, ledger.adjustments, untilMs, calendar);
  const units = withinGoal(
    terms,
    terms.rates.map((_, place) => BigInt(ledger.counted[place] ?? 0) + adjusted[place]!),
  );
  const { days, daysInAll } = flightDays(terms, untilMs, calendar);
  return terms.rates.map(({ model, price_micros: price }, place) => ({
    units: units[place]!,
    days: days[place]!,
    exact: charge(model, BigInt(price), { units: units[place]!, days: days[place]!, daysInAll }),
  }));
}
