import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { CountedRow } from './counted-row.ts';
import { isBeyond, matchSource, sumOurs, type IdMap } from './match-items.ts';
import type { Ledger } from './read-ledger.ts';
import type { KnownServings } from './read-servings.ts';
import { dateOf, dayOf, type ReconciliationSource } from './reconciliation.ts';

const hourMs = 3_600_000;
const at = (text: string) => Date.parse(`${text}:00Z`);
const source = (changes: object = {}): ReconciliationSource => ({
  ...{ kind: 'third_party', name: 'gam', upload_id: `upl_${'0'.repeat(26)}`, storage_key: 'k' },
  ...{ columns: { line_item: 'L', day: 'D', units: 'U' }, counting_basis: 'ad_delivered', time_zone: 'UTC' },
  ...changes,
});
const hour = (text: string, units: number, lineItemId = 'li_1', creativeId = 'crv_1') => ({
  ...{ lineItemId, creativeId, hourMs: at(text), units },
});
const ids: IdMap = {
  lineItems: new Map([
    ['li_1', ['li_1']],
    ['G-1', ['li_1']],
    ['li_2', ['li_2']],
    ['both', ['li_1', 'li_2']],
    ['li_9', ['li_9']],
  ]),
  campaigns: new Map([['IO-1', ['cmp_1']]]),
  creatives: new Map([
    ['A-1', ['crv_1']],
    ['A-2', ['crv_2']],
  ]),
};
const about = (hours: Ledger['hours'], changes: object = {}) => ({
  ids,
  servings: new Map() as KnownServings,
  lineItems: [
    { id: 'li_1', campaignId: 'cmp_1', basis: 'ad_delivered' },
    { id: 'li_2', campaignId: 'cmp_1', basis: 'served_bytes' },
  ],
  ledger: { hours, adjustments: [] } as Ledger,
  days: { first: dayOf('2026-10-01'), end: dayOf('2026-11-01') },
  timeZone: 'UTC',
  ...{ tolerancePct: 10, smallest: 50, provisional: false, maxItems: 500_000 },
  ...changes,
});
const row = (lineItem: string, units: number, day: string | undefined = '2026-10-01', line = 2): CountedRow => ({
  ...{ line, lineItem, units },
  ...(day !== undefined && { day }),
});
/** Within the bound of items. */
const match = async (...asked: Parameters<typeof matchSource>) => (await matchSource(...asked))!;
const brief = (items: Awaited<ReturnType<typeof match>>['items']) =>
  items.map((item) => [item.line_item_id, item.day, item.ours, item.theirs, item.ambiguity, item.beyond, item.verdict]);

test('what is within the tolerance and unambiguous is decided as ours; beyond it, and with any ambiguity, a person decides', async () => {
  const { items } = await match(
    source(),
    [row('G-1', 1_090), row('li_1', 1_200, '2026-10-02'), row('li_2', 1_000, '2026-10-03')],
    about([hour('2026-10-01T05:00', 1_000), hour('2026-10-02T05:00', 1_000), hour('2026-10-03T05:00', 1_000, 'li_2')]),
  );
  expect(brief(items)).toEqual([
    ['li_1', '2026-10-01', 1_000, 1_090, 'none', false, 'ours'],
    ['li_1', '2026-10-02', 1_000, 1_200, 'none', true, null],
    ['li_2', '2026-10-03', 1_000, 1_000, 'basis_differs', false, null],
  ]);
});

test('the bound is the larger of the smallest difference and the per cent of our number, in both directions', () => {
  const by = { tolerancePct: 10, smallest: 50 };
  expect([1_050, 1_100, 1_101, 900, 899].map((theirs) => isBeyond(1_000, theirs, by))).toEqual([
    false,
    false,
    true,
    false,
    true,
  ]);
  expect([50, 51].map((theirs) => isBeyond(0, theirs, by))).toEqual([false, true]);
});

test('what only one side has is named: missing_theirs and missing_ours, however small', async () => {
  const { items } = await match(source(), [row('li_1', 3, '2026-10-02')], about([hour('2026-10-01T05:00', 7)]));
  expect(brief(items)).toEqual([
    ['li_1', '2026-10-01', 7, 0, 'missing_theirs', false, null],
    ['li_1', '2026-10-02', 0, 3, 'missing_ours', false, null],
  ]);
});

