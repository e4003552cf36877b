import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { computeStatement } from './compute-statement.ts';
import { microsPerMinorUnit } from './currency.ts';
import { earnedWithin } from './earned-within.ts';
import { add, rational, zero } from './rational.ts';
import { earlierCharges } from './earlier-charges.ts';
import type { LedgerAdjustment, LedgerReading, LineItemTerms, RateTerms, StatementContent } from './statement-terms.ts';

const dayMs = 86_400_000;
/** Days of UTC. */
const calendar = { dayAt: (ms: number) => Math.floor(ms / dayMs), startMs: (day: number) => day * dayMs };
const at = (day: number) => new Date(Date.UTC(2026, 8, 1) + day * dayMs).toISOString();

const basis = 'ad_delivered';
const cpm = (price: string, from = at(0)): RateTerms => ({
  ...{ from, model: 'cpm', price_micros: price, basis: 'ad_delivered' },
});
const lineItem = (id: string, rates: readonly RateTerms[], more: Partial<LineItemTerms> = {}): LineItemTerms => ({
  ...{ line_item_id: id, version: 3, name: id, window: { start: at(0), end: at(91) }, began_at: at(0) },
  ...{ rates, earlier: [] },
  ...more,
});

/** What a ledger answers: units before each day. */
type Ledger = Readonly<
  Record<string, { readonly before: (day: number) => number[]; adjustments?: LedgerAdjustment[] }>
>;

/** Statements of consecutive periods, each after the ones before it. */
function statementsOf(
  given: { readonly currency: string; readonly lineItems: readonly LineItemTerms[] },
  days: readonly number[],
  ledgerAt: (statement: number) => Ledger,
): StatementContent[] {
  const contents: StatementContent[] = [];
  for (let index = 1; index < days.length; index++) {
    const [from, to] = [days[index - 1]!, days[index]!];
    const ledger = ledgerAt(index - 1);
    const readings: LedgerReading[] = Object.entries(ledger).map(([id, { before, adjustments = [] }]) => ({
      ...{ line_item_id: id, units: { start: before(from), end: before(to) }, adjustments },
    }));
    const earlier = earlierCharges(contents.flatMap(({ lines }) => lines));
    const content = computeStatement(
      {
        ...{ currency: given.currency, time_zone: 'UTC', known_at: at(to), charged: { start: at(from), end: at(to) } },
        line_items: given.lineItems.map((each) => ({ ...each, earlier: earlier.get(each.line_item_id) ?? [] })),
      },
      readings,
      calendar,
    );
    contents.push(content);
  }
  return contents;
}

const sumOf = (contents: readonly StatementContent[]) =>
  contents.reduce((sum, { total_micros: total }) => sum + BigInt(total), 0n);
const amounts = ({ lines }: StatementContent) =>
  lines.map(({ line_item_id, kind, units, days, amount_micros }) => [line_item_id, kind, units, days, amount_micros]);

test('a flat price over three months of unequal length sums to the price exactly', () => {
  for (const [currency, price, months] of [
    ['EUR', '1000010000', ['329670000', '340670000', '329670000']],
    ['JPY', '100001000000', ['32967000000', '34067000000', '32967000000']],
    ['BHD', '1000001000', ['329671000', '340659000', '329671000']],
  ] as const) {
    const flat = lineItem('li_a', [{ from: at(0), model: 'flat', price_micros: price, basis: 'ad_delivered' }]);
    const statements = statementsOf({ currency, lineItems: [flat] }, [0, 30, 61, 91], () => ({}));
    expect(statements.map(({ total_micros: total }) => total)).toEqual(months);
    expect(sumOf(statements)).toBe(BigInt(price));
    expect(statements.map(({ lines }) => lines[0]!.days)).toEqual([30, 31, 30]);
  }
});

test('a price by the day is due for each day of the flight that has begun, until it ends', () => {
  const rates: RateTerms[] = [{ from: at(0), model: 'cpd', price_micros: '12340000', basis: 'ad_delivered' }];
  const stopped = lineItem('li_a', rates, { began_at: at(2.5), ended: { at: at(10.25), state: 'stopped' } });
  const statements = statementsOf({ currency: 'EUR', lineItems: [stopped] }, [0, 5, 30], () => ({}));
  expect(statements.map(amounts)).toEqual([
    [['li_a', 'charge', 0, 3, '37020000']],
    [['li_a', 'charge', 0, 6, '74040000']],
  ]);
});

test('amounts have the digits of their currency: none for JPY, two for EUR, three for BHD', () => {
  const charged = (currency: string) => {
    const lineItems = [lineItem('li_a', [cpm('18500000')])];
    const [statement] = statementsOf({ currency, lineItems }, [0, 30], () => ({
      li_a: { before: (day) => [day * 1.9 * 10] },
    }));
    return statement!.total_micros;
  };
  // 570 units at 18.50 a thousand are 10.545.
  expect([charged('JPY'), charged('EUR'), charged('BHD')]).toEqual(['11000000', '10540000', '10545000']);
});

