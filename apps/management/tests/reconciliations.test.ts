import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Actor } from '@longwave/command-pipeline';
import { createCloseHandler } from '../src/commerce/reconciliations/close-reconciliation.ts';
import { removeKeptFiles } from '../src/commerce/reconciliations/match-reconciliation.ts';
import { fileSource, openReconciliation, reconciliationChanges, settledMonth } from './_examples-reconciliations.ts';
import { refusalOf, startTestManagement, type TestManagement } from './_management.ts';
import { createReconciling, createTestLedger } from './_reconciling.ts';
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
const running = new AbortController().signal;
/** The nth date of the month that is reconciled. */
const dateOf = (w: World, nth: number) =>
  new Date(Date.parse(settledMonth(w.now()).start) + (nth - 1) * 86_400_000).toISOString().slice(0, 10);

/** A workspace with an owner, two people of finance and a reviewer, all known. */
async function office() {
  const w = createWorld(management);
  await w.provisioned();
  const owner = await w.known();
  const [ann, ben] = [await w.member(['viewer', 'finance']), await w.member(['viewer', 'finance'])];
  const reviewer = await w.member(['viewer', 'reviewer']);
  const { lineItem } = await w.booked({}, undefined);
  return { w, owner, ann: ann.actor, ben: ben.actor, reviewer: reviewer.actor, lineItemId: lineItem.id };
}

/** One that is matched: theirs 12 % above ours on the first day, within 10 % on the second. */
async function matched(w: World, lineItemId: string, ledger = createTestLedger(management.clock)) {
  ledger.count(lineItemId, `${dateOf(w, 1)}T05`, 10_000);
  ledger.count(lineItemId, `${dateOf(w, 2)}T05`, 10_000);
  const text = `Line,Date,Impressions\n${lineItemId},${dateOf(w, 1)},"11,200"\n${lineItemId},${dateOf(w, 2)},10400\n`;
  const changes = await reconciliationChanges(w, lineItemId);
  const opened = await w.send('reconciliation.open', null, { ...changes, sources: [await fileSource(w, text)] });
  return { id: opened.id, ledger, row: await reconciling.match(w, opened.id, ledger) };
}

const undecidedOf = async (id: string) =>
  (await reconciling.items(id)).filter(({ verdict }) => verdict === null).map(({ item_id: item }) => item);

test('a month that is 12 % off on a day is decided by a person, let through by a second, closed by others, and adjusts our number once', async () => {
  const { w, ann, ben, reviewer, owner, lineItemId } = await office();
  const { id, ledger, row } = await matched(w, lineItemId);
  expect(row).toMatchObject({
    lifecycle_state: 'review',
    attributes: {
      totals: { items: 2, ours: 20_000, theirs: 21_600, for_people: 1, undecided: 1, undecided_beyond: 1 },
      found: [{ name: 'gam', rows: 2, outside_period: 0, outside_scope: 0, unknown_rows: 0, unknown_ids: [] }],
    },
  });
  expect(ledger.asked).toEqual([{ countingBasis: 'ad_delivered', lineItemIds: [lineItemId] }]);
  expect((await refusalOf(w.send('reconciliation.close', row as never, {}, ann))).message).toContain(
    'One item is beyond',
  );

  const [itemId] = await undecidedOf(id);
  const decision = {
    item_id: itemId,
    verdict: 'agreed_value',
    value: 10_700,
    note: 'Half of the difference, by mail.',
  };
  const subject = { resource_type: 'reconciliations', id, version: row.version };
  await w.send('reconciliation.decide_item', subject, decision, ann);
  expect(await undecidedOf(id)).toEqual([itemId]);
  await reconciling.approve(w, id, ben);
  const decided = await reconciling.find(w, id);
  expect(decided.attributes.totals).toMatchObject({ undecided: 0, undecided_beyond: 0, for_people: 1 });

  const close = (as: Actor) => w.send('reconciliation.close', { ...subject, version: decided.version }, {}, as);
  expect(await refusalOf(close(ann))).toMatchObject({ code: 'permission_denied' });
  await close(ben);
  expect((await reconciling.find(w, id)).attributes.closing).toBeUndefined();
  // Ann's own verdict is what it charges.
  expect(await refusalOf(reconciling.approve(w, id, ann))).toMatchObject({ code: 'permission_denied' });
  await reconciling.approve(w, id, reviewer, owner.actor);
  // What is restated before the closing is accepted counts; the adjustment makes it the agreed number.
  expect(await reconciling.close(w, id, ledger)).toMatchObject({
    lifecycle_state: 'closed',
    attributes: { closed: { adjustments: 1, units: 700 } },
  });
  expect([...ledger.adjustments.values()]).toMatchObject([
    {
      ...{ reconciliationId: id, itemId, lineItemId, day: dateOf(w, 1), quantity: 700n },
      ...{ countingBasis: 'ad_delivered', reason: 'gam: agreed_value' },
    },
  ]);
  expect((await reconciling.items(id)).map(({ adjusted, verdict }) => [verdict, adjusted])).toEqual([
    ['agreed_value', 700],
    ['ours', null],
  ]);
});