test('a row that comes twice is summed and named; other dates and line items are counted and left out, unknown ids are listed with their lines', async () => {
  const { items, found } = await match(
    source(),
    [
      ...[row('li_1', 600), row('li_1', 400, '2026-10-01', 3), row('li_1', 5, '2026-11-01'), row('li_9', 5)],
      ...[row('what', 40, '2026-10-01', 6), row('what', 2, '2026-10-02', 7), row('both', 1, '2026-10-01', 8)],
    ],
    about([hour('2026-10-01T05:00', 1_000)]),
  );
  expect(brief(items)).toEqual([['li_1', '2026-10-01', 1_000, 1_000, 'duplicate_rows', false, null]]);
  expect(found).toEqual({
    ...{ name: 'gam', rows: 7, outside_period: 1, outside_scope: 1, unknown_rows: 3 },
    unknown_ids: [
      { id: 'what', line: 6, units: 42 },
      { id: 'both', line: 8, units: 1 },
    ],
  });
});

describe('days', () => {
  /** A release at 02:00 UTC on 2 October is still 1 October in New York. */
  const release = [hour('2026-10-01T20:00', 100), hour('2026-10-02T02:00', 900), hour('2026-11-01T03:00', 60)];

  test('of a source are those of its zone: our hours are moved there before anything is compared, at both ends of the period too', async () => {
    const newYork = source({ time_zone: 'America/New_York' });
    const { items } = await match(newYork, [row('li_1', 1_000), row('li_1', 60, '2026-10-31')], about(release));
    expect(brief(items)).toEqual([
      ['li_1', '2026-10-01', 1_000, 1_000, 'none', false, 'ours'],
      ['li_1', '2026-10-31', 60, 60, 'none', false, 'ours'],
    ]);
    const inUtc = await match(source(), [row('li_1', 1_000)], about(release));
    expect(inUtc.items.every(({ verdict }) => verdict === null)).toBe(true);
  });

  test('of 23 and 25 hours keep all their hours', async () => {
    const hours = Array.from({ length: 31 * 24 }, (_, nth) => ({
      ...{ lineItemId: 'li_1', creativeId: 'crv_1', hourMs: at('2026-10-01T00:00') + (nth - 2) * hourMs, units: 10 },
    }));
    const days = { first: dayOf('2026-10-24'), end: dayOf('2026-10-27') };
    const sums = await sumOurs({ hours, adjustments: [] }, days, 'Europe/Berlin', { byDay: true, byCreative: false });
    const of = (day: string) => sums.of({ lineItemId: 'li_1', creativeId: null, day });
    expect(['2026-10-24', '2026-10-25', '2026-10-26'].map(of)).toEqual([240, 250, 240]);
  });

  test('of a source that names no zone are not compared: the whole period is, and people decide', async () => {
    const { time_zone: _zone, ...zoneless } = source() as ReconciliationSource & { time_zone: string };
    const { items } = await match(
      zoneless,
      [row('li_1', 900), row('li_1', 150, '2026-10-02')],
      about(release.slice(0, 2)),
    );
    expect(brief(items)).toEqual([['li_1', null, 1_000, 1_050, 'zone_unknown', false, null]]);
  });
});

test('totals of a campaign are spread over its line items by our numbers, and marked; with one line item nothing is spread', async () => {
  const totals = source({ columns: { campaign: 'C', units: 'U' } });
  const hours = [hour('2026-10-01T05:00', 3_000), hour('2026-10-02T05:00', 1_000, 'li_2')];
  const campaignRow: CountedRow = { line: 2, campaign: 'IO-1', units: 4_001 };
  const lineItems = about(hours).lineItems.map((one) => ({ ...one, basis: 'ad_delivered' }));
  const { items } = await match(totals, [campaignRow], about(hours, { lineItems }));
  expect(brief(items)).toEqual([
    ['li_1', null, 3_000, 3_001, 'spread', false, null],
    ['li_2', null, 1_000, 1_000, 'spread', false, null],
  ]);
  const one = await match(
    totals,
    [{ ...campaignRow, units: 3_010 }],
    about(hours.slice(0, 1), { lineItems: lineItems.slice(0, 1) }),
  );
  expect(brief(one.items)).toEqual([['li_1', null, 3_000, 3_010, 'none', false, 'ours']]);
});

test('what was adjusted on a day of another zone is part of our day that has most of its hours', async () => {
  const adjustments = [
    { lineItemId: 'li_1', day: '2026-10-02', timeZone: 'Pacific/Kiritimati', quantity: 40 },
    { lineItemId: 'li_1', day: '2026-10-02', timeZone: 'America/New_York', quantity: 7 },
  ];
  const days = { first: dayOf('2026-10-01'), end: dayOf('2026-11-01') };
  const sums = await sumOurs({ hours: [], adjustments }, days, 'Pacific/Pago_Pago', { byDay: true, byCreative: false });
  const of = (day: string) => sums.of({ lineItemId: 'li_1', creativeId: null, day });
  expect(['2026-10-01', '2026-10-02'].map(of)).toEqual([40, 7]);
});