test('late facts of an earlier period are a correction in the next statement, in either direction', () => {
  const lineItems = [lineItem('li_a', [cpm('10000000')])];
  const known = [
    (day: number) => [day * 100],
    // What began before day 30 was 60 units fewer than known then.
    (day: number) => [day * 100 - 60],
  ];
  const statements = statementsOf({ currency: 'EUR', lineItems }, [0, 30, 60], (index) => ({
    li_a: { before: (day) => (day === 0 ? [0] : known[index]!(day)) },
  }));
  expect(statements.map(amounts)).toEqual([
    [['li_a', 'charge', 3000, 0, '30000000']],
    [
      ['li_a', 'charge', 3000, 0, '30000000'],
      ['li_a', 'correction', -60, 0, '-600000'],
    ],
  ]);
});

test('a new price counts for servings that were decided from its time on, and its line stands beside the old one', () => {
  const lineItems = [lineItem('li_a', [cpm('10000000'), cpm('20000000', at(10))])];
  const [statement] = statementsOf({ currency: 'EUR', lineItems }, [0, 30], () => ({
    li_a: { before: (day) => (day === 0 ? [0, 0] : [1100, 1900]) },
  }));
  expect(
    statement!.lines.map(({ price_micros, units, amount_micros }) => [price_micros, units, amount_micros]),
  ).toEqual([
    ['10000000', 1100, '11000000'],
    ['20000000', 1900, '38000000'],
  ]);
});

test('an adjustment counts from its day on, and nothing above the goal is charged', () => {
  const adjustments = [{ reconciliation_id: 'rec_1', item_id: 'i1', day: at(20).slice(0, 10), quantity: -100, basis }];
  const lineItems = [lineItem('li_a', [{ ...cpm('10000000'), goal: { unit: 'impressions', units: 2_500 } }])];
  const ledger: Ledger = { li_a: { before: (day) => [day * 100], adjustments } };
  const statements = statementsOf({ currency: 'EUR', lineItems }, [0, 20, 24, 30, 60], () => ledger);
  expect(statements.map(({ lines }) => lines.map(({ units }) => units))).toEqual([[2000], [300], [200], []]);
});

test('units are charged by the goal and basis of their price: a goal in completes from day 30 on changes nothing of before', () => {
  const impressions: RateTerms = { ...cpm('10000000'), goal: { unit: 'impressions', units: 4_000 } };
  const completes: RateTerms = {
    ...{ from: at(30), model: 'cpm', price_micros: '10000000', basis: 'completes' },
    goal: { unit: 'completes', units: 500 },
  };
  const ledger: Ledger = {
    li_a: { before: (day) => [Math.min(day, 30) * 100, Math.max(0, day - 30) * 20] },
  };
  const lineItems = [lineItem('li_a', [impressions, completes])];
  const statements = statementsOf({ currency: 'EUR', lineItems }, [0, 30, 60, 91], () => ledger);
  expect(statements.map(amounts)).toEqual([
    [['li_a', 'charge', 3000, 0, '30000000']],
    [['li_a', 'charge', 500, 0, '5000000']],
    [],
  ]);
});

test('an adjustment is charged under the price of its day that counts by its basis, and under no other', () => {
  const completes: RateTerms = { from: at(10.5), model: 'cpcv', price_micros: '1000000', basis: 'completes' };
  const adjusted = (day: number, quantity: number, of: string) => ({
    ...{ reconciliation_id: 'rec_1', item_id: `${day} ${of}`, day: at(day).slice(0, 10), quantity, basis: of },
  });
  const adjustments = [
    ...[adjusted(9, 1, basis), adjusted(10, 2, basis), adjusted(11, 4, basis)],
    ...[adjusted(9, 8, 'completes'), adjusted(10, 16, 'completes'), adjusted(11, 32, 'completes')],
  ];
  const ledger: Ledger = { li_a: { before: (day) => (day === 0 ? [0, 0] : [100, 100]), adjustments } };
  const lineItems = [lineItem('li_a', [cpm('10000000'), completes])];
  const [statement] = statementsOf({ currency: 'EUR', lineItems }, [0, 30], () => ledger);
  expect(statement!.lines.map(({ basis: of, units }) => [of, units])).toEqual([
    [basis, 103],
    ['completes', 148],
  ]);
});

