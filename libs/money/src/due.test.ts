import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { RateModel } from './charge.ts';
import { dueBy } from './due.ts';
import type { LineItemTerms } from './statement-terms.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const beginning = Date.UTC(2026, 8, 1);
const at = (hours: number) => new Date(beginning + hours * hourMs).toISOString();

/** Days that begin at an hour of UTC. */
const daysFrom = (hour: number) => ({
  dayAt: (ms: number) => Math.floor((ms - hour * hourMs) / dayMs),
  startMs: (day: number) => day * dayMs + hour * hourMs,
});

/** The definition, day by day: a day belongs to the price that is in force when it begins. */
function daysByDefinition(terms: LineItemTerms, untilMs: number, calendar: ReturnType<typeof daysFrom>) {
  const from = Math.max(Date.parse(terms.window.start), Date.parse(terms.began_at));
  return terms.rates.map(({ model }, place) => {
    const isOver = terms.ended && (terms.ended.state === 'stopped' || model === 'cpd');
    const until = Math.min(untilMs, Date.parse(terms.window.end), isOver ? Date.parse(terms.ended.at) : Infinity);
    let count = 0n;
    if ((model !== 'flat' && model !== 'cpd') || until <= from) return count;
    for (let day = calendar.dayAt(from); day <= calendar.dayAt(until - 1); day++) {
      const begins = Math.max(calendar.startMs(day), from);
      const later = terms.rates.findIndex(({ from: rateFrom }, nth) => nth > 0 && Date.parse(rateFrom) > begins);
      if ((later < 0 ? terms.rates.length : later) - 1 === place) count++;
    }
    return count;
  });
}

const hours = fc.integer({ min: -100, max: 1000 });
const histories = fc
  .record({
    rates: fc.array(
      fc.record({
        hour: hours,
        model: fc.constantFrom<RateModel>('cpm', 'cpcv', 'flat', 'cpd', 'none'),
        basis: fc.constantFrom('ad_delivered', 'completes', 'served_bytes'),
      }),
      { minLength: 1, maxLength: 12 },
    ),
    ...{ start: hours, length: fc.integer({ min: 1, max: 900 }), began: hours },
    ended: fc.option(fc.record({ hour: hours, state: fc.constantFrom('completed', 'stopped') }), { nil: undefined }),
    adjustments: fc.array(
      fc.record({
        day: fc.integer({ min: -5, max: 45 }),
        quantity: fc.integer({ min: -50, max: 50 }),
        basis: fc.constantFrom('ad_delivered', 'completes', 'client_event'),
      }),
      { maxLength: 20 },
    ),
    ...{ until: hours, dayBegins: fc.integer({ min: -12, max: 13 }) },
  })
  .map(({ rates, start, length, began, ended, adjustments, until, dayBegins }) => ({
    terms: {
      ...{ line_item_id: 'li_a', version: 1, name: 'a', began_at: at(began), earlier: [] },
      window: { start: at(start), end: at(start + length) },
      ended: ended && { at: at(ended.hour), state: ended.state },
      rates: rates
        .toSorted((one, other) => one.hour - other.hour)
        .map(({ hour, model, basis }) => ({ from: at(hour), model, price_micros: '1230000', basis })),
    } satisfies LineItemTerms,
    adjustments: adjustments.map(({ day, quantity, basis }, place) => ({
      ...{ reconciliation_id: 'rc_a', item_id: String(place), day: at(day * 24).slice(0, 10), quantity, basis },
    })),
    ...{ untilMs: beginning + until * hourMs, calendar: daysFrom(dayBegins) },
  }));

test('each day of a flight belongs to the price that is in force when it begins, whatever was amended', () => {
  fc.assert(
    fc.property(histories, ({ terms, adjustments, untilMs, calendar }) => {
      const due = dueBy(terms, { counted: [], adjustments }, untilMs, calendar);
      expect(due.map(({ days }) => days)).toEqual(daysByDefinition(terms, untilMs, calendar));
    }),
  );
});

test('a line item of 500 prices by the day over three years is due in a moment', () => {
  const rates = Array.from({ length: 500 }, (_, place) => ({
    ...({ from: at(place * 48), model: 'cpd', price_micros: '1230000', basis: 'ad_delivered' } as const),
  }));
  const terms: LineItemTerms = {
    ...{ line_item_id: 'li_a', version: 1, name: 'a', began_at: at(0), rates, earlier: [] },
    window: { start: at(0), end: at(3 * 365 * 24) },
  };
  const calendar = daysFrom(0);
  let asked = 0;
  const counting = { ...calendar, startMs: (day: number) => (asked++, calendar.startMs(day)) };
  const due = dueBy(terms, { counted: [], adjustments: [] }, beginning + 3 * 365 * dayMs, counting);
  expect(due.reduce((sum, { days }) => sum + days, 0n)).toBe(1095n);
  expect(asked).toBeLessThan(1_200);
});