test('a source with creatives is compared creative by creative, and earlier adjustments of a day are part of our numbers', async () => {
  const byCreative = source({ columns: { line_item: 'L', creative: 'A', day: 'D', units: 'U' } });
  const hours = [hour('2026-10-01T05:00', 300), hour('2026-10-01T06:00', 100, 'li_1', 'crv_2')];
  const adjustments = [{ lineItemId: 'li_1', day: '2026-10-01', timeZone: 'UTC', quantity: -40 }];
  const rows = [
    { ...row('li_1', 270), creative: 'A-1' },
    { ...row('li_1', 90), creative: 'A-2' },
  ];
  const { items } = await match(byCreative, rows, about(hours, { ledger: { hours, adjustments } }));
  expect(items.map(({ creative_id: id, ours, theirs, verdict }) => [id, ours, theirs, verdict])).toEqual([
    ['crv_1', 270, 270, 'ours'],
    ['crv_2', 90, 90, 'ours'],
  ]);
  const byDay = await match(source(), [row('li_1', 360)], about(hours, { ledger: { hours, adjustments } }));
  expect(brief(byDay.items)).toEqual([['li_1', '2026-10-01', 360, 360, 'none', false, 'ours']]);
});

test('in a provisional reconciliation people decide every item', async () => {
  const { items } = await match(
    source(),
    [row('li_1', 1_000)],
    about([hour('2026-10-01T05:00', 1_000)], { provisional: true }),
  );
  expect(brief(items)).toEqual([['li_1', '2026-10-01', 1_000, 1_000, 'provisional', false, null]]);
});

test('an item has the same id at every matching, and another for another source', async () => {
  const idsOf = async (name: string) =>
    (await match(source({ name }), [row('li_1', 1)], about([]))).items.map((item) => item.item_id);
  expect(await idsOf('gam')).toEqual(await idsOf('gam'));
  expect(await idsOf('gam')).not.toEqual(await idsOf('other'));
});