describe('closing', () => {
  /** One whose item beyond the tolerance was decided as theirs. */
  async function decidedAs(verdict: string, ledger = createTestLedger(management.clock)) {
    const w = createWorld(management);
    const { id: lineItemId } = (await w.booked()).lineItem;
    const { id } = await matched(w, lineItemId, ledger);
    const [itemId] = await undecidedOf(id);
    const subject = { resource_type: 'reconciliations', id, version: 0 };
    const read = async () => ({ ...subject, version: (await reconciling.find(w, id)).version });
    await w.send('reconciliation.decide_item', await read(), { item_id: itemId, verdict, note: 'Known.' }, operator);
    return { w, id, ledger, read, lineItemId, itemId };
  }

  test('by twenty at once is accepted once, and twenty runs of its job post each item once', async () => {
    const { w, id, ledger, read } = await decidedAs('theirs');
    const subject = await read();
    const attempts = Array.from({ length: 20 }, () => w.send('reconciliation.close', subject, {}, operator));
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const job = await reconciling.claim('close_reconciliation', id);
    const handler = createCloseHandler(reconciling.optionsOf(ledger));
    await Promise.allSettled(Array.from({ length: 20 }, () => handler.run(job, running)));
    expect((await reconciling.find(w, id)).lifecycle_state).toBe('closed');
    expect(ledger.counts.posts).toBe(20);
    expect([...ledger.adjustments.values()].map(({ quantity }) => quantity)).toEqual([1_200n]);
  });

  test('without a difference posts nothing; a reconciliation that closes takes no verdict and cannot be cancelled', async () => {
    const { w, id, ledger, read, itemId } = await decidedAs('ours');
    await w.send('reconciliation.close', await read(), {}, operator);
    const late = { item_id: itemId, verdict: 'theirs', note: 'Too late.' };
    for (const attempt of [
      w.send('reconciliation.decide_item', await read(), late, operator),
      w.send('reconciliation.cancel', await read(), { cause: 'Too late.' }),
      w.send('reconciliation.match_again', await read(), {}),
      w.send('reconciliation.close', await read(), {}, operator),
    ])
      expect(await refusalOf(attempt)).toMatchObject({ code: 'state_not_allowed' });
    await reconciling.close(w, id, ledger);
    expect([ledger.counts.posts, ledger.adjustments.size]).toEqual([0, 0]);
  });

  test('that failed is seen and repeated, by the same ledger: what was posted stays and the rest follows', async () => {
    const { w, id, ledger, read, lineItemId } = await decidedAs('theirs');
    await w.send('reconciliation.close', await read(), {}, operator);
    const { known_at: knownAt } = (await reconciling.find(w, id)).attributes.closing!;
    const lease = await w.lease('close_reconciliation', id);
    const problem = { code: 'closing_gave_up', detail: 'The sink is away.' };
    await w.send('reconciliation.fail_close', await read(), { problem }, service('management'), lease);
    expect(await reconciling.find(w, id)).toMatchObject({ lifecycle_state: 'review', attributes: { problem } });
    ledger.count(lineItemId, `${dateOf(w, 1)}T05`, 5, management.clock().getTime());
    await w.send('reconciliation.close', await read(), {}, operator);
    const closed = await reconciling.close(w, id, ledger);
    expect(closed.attributes.closed).toEqual({ known_at: knownAt, adjustments: 1, units: 1_200 });
    expect(closed.attributes).not.toHaveProperty('problem');
  });

  test('a wrong one is answered by a later reconciliation of the same days, which starts from what it adjusted', async () => {
    // The clock of the ledger is another one.
    const fast = createTestLedger(() => new Date(management.clock().getTime() + 3_600_000));
    const { w, id, ledger, read, lineItemId } = await decidedAs('theirs', fast);
    await w.send('reconciliation.close', await read(), {}, operator);
    await reconciling.close(w, id, ledger);
    const text = `Line,Date,Impressions\n${lineItemId},${dateOf(w, 1)},10000\n${lineItemId},${dateOf(w, 2)},10400\n`;
    const again = await openReconciliation(w, lineItemId, { sources: [await fileSource(w, text)], tolerance_pct: 1 });
    await reconciling.match(w, again.id, ledger);
    const items = await reconciling.items(again.id);
    expect(items.map(({ day, ours, theirs, beyond }) => [day, ours, theirs, beyond])).toEqual([
      [dateOf(w, 1), 11_200, 10_000, true],
      [dateOf(w, 2), 10_000, 10_400, true],
    ]);
    for (const [index, verdict] of (['theirs', 'ours'] as const).entries()) {
      const { version } = await reconciling.find(w, again.id);
      const changes = { item_id: items[index]!.item_id, verdict, note: 'The file of October was wrong.' };
      await w.send('reconciliation.decide_item', { ...again, version }, changes, operator);
    }
    const { version } = await reconciling.find(w, again.id);
    await w.send('reconciliation.close', { ...again, version }, {}, operator);
    await reconciling.close(w, again.id, ledger);
    expect([...ledger.adjustments.values()].map(({ quantity }) => quantity)).toEqual([1_200n, -1_200n]);
  });

  test('is open to whoever decided where nobody else could', async () => {
    const w = createWorld(management);
    await w.provisioned();
    const { actor } = await w.known();
    const { id } = await matched(w, (await w.booked()).lineItem.id);
    const [itemId] = await undecidedOf(id);
    const subject = { resource_type: 'reconciliations', id };
    const read = async () => ({ ...subject, version: (await reconciling.find(w, id)).version });
    await w.send(
      'reconciliation.decide_item',
      await read(),
      { item_id: itemId, verdict: 'ours', note: 'Ours.' },
      actor,
    );
    await w.send('reconciliation.close', await read(), {}, actor);
    expect((await reconciling.find(w, id)).attributes.closing).toBeDefined();
  });
});

