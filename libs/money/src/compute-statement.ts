import { allocate } from './allocate.ts';
import { microsPerMinorUnit } from './currency.ts';
import { dueBy, type Days, type DueUnderRate } from './due.ts';
import { divide } from './rational.ts';
import type {
  EarlierCharge,
  LedgerReading,
  LineItemTerms,
  StatementContent,
  StatementLine,
  StatementTerms,
} from './statement-terms.ts';

type Due = Omit<DueUnderRate, 'exact'> & { readonly micros: bigint };

const nothing: Due = { units: 0n, days: 0n, micros: 0n };
const keyOf = (lineItemId: string, rateFrom: string) => `${lineItemId} ${rateFrom}`;

/** What all line items owe by a time, each price of each line item in whole minor units that sum to the sum of all, rounded once. */
function dueInMinorUnits(
  terms: StatementTerms,
  readings: ReadonlyMap<string, LedgerReading>,
  bound: 'start' | 'end',
  calendar: Days,
): ReadonlyMap<string, Due> {
  const perMinor = microsPerMinorUnit(terms.currency);
  const untilMs = Date.parse(terms.charged[bound]);
  const exact = terms.line_items.flatMap((lineItem) => {
    const reading = readings.get(lineItem.line_item_id);
    const ledger = { counted: reading?.units[bound] ?? [], adjustments: reading?.adjustments ?? [] };
    return dueBy(lineItem, ledger, untilMs, calendar).map((due, place) => ({
      ...due,
      id: keyOf(lineItem.line_item_id, lineItem.rates[place]!.from),
      exact: divide(due.exact, perMinor),
    }));
  });
  const amounts = allocate(exact);
  return new Map(exact.map(({ id, units, days }) => [id, { units, days, micros: amounts.get(id)! * perMinor }]));
}

const minus = (a: Due, b: Due): Due => ({
  units: a.units - b.units,
  days: a.days - b.days,
  micros: a.micros - b.micros,
});

const earlierDue = ({ units, days, amount_micros: micros }: EarlierCharge): Due => ({
  units: BigInt(units),
  days: BigInt(days),
  micros: BigInt(micros),
});

/** The lines of one line item: for every price what its period is charged for, and what is corrected of earlier ones. */
function linesOf(
  lineItem: LineItemTerms,
  due: { readonly start: ReadonlyMap<string, Due>; readonly end: ReadonlyMap<string, Due> },
): StatementLine[] {
  const { line_item_id, name, rates, earlier } = lineItem;
  const lost = earlier.find(({ rate_from: rateFrom }) => rates.every(({ from }) => from !== rateFrom));
  if (lost)
    throw new RangeError(`${line_item_id} was charged under a price from ${lost.rate_from}, which it does not have`);
  return rates.flatMap(({ from, model, price_micros, basis }) => {
    const key = keyOf(line_item_id, from);
    const [start, end] = [due.start.get(key)!, due.end.get(key)!];
    const charged = earlier.find(({ rate_from: rateFrom }) => rateFrom === from);
    const parts = {
      charge: minus(end, start),
      correction: minus(start, charged ? earlierDue(charged) : nothing),
    };
    return (['charge', 'correction'] as const).flatMap((kind) => {
      const { units, days, micros } = parts[kind];
      if (units === 0n && days === 0n && micros === 0n) return [];
      return [
        {
          ...{ line_item_id, kind, name, rate_from: from, model, price_micros, basis },
          ...{ units: Number(units), days: Number(days), amount_micros: micros.toString() },
        },
      ];
    });
  });
}

/**
 * Computes a statement: for every line item what is due by its end, from the beginning of the flight on, less what earlier statements have
 * charged. So no rounding adds up however many statements there are, and what has changed of an earlier period is a correction in this one.
 * Throws `RangeError` for an earlier charge under a price that the line item does not have.
 * @param readings of the line items of the terms; one without a reading has delivered nothing
 * @param calendar days of the zone of the terms
 */
export function computeStatement(
  terms: StatementTerms,
  readings: readonly LedgerReading[],
  calendar: Days,
): StatementContent {
  const byId = new Map(readings.map((reading) => [reading.line_item_id, reading]));
  const due = {
    start: dueInMinorUnits(terms, byId, 'start', calendar),
    end: dueInMinorUnits(terms, byId, 'end', calendar),
  };
  const lines = terms.line_items
    .toSorted((a, b) => (a.line_item_id < b.line_item_id ? -1 : 1))
    .flatMap((lineItem) => linesOf(lineItem, due));
  const total = lines.reduce((sum, { amount_micros: micros }) => sum + BigInt(micros), 0n);
  return { lines, total_micros: total.toString() };
}