describe('rows by serving', () => {
  const byServing = source({ columns: { serving: 'S', line_item: 'L', day: 'D', units: 'U' } });
  const servings: KnownServings = new Map([
    ['srv_1', { lineItemId: 'li_1', creativeId: 'crv_1', hourMs: at('2026-10-01T23:00') }],
    ['srv_2', { lineItemId: 'li_1', creativeId: 'crv_1' }],
    ['srv_9', { lineItemId: 'li_9', creativeId: 'crv_9', hourMs: at('2026-10-01T05:00') }],
  ]);
  const ours = [hour('2026-10-01T05:00', 2), hour('2026-10-01T23:00', 1)];
  const of = (serving: string, day: string, lineItem = 'what', units = 1): CountedRow => ({
    ...row(lineItem, units, day),
    serving,
  });

  test('are of the line item and the day of our unit; those that we have not counted are theirs alone, others are found by the other columns', async () => {
    const rows = [of('srv_1', '2026-10-02'), of('srv_2', '2026-10-01'), of('srv_3', '2026-10-01', 'G-1', 5)];
    const { items, found } = await match(byServing, [...rows, of('srv_9', '2026-10-01')], about(ours, { servings }));
    expect(items.map(({ day, ours: own, theirs, matched }) => [day, own, theirs, matched])).toEqual([
      ['2026-10-01', 3, 7, 1],
    ]);
    expect(found).toMatchObject({ outside_period: 0, outside_scope: 1, unknown_rows: 0 });
    const onlyServing = { line: 5, serving: 'srv_3', units: 4, day: '2026-10-01' };
    expect((await match(byServing, [onlyServing], about(ours, { servings }))).found).toMatchObject({
      unknown_ids: [{ id: 'srv_3', line: 5, units: 4 }],
    });
    expect((await match(source(), [row('li_1', 3)], about(ours))).items[0]).toMatchObject({ matched: null });
  });

  test('the same serving twice is a duplicate whatever its rows say beside it, and two servings of a day are none', async () => {
    const twice = [of('srv_1', '2026-10-01'), of('srv_1', '2026-10-02', 'li_1')];
    const [item] = (await match(byServing, twice, about(ours, { servings }))).items;
    expect(item).toMatchObject({ theirs: 2, matched: 1, ambiguity: 'duplicate_rows' });
    const two = [of('srv_1', '2026-10-01'), of('srv_2', '2026-10-01')];
    expect((await match(byServing, two, about(ours, { servings }))).items[0]).toMatchObject({ ambiguity: 'none' });
  });

  test('what both have, what is ours alone and what is theirs alone are known one by one, whatever dates the rows have and in whatever order', async () => {
    const serving = fc.record({
      lineItemId: fc.constantFrom('li_1', 'li_2'),
      /** Hours into the period; undefined: not counted by us. */
      hourNth: fc.option(fc.integer({ min: 0, max: 31 * 24 - 1 }), { nil: undefined }),
      isTheirs: fc.boolean(),
      theirDay: fc.integer({ min: 1, max: 31 }),
    });
    const isCounted = ({ hourNth }: { readonly hourNth: number | undefined }) => hourNth !== undefined;
    await fc.assert(
      fc.asyncProperty(fc.array(serving, { maxLength: 60 }), fc.integer(), async (made, turn) => {
        fc.pre(made.some(({ isTheirs }) => isTheirs));
        const all = made.map((one, nth) => ({ ...one, id: `srv_${nth}` }));
        const hourOf = (nth: number) => at('2026-10-01T00:00') + nth * hourMs;
        const known: KnownServings = new Map(
          all.map(({ id, lineItemId, hourNth }) => [
            id,
            { lineItemId, creativeId: 'crv_1', ...(hourNth !== undefined && { hourMs: hourOf(hourNth) }) },
          ]),
        );
        const hours = all.flatMap(({ lineItemId, hourNth }) =>
          hourNth === undefined ? [] : [{ lineItemId, creativeId: 'crv_1', hourMs: hourOf(hourNth), units: 1 }],
        );
        const theirs = all.filter(({ isTheirs }) => isTheirs);
        const rows = theirs.map(({ id, theirDay }) => of(id, `2026-10-${String(theirDay).padStart(2, '0')}`));
        const { items } = await match(byServing, rows, about(hours, { servings: known }));
        const sum = (which: 'ours' | 'theirs' | 'matched') => items.reduce((total, item) => total + item[which]!, 0);
        const both = theirs.filter(isCounted).length;
        expect([sum('ours'), sum('theirs'), sum('matched')]).toEqual([hours.length, theirs.length, both]);
        for (const item of items) {
          const here = all.filter(
            ({ lineItemId, hourNth }) =>
              lineItemId === item.line_item_id &&
              hourNth !== undefined &&
              dateOf(Math.floor(hourOf(hourNth) / (24 * hourMs))) === item.day,
          );
          expect([item.ours, item.matched]).toEqual([here.length, here.filter(({ isTheirs }) => isTheirs).length]);
          expect(item.theirs).toBeGreaterThanOrEqual(item.matched!);
        }
        // What both have counted is of our day, so dates of the source move what is theirs alone and nothing else.
        const cut = rows.length === 0 ? 0 : Math.abs(turn) % rows.length;
        const turned = [...rows.slice(cut), ...rows.slice(0, cut)].map((one) =>
          isCounted(all.find(({ id }) => id === one.serving)!) ? { ...one, day: '2026-10-15' } : one,
        );
        const again = await match(byServing, turned, about(hours, { servings: known }));
        const sorted = (list: typeof items) => list.toSorted((a, b) => (a.item_id < b.item_id ? -1 : 1));
        expect(sorted(again.items)).toEqual(sorted(items));
      }),
    );
  });
});

describe('a large file', () => {
  const lineItems = Array.from({ length: 1_000 }, (_, nth) => ({
    ...{ id: `li_${nth}`, campaignId: 'cmp_1', basis: 'ad_delivered' },
  }));
  const totals = source({ columns: { campaign: 'C', day: 'D', units: 'U' } });
  const rows = (count: number): CountedRow[] =>
    Array.from({ length: count }, (_, nth) => ({ line: nth + 2, campaign: 'IO-1', units: 1, day: '2026-10-01' }));

  test('of 200,000 rows over a campaign of 1,000 line items is divided once, to the last unit, while others have their turns', async () => {
    let turns = 0;
    const beat = setInterval(() => (turns += 1), 1);
    const { items, found } = await match(totals, rows(200_000), about([], { lineItems }));
    clearInterval(beat);
    expect(found.rows).toBe(200_000);
    expect(items).toHaveLength(1_000);
    expect(new Set(items.map(({ theirs, ambiguity }) => `${theirs} ${ambiguity}`))).toEqual(
      new Set(['200 duplicate_rows']),
    );
    expect(turns).toBeGreaterThan(5);
  });

  test('that would make more items than a reconciliation has ends before they are made', async () => {
    expect(await matchSource(totals, rows(1), about([], { lineItems, maxItems: 999 }))).toBeUndefined();
    expect((await matchSource(totals, rows(1), about([], { lineItems, maxItems: 1_000 })))!.items).toHaveLength(1);
    const ofLedger = about([hour('2026-10-01T05:00', 5), hour('2026-10-02T05:00', 5)], { maxItems: 1 });
    expect(await matchSource(source(), [row('li_1', 5)], ofLedger)).toBeUndefined();
  });
});