describe('a file', () => {
  test('that cannot be read leaves the reconciliation open with its lines and reasons; another one is matched in its place', async () => {
    const w = createWorld(management);
    const { id: lineItemId } = (await w.booked()).lineItem;
    const ledger = createTestLedger(management.clock);
    const text = `Line,Date,Impressions\n${lineItemId},${dateOf(w, 1)},many\n=cmd(),${dateOf(w, 1)},5\nMüller,${dateOf(w, 1)},5\n`;
    const sources = [await fileSource(w, Buffer.from(text, 'latin1'))];
    const opened = await openReconciliation(w, lineItemId, { sources });
    expect(await refusalOf(w.send('reconciliation.match_again', opened, {}))).toMatchObject({
      code: 'state_not_allowed',
    });
    const failed = await reconciling.match(w, opened.id, ledger);
    expect(failed).toMatchObject({
      lifecycle_state: 'open',
      attributes: {
        problem: { code: 'source_unreadable' },
        findings: [
          { source: 'gam', line: 2, code: 'not_a_count' },
          { source: 'gam', line: 3, code: 'formula' },
          { source: 'gam', line: 4, code: 'not_utf8' },
        ],
      },
    });
    expect(await reconciling.items(opened.id)).toEqual([]);
    const right = await fileSource(w, `Line,Date,Impressions\n${lineItemId},${dateOf(w, 1)},7\n`);
    const subject = { ...opened, version: failed.version };
    await w.send('reconciliation.match_again', subject, { sources: [right] });
    const row = await reconciling.match(w, opened.id, ledger);
    expect(row).toMatchObject({ lifecycle_state: 'review', attributes: { totals: { items: 1, theirs: 7 } } });
    expect(row.attributes).not.toHaveProperty('problem');
    expect(row.attributes).not.toHaveProperty('findings');
  });

  test('is kept with its reconciliation, so that it is matched again after the upload is gone', async () => {
    const w = createWorld(management);
    const ledger = createTestLedger(management.clock);
    const opened = await openReconciliation(w);
    const row = await reconciling.match(w, opened.id, ledger);
    const [source] = row.attributes.sources;
    if (!source || !('storage_key' in source)) throw new Error('a file');
    await management.store.remove(source.storage_key);
    await w.send('reconciliation.match_again', { ...opened, version: row.version }, {});
    expect(await reconciling.match(w, opened.id, ledger)).toMatchObject({ lifecycle_state: 'review' });
  });

  test('leads to line items by external ids, which are added before it is matched again', async () => {
    const w = createWorld(management);
    const ledger = createTestLedger(management.clock);
    const { lineItem } = await w.booked();
    ledger.count(lineItem.id, `${dateOf(w, 1)}T05`, 900);
    const text = `Line,Date,Impressions\nG-77,${dateOf(w, 1)},900\n`;
    const opened = await openReconciliation(w, lineItem.id, { sources: [await fileSource(w, text)] });
    const before = await reconciling.match(w, opened.id, ledger);
    expect(before.attributes.found![0]!.unknown_ids).toEqual([{ id: 'G-77', line: 2, units: 900 }]);
    expect((await reconciling.items(opened.id)).map(({ ambiguity }) => ambiguity)).toEqual(['missing_theirs']);
    await w.send('line_item.amend', lineItem, { external_ids: [{ source: 'gam', id: 'G-77' }] });
    await w.send('reconciliation.match_again', { ...opened, version: before.version }, {});
    await reconciling.match(w, opened.id, ledger);
    expect((await reconciling.items(opened.id)).map(({ ambiguity, verdict }) => [ambiguity, verdict])).toEqual([
      ['none', 'ours'],
    ]);
  });
});

