import type { Days } from './due.ts';
import { dueBy } from './due.ts';
import { add, type Rational } from './rational.ts';
import type { LedgerReading, LineItemTerms, RateTerms } from './statement-terms.ts';

/** What a line item earned in a time under one of its prices. */
interface Earned {
  readonly rate: RateTerms;
  readonly units: bigint;
  /** Millionths of the currency, not rounded; negative where a restatement or an adjustment takes away. */
  readonly exact: Rational;
}

const negative = ({ numerator, denominator }: Rational): Rational => ({ numerator: -numerator, denominator });

/**
 * What a line item earned in a time, by its prices: what is due by the end less what is due by the start, as statements compute it. So the
 * parts of a time sum to the whole, and that of a whole flight is what its statements charge, before they round.
 * @param reading units before both times
 */
export function earnedWithin(
  terms: LineItemTerms,
  { units, adjustments }: Pick<LedgerReading, 'units' | 'adjustments'>,
  time: { readonly start: string; readonly end: string },
  calendar: Days,
): readonly Earned[] {
  const dueAt = (bound: 'start' | 'end') =>
    dueBy(terms, { counted: units[bound], adjustments }, Date.parse(time[bound]), calendar);
  const [start, end] = [dueAt('start'), dueAt('end')];
  return terms.rates.map((rate, place) => ({
    rate,
    units: end[place]!.units - start[place]!.units,
    exact: add(end[place]!.exact, negative(start[place]!.exact)),
  }));
}
