import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { daysOf } from '@longwave/podcast-analytics/zoned-days';
import { dayOf } from '../src/commerce/reconciliations/reconciliation.ts';
import { fileSource, openReconciliation, reconciliationChanges, settledMonth } from './_examples-reconciliations.ts';
import { refusalOf, startTestManagement, type TestManagement } from './_management.ts';
import { createReconciling, createTestLedger, type TestLedger } from './_reconciling.ts';
import { service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
let reconciling: ReturnType<typeof createReconciling>;
beforeAll(async () => {
  management = await startTestManagement();
  reconciling = createReconciling(management);
});
afterAll(async () => management?.[Symbol.asyncDispose]());

const operator = service('operator');
/** The nth date of the month that is reconciled. */
const dateOf = (w: World, nth: number) =>
  new Date(Date.parse(settledMonth(w.now()).start) + (nth - 1) * 86_400_000).toISOString().slice(0, 10);
const csv = (rows: readonly (readonly [id: string, day: string, units: number])[]) =>
  `Line,Date,Impressions\n${rows.map((row) => `${row.join(',')}\n`).join('')}`;

/** A reconciliation that is matched, and the version of it as it is. */
async function match(w: World, lineItemId: string, ledger: TestLedger, changes: object) {
  const { id } = await openReconciliation(w, lineItemId, changes);
  await reconciling.match(w, id, ledger);
  const read = async () => ({
    ...{ resource_type: 'reconciliations', id },
    version: (await reconciling.find(w, id)).version,
  });
  return {
    id,
    items: await reconciling.items(id),
    decide: async (itemId: string, verdict: string) =>
      w.send('reconciliation.decide_item', await read(), { item_id: itemId, verdict, note: 'Known.' }, operator),
    close: async () => {
      await w.send('reconciliation.close', await read(), {}, operator);
      return reconciling.close(w, id, ledger);
    },
  };
}

test('items, their adjustments and closing are in the units of the period, whatever a line item is amended to before or meanwhile', async () => {
  const w = createWorld(management);
  const ledger = createTestLedger(management.clock);
  const { lineItem } = await w.booked();
  await w.planned(lineItem.id);
  const begun = await w.send('line_item.start_flight', lineItem, {}, service('management'));
  const amended = await w.send('line_item.amend', begun, { goal: { unit: 'completes', quantity: 1_000 } });
  ledger.count(lineItem.id, `${dateOf(w, 1)}T05`, 10_000);
  const sources = [await fileSource(w, csv([[lineItem.id, dateOf(w, 1), 11_200]]))];
  const { items, decide, close } = await match(w, lineItem.id, ledger, { sources });
  expect(items.map((item) => item.ours_basis)).toEqual(['ad_delivered']);
  await decide(items[0]!.item_id, 'theirs');
  await w.send('line_item.amend', amended, { goal: { unit: 'impressions', quantity: 900 } });
  await close();
  expect(new Set(ledger.asked.map(({ countingBasis }) => countingBasis))).toEqual(new Set(['ad_delivered']));
  expect([...ledger.adjustments.values()]).toMatchObject([{ quantity: 1_200n, countingBasis: 'ad_delivered' }]);
});

test('rows that name servings are matched with our units one by one, and their item says how many both have', async () => {
  const w = createWorld(management);
  const ledger = createTestLedger(management.clock);
  const { lineItem } = await w.booked();
  const [both, theirs, unknown] = Array.from({ length: 3 }, () => newId('srv'));
  const known = (servingId: string) => ({ servingId, lineItemId: lineItem.id, creativeId: 'crv_1', hourMs: undefined });
  ledger.count(lineItem.id, `${dateOf(w, 1)}T23`, 2);
  ledger.servings.set(both!, { ...known(both!), hourMs: BigInt(Date.parse(`${dateOf(w, 1)}T23:00Z`)) });
  ledger.servings.set(theirs!, known(theirs!));
  const rows = [both, theirs, unknown].map((id) => `${id},${dateOf(w, 2)},1\n`);
  const columns = { serving: 'Serving', day: 'Date', units: 'Impressions' };
  const sources = [await fileSource(w, `Serving,Date,Impressions\n${rows.join('')}`, { columns })];
  const { id, items } = await match(w, lineItem.id, ledger, { sources });
  const byDay = items.toSorted((one, other) => one.day!.localeCompare(other.day!));
  expect(byDay.map(({ day, ours, theirs: counted, matched }) => [day, ours, counted, matched])).toEqual([
    [dateOf(w, 1), 2, 1, 1],
    [dateOf(w, 2), 0, 1, 0],
  ]);
  const [found] = (await reconciling.find(w, id)).attributes.found!;
  expect(found).toMatchObject({ unknown_rows: 1, unknown_ids: [{ id: unknown, line: 4, units: 1 }] });
});

test('closing needs a verdict of what the source leaves out, repeats or counts by another basis, however small; its reviewers see the tolerance', async () => {
  const w = createWorld(management);
  await w.provisioned();
  await w.known();
  const [{ actor: ann }, { actor: ben }] = [
    await w.member(['viewer', 'finance']),
    await w.member(['viewer', 'finance']),
  ];
  const { actor: reviewer } = await w.member(['viewer', 'reviewer']);
  const { id: lineItemId } = (await w.booked({}, undefined)).lineItem;
  const ledger = createTestLedger(management.clock);
  for (const nth of [1, 2]) ledger.count(lineItemId, `${dateOf(w, nth)}T05`, 20);
  const changes = await reconciliationChanges(w, lineItemId, { smallest_difference: 1_000 });
  const row = `${lineItemId},${dateOf(w, 2)},10\n`;
  const opened = await w.send('reconciliation.open', null, {
    ...changes,
    sources: [
      await fileSource(w, `Line,Date,Impressions\n${row}${row}`),
      await fileSource(w, `Line,Date,Impressions\n${lineItemId},${dateOf(w, 1)},20\n${row}`, {
        ...{ name: 'player', counting_basis: 'client_event' },
      }),
    ],
  });
  await reconciling.match(w, opened.id, ledger);
  const items = await reconciling.items(opened.id);
  expect(items.map(({ ambiguity, beyond }) => [ambiguity, beyond]).toSorted()).toEqual([
    ['basis_differs', false],
    ['basis_differs', false],
    ['duplicate_rows', false],
    ['missing_theirs', false],
  ]);
  const read = async () => ({ ...opened, version: (await reconciling.find(w, opened.id)).version });
  for (const [decided, { item_id: itemId }] of items.entries()) {
    const refusal = await refusalOf(w.send('reconciliation.close', await read(), {}, ben));
    expect([refusal.code, refusal.message]).toEqual([
      'state_not_allowed',
      expect.stringContaining(decided === 3 ? 'One item is' : `${4 - decided} items are`),
    ]);
    await w.send('reconciliation.decide_item', await read(), { item_id: itemId, verdict: 'ours', note: 'Ours.' }, ann);
    await reconciling.approve(w, opened.id, reviewer);
  }
  await w.send('reconciliation.close', await read(), {}, ben);
  expect((await w.taskOf(opened.id)).attributes).toMatchObject({
    shown: {
      tolerances: [
        { source: 'gam', tolerance_pct: 10 },
        { source: 'player', tolerance_pct: 10 },
      ],
      smallest_difference: 1_000,
      undecided: 0,
    },
  });
});

test('a day of one source is in one reconciliation at a time, and adjusted once, whatever the zones of the reconciliations are', async () => {
  const w = createWorld(management);
  const ledger = createTestLedger(management.clock);
  const { id: lineItemId } = (await w.booked()).lineItem;
  const day = dateOf(w, 2);
  const [east, west] = ['Pacific/Kiritimati', 'Pacific/Pago_Pago'] as const;
  const dayIn = (zone: string) => {
    const { startMs } = daysOf(zone);
    const [start, end] = [0, 1].map((nth) => new Date(startMs(dayOf(day) + nth)).toISOString());
    return { period: { start, end }, time_zone: zone };
  };
  ledger.count(lineItemId, `${day}T15`, 1_000);
  const sources = [await fileSource(w, csv([[lineItemId, day, 1_500]]), { time_zone: west })];
  const first = await match(w, lineItemId, ledger, { ...dayIn(east), sources });
  const again = {
    ...dayIn(west),
    sources: [await fileSource(w, csv([[lineItemId, day, 1_500]]), { time_zone: west })],
  };
  expect((await refusalOf(openReconciliation(w, lineItemId, again))).context.errors).toMatchObject([
    { path: '/changes/scope', code: 'under_way' },
  ]);
  await first.decide(first.items[0]!.item_id, 'theirs');
  await first.close();
  const { items } = await match(w, lineItemId, ledger, again);
  expect(items.map(({ ours, theirs }) => [ours, theirs])).toEqual([[1_500, 1_500]]);
});

test('what no adjustment could say is refused: a source by its sum, and a difference before anything is posted', async () => {
  const w = createWorld(management);
  const ledger = createTestLedger(management.clock);
  const { id: lineItemId } = (await w.booked()).lineItem;
  const [one, two] = [dateOf(w, 1), dateOf(w, 2)];
  const many = csv([
    [lineItemId, one, 400_000_000_000],
    [lineItemId, two, 400_000_000_000],
  ]);
  const refused = await openReconciliation(w, lineItemId, { sources: [await fileSource(w, many)] });
  const { attributes, version } = await reconciling.match(w, refused.id, ledger);
  expect(attributes).toMatchObject({
    ...{ problem: { code: 'source_unreadable' }, findings: [{ source: 'gam', code: 'too_many_units' }] },
  });
  await w.send('reconciliation.cancel', { ...refused, version }, { cause: 'A trial.' });

  ledger.count(lineItemId, `${one}T05`, 10_000);
  const sources = [await fileSource(w, csv([[lineItemId, one, 11_200]]))];
  const { items, decide, close } = await match(w, lineItemId, ledger, { sources });
  await decide(items[0]!.item_id, 'theirs');
  ledger.count(lineItemId, `${one}T05`, -1_000_000_000_000);
  expect(await close()).toMatchObject({
    lifecycle_state: 'review',
    attributes: { problem: { code: 'too_many_units' } },
  });
  expect(ledger.counts.posts).toBe(0);
  await decide(items[0]!.item_id, 'ours');
  expect((await close()).lifecycle_state).toBe('closed');
});

test('a period in which a line item was charged by several units cannot be matched; up to the day of the change, and from it on, it can', async () => {
  const w = createWorld(management);
  const dayMs = 86_400_000;
  const { lineItem } = await w.booked();
  await w.planned(lineItem.id);
  const begun = await w.send('line_item.start_flight', lineItem, {}, service('management'));
  const midnight = (days: number) => new Date((Math.floor(w.now().getTime() / dayMs) + days) * dayMs).toISOString();
  const [start, cut, end] = [midnight(0), midnight(3), midnight(6)];
  w.ahead(3 * dayMs);
  const goal = { unit: 'completes', quantity: 1_000 };
  await w.send('line_item.amend', begun, { goal, allow_overbook: true, cause: 'Heard to the end.' }, operator);
  w.ahead(20 * dayMs);
  const ledger = createTestLedger(management.clock);
  const matched = async (period: { start: string; end: string }) => {
    const row = csv([[lineItem.id, period.start.slice(0, 10), 100]]);
    const { id, ...opened } = await openReconciliation(w, lineItem.id, { period, sources: [await fileSource(w, row)] });
    const { lifecycle_state: state, version, attributes } = await reconciling.match(w, id, ledger);
    const bases = (await reconciling.items(id)).map((item) => item.ours_basis);
    return { subject: { ...opened, id, version }, state, problem: attributes.problem, bases };
  };
  const { subject, state, problem } = await matched({ start, end });
  expect([state, problem]).toMatchObject(['open', { code: 'several_bases' }]);
  expect(problem!.detail).toContain(`${lineItem.id} at ${cut.slice(0, 10)}`);
  await w.send('reconciliation.cancel', subject, { cause: 'The unit has changed.' });
  expect(await matched({ start, end: cut })).toMatchObject({ state: 'review', bases: ['ad_delivered'] });
  expect(await matched({ start: cut, end })).toMatchObject({ state: 'review', bases: ['completes'] });
});