test('two sources of the same ads make an item each, and only one of them is decided otherwise than as ours', async () => {
  const w = createWorld(management);
  const ledger = createTestLedger(management.clock);
  const { id: lineItemId } = (await w.booked()).lineItem;
  ledger.count(lineItemId, `${dateOf(w, 1)}T05`, 1_000);
  const of = (name: string, units: number, rest: object = {}) =>
    fileSource(w, `Line,Date,Impressions\n${lineItemId},${dateOf(w, 1)},${units}\n`, { name, ...rest });
  const sources = [await of('gam', 1_080), await of('podcast-counter', 1_080, { kind: 'ptmg_counter' })];
  const opened = await openReconciliation(w, lineItemId, { sources });
  await reconciling.match(w, opened.id, ledger);
  const items = await reconciling.items(opened.id);
  expect(items.map(({ source, beyond, verdict }) => [source, beyond, verdict])).toEqual([
    ['podcast-counter', true, null],
    ['gam', false, 'ours'],
  ]);
  const decide = async (index: number, verdict: string) => {
    const { version } = await reconciling.find(w, opened.id);
    const changes = { item_id: items[index]!.item_id, verdict, note: 'Known.' };
    return w.send('reconciliation.decide_item', { ...opened, version }, changes, operator);
  };
  await decide(0, 'theirs');
  expect((await refusalOf(decide(1, 'theirs'))).context.errors).toMatchObject([{ code: 'other_source_decided' }]);
  await decide(0, 'ours');
  await decide(1, 'theirs');
});

test('what cannot be reconciled is refused with the field, and leaves nothing: no reconciliation, no job, no hold', async () => {
  const w = createWorld(management);
  const { id: lineItemId } = (await w.booked()).lineItem;
  const draft = await w.lineItem();
  const cancelled = await w.send('line_item.cancel', await w.lineItem(), { cause: 'A mistake.' });
  const archived = await w.send(
    'line_item.archive',
    await w.send('line_item.cancel', await w.lineItem(), { cause: 'A mistake.' }),
    { cause: 'A mistake.' },
  );
  const { period } = await reconciliationChanges(w, lineItemId);
  const source = await fileSource(w, 'Line,Date,Impressions\n');
  const open = await w.upload('counts.csv', Buffer.from('x'));
  const later = (days: number) => new Date(w.now().getTime() + days * 86_400_000).toISOString().slice(0, 10);
  const before = await countRows(w);
  const refusals: readonly (readonly [object, string, string])[] = [
    [{ period: { ...period, end: `${later(-3)}T00:00:00Z` } }, '/changes/period/end', 'not_settled'],
    [{ period: { ...period, start: period.start.replace('T00', 'T01') } }, '/changes/period', 'not_whole_days'],
    [{ time_zone: 'Europe/Berlin' }, '/changes/period', 'not_whole_days'],
    [{ time_zone: 'Australia/Adelaide' }, '/changes/period', 'not_whole_days'],
    [
      { sources: [{ ...source, time_zone: 'Australia/Adelaide' }] },
      '/changes/sources/0/time_zone',
      'time_zone_not_counted',
    ],
    [{ sources: [{ ...source, upload_ref: open.id }] }, '/changes/sources/0/upload_ref', 'public_file'],
    [
      { sources: [{ ...source, columns: { day: 'Date', units: 'Impressions' } }] },
      '/changes/sources/0/columns/line_item',
      'custom',
    ],
    [{ sources: [source, source] }, '/changes/sources', 'custom'],
    [{ tolerance_pct: 21 }, '/changes/tolerance_pct', 'too_big'],
    [{ scope: { line_item_ids: [draft.id, cancelled.id, archived.id] } }, '/changes/scope', 'nothing_sold'],
    [{ scope: { line_item_ids: [`li_${'0'.repeat(26)}`] } }, '/changes/scope/line_item_ids', 'link_not_found'],
    [{ scope: {} }, '/changes/scope', 'custom'],
  ];
  for (const [changes, path, code] of refusals) {
    const asked = { period, scope: { line_item_ids: [lineItemId] }, sources: [source], ...changes };
    const { errors } = (await refusalOf(w.send('reconciliation.open', null, asked))).context;
    expect([path, errors?.map((one) => [one.path, one.code])]).toEqual([path, [[path, code]]]);
  }
  expect(await countRows(w)).toEqual(before);
});