const prices = fc.integer({ min: 0, max: 50_000_000 }).map(String);
const models = fc.constantFrom('cpm', 'cpcv', 'flat', 'cpd', 'none');
const steps = fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 91, maxLength: 91 });
const generated = fc.record({
  currency: fc.constantFrom('JPY', 'EUR', 'BHD'),
  lineItems: fc
    .array(fc.record({ model: models, price: prices, goal: fc.option(fc.integer({ min: 1, max: 300_000 })), steps }), {
      minLength: 1,
      maxLength: 5,
    })
    .map((items) =>
      items.map(({ model, price, goal, steps: daily }, index) => ({
        terms: lineItem(`li_${index}`, [
          {
            ...{ from: at(0), model, price_micros: price, basis },
            ...(goal !== null && { goal: { unit: 'impressions' as const, units: goal } }),
          },
        ]),
        before: (day: number) => [daily.slice(0, day).reduce((sum, units) => sum + units, 0)],
      })),
    ),
  cuts: fc.uniqueArray(fc.integer({ min: 1, max: 90 }), { maxLength: 8 }),
});

test('the amounts of any split of a period sum to those of one statement, by line item and in all', () => {
  fc.assert(
    fc.property(generated, ({ currency, lineItems, cuts }) => {
      const terms = lineItems.map((each) => each.terms);
      const ledger: Ledger = Object.fromEntries(lineItems.map((each) => [each.terms.line_item_id, each]));
      const days = [0, ...cuts.toSorted((a, b) => a - b), 91];
      const split = statementsOf({ currency, lineItems: terms }, days, () => ledger);
      const whole = statementsOf({ currency, lineItems: terms }, [0, 91], () => ledger);
      expect(sumOf(split)).toBe(sumOf(whole));
      const of = (contents: readonly StatementContent[], id: string) =>
        contents
          .flatMap(({ lines }) => lines)
          .filter(({ line_item_id: lineItemId }) => lineItemId === id)
          .reduce(
            (sum, { units, amount_micros: micros }) => [sum[0]! + BigInt(units), sum[1]! + BigInt(micros)],
            [0n, 0n],
          );
      for (const { line_item_id: id, rates } of terms) {
        expect(of(split, id)).toEqual(of(whole, id));
        expect(of(split, id)[0]! <= BigInt(rates[0]!.goal?.units ?? Number.MAX_SAFE_INTEGER)).toBe(true);
      }
      for (const { lines, total_micros: total } of split) {
        expect(lines.reduce((sum, { amount_micros: micros }) => sum + BigInt(micros), 0n)).toBe(BigInt(total));
        for (const { kind, amount_micros: micros } of lines) {
          expect(BigInt(micros) % microsPerMinorUnit(currency)).toBe(0n);
          // Nothing has changed, so nothing is corrected.
          expect(kind).toBe('charge');
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('what line items earn in the parts of a time sums exactly to what they earn in the whole, which a first statement charges but for its rounding', () => {
  fc.assert(
    fc.property(generated, ({ currency, lineItems, cuts }) => {
      const ledger: Ledger = Object.fromEntries(lineItems.map((each) => [each.terms.line_item_id, each]));
      const earned = (days: readonly number[]) =>
        days
          .slice(1)
          .flatMap((day, index) => [[days[index]!, day] as const])
          .flatMap(([from, to]) =>
            lineItems.flatMap(({ terms, before }) => {
              const units = { start: before(from), end: before(to) };
              return earnedWithin(terms, { units, adjustments: [] }, { start: at(from), end: at(to) }, calendar);
            }),
          )
          .reduce((sum, { units, exact }) => ({ units: sum.units + units, exact: add(sum.exact, exact) }), {
            units: 0n,
            exact: zero,
          });
      const whole = earned([0, 91]);
      expect(earned([0, ...cuts.toSorted((a, b) => a - b), 91])).toEqual(whole);
      const terms = lineItems.map((each) => each.terms);
      const [statement] = statementsOf({ currency, lineItems: terms }, [0, 91], () => ledger);
      const { numerator, denominator } = add(whole.exact, rational(-BigInt(statement!.total_micros)));
      const distance = numerator < 0n ? -numerator : numerator;
      expect(distance * 2n <= microsPerMinorUnit(currency) * denominator).toBe(true);
    }),
    { numRuns: 30 },
  );
});

test('a statement does not depend on the order of its line items', () => {
  fc.assert(
    fc.property(generated, ({ currency, lineItems }) => {
      const ledger: Ledger = Object.fromEntries(lineItems.map((each) => [each.terms.line_item_id, each]));
      const inOrder = lineItems.map((each) => each.terms);
      const of = (items: readonly LineItemTerms[]) =>
        statementsOf({ currency, lineItems: items }, [0, 50, 91], () => ledger);
      expect(of(inOrder.toReversed())).toEqual(of(inOrder));
    }),
    { numRuns: 30 },
  );
});
