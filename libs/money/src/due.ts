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

/** The place of the price that is in force at a time. */
function rateAt({ rates }: LineItemTerms, atMs: number): number {
  const later = rates.findIndex(({ from }, place) => place > 0 && Date.parse(from) > atMs);
  return later < 0 ? rates.length - 1 : later - 1;
}

const dayMs = 86_400_000;

/** Adjustments of days that began before a time, by the price that was in force when the day began. */
function adjustedUnits(
  terms: LineItemTerms,
  adjustments: readonly LedgerAdjustment[],
  untilMs: number,
  { startMs }: Days,
): bigint[] {
  const sums = terms.rates.map(() => 0n);
  for (const { day, quantity } of adjustments) {
    const beginningMs = startMs(Date.parse(`${day}T00:00:00.000Z`) / dayMs);
    const place = rateAt(terms, beginningMs);
    if (beginningMs < untilMs) sums[place] = sums[place]! + BigInt(quantity);
  }
  return sums;
}

/**
 * Units to charge by price: the first ones up to the goal, in the order of the prices. Units of days are no part of the goal.
 * @param counted units of the ledger with their adjustments, by price
 */
function withinGoal({ rates, goal_units: goal }: LineItemTerms, counted: readonly bigint[]): bigint[] {
  const bounded = (sum: bigint) => {
    const positive = sum < 0n ? 0n : sum;
    return goal !== undefined && positive > BigInt(goal) ? BigInt(goal) : positive;
  };
  let sum = 0n;
  return counted.map((units, place) => {
    if (!isChargedByUnits(rates[place]!.model)) return 0n;
    const before = bounded(sum);
    sum += units;
    return bounded(sum) - before;
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
  const days = rates.map(({ model }, place) => {
    // A flat price is for the goal where the goal was reached early; a stopped flight has earned its days.
    const isOver = ended !== undefined && (ended.state === 'stopped' || model === 'cpd');
    const until = Math.min(untilMs, windowEnd, isOver ? Date.parse(ended.at) : Infinity);
    let count = 0n;
    if (model === 'flat' || model === 'cpd')
      for (let day = dayAt(from); until > from && day <= dayAt(until - 1); day++)
        if (rates.length === 1 || rateAt(terms, Math.max(startMs(day), from)) === place) count++;
    return count;
  });
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