test('line items are in one reconciliation of a period at a time; a provisional one lets people decide every item, and closes when its period is settled', async () => {
  const w = createWorld(management);
  const { id: lineItemId } = (await w.booked()).lineItem;
  const ledger = createTestLedger(management.clock);
  const { period } = await reconciliationChanges(w, lineItemId);
  const current = { start: period.end, end: new Date(Date.parse(period.end) + 40 * 86_400_000).toISOString() };
  const text = `Line,Date,Impressions\n${lineItemId},${current.start.slice(0, 10)},100\n`;
  ledger.count(lineItemId, `${current.start.slice(0, 10)}T05`, 100);
  const changes = { period: current, provisional: true, sources: [await fileSource(w, text)] };
  const both = await Promise.allSettled([
    openReconciliation(w, lineItemId, changes),
    openReconciliation(w, lineItemId, changes),
  ]);
  const opened = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(opened).toHaveLength(1);
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { context: { errors: [{ code: 'under_way' }] } },
  });
  const row = await reconciling.match(w, opened[0]!.id, ledger);
  expect((await reconciling.items(row.id)).map(({ ambiguity, verdict }) => [ambiguity, verdict])).toEqual([
    ['provisional', null],
  ]);
  expect(row.attributes.totals).toMatchObject({ undecided: 1, undecided_beyond: 0 });
  const subject = opened[0]!;
  expect(await refusalOf(w.send('reconciliation.close', { ...subject, version: row.version }, {}))).toMatchObject({
    ...{ code: 'state_not_allowed', message: expect.stringContaining('provisional') },
  });
  // Its numbers are final when it is matched again after its time.
  w.ahead(80 * 86_400_000);
  await w.send('reconciliation.match_again', { ...subject, version: row.version }, {});
  const settled = await reconciling.match(w, row.id, ledger);
  expect(settled.attributes.provisional).toBe(false);
  expect((await reconciling.items(row.id)).map(({ ambiguity, verdict }) => [ambiguity, verdict])).toEqual([
    ['none', 'ours'],
  ]);
  await w.send('reconciliation.cancel', { ...subject, version: settled.version }, { cause: 'A trial.' });
  // Nothing of it is kept but its history.
  expect(await reconciling.items(row.id)).toEqual([]);
  const keptFiles = async () => {
    const keys: string[] = [];
    for await (const { key } of management.store.list(`reconciliations/${row.id}/`)) keys.push(key);
    return keys;
  };
  expect(await keptFiles()).toHaveLength(1);
  await removeKeptFiles(management.store, row.id);
  expect(await keptFiles()).toEqual([]);
  await openReconciliation(w, lineItemId, changes);
});

async function countRows(w: World): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of ['resource', 'operation', 'receipt', 'job', 'reconciliation_item']) {
    const { rows } = await w.pool.query<{ count: string }>(`select count(*) from ${table} where workspace_id = $1`, [
      w.workspaceId,
    ]);
    counts[table] = Number(rows[0]!.count);
  }
  return counts;
}
