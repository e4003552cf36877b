import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { computeStatement } from '@longwave/money';
import { daysOf } from '@longwave/podcast-analytics/zoned-days';
import { createReadStatementLedger } from '../src/commerce/billing/read-statement-ledger.ts';
import { createSignStatement } from '../src/commerce/billing/statement-documents.ts';
import { makegoodLine, scheduledFor } from './_examples-makegoods.ts';
import { at, cpm, createBilling, dayFrom, passTo, waiver } from './_billing.ts';
import { refusalOf, startTestManagement, type TestManagement } from './_management.ts';
import { person, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
let billing: ReturnType<typeof createBilling>;
beforeAll(async () => {
  management = await startTestManagement();
  billing = createBilling(management);
});
afterAll(async () => management?.[Symbol.asyncDispose]());

const operator = service('operator');
const linesOf = ({ attributes }: Awaited<ReturnType<typeof billing.find>>) =>
  attributes.lines!.map(({ kind, units, price_micros, amount_micros }) => [kind, units, price_micros, amount_micros]);

async function countRows(w: World) {
  const { rows } = await management.pool.query(
    `select (select count(*) from resource where workspace_id = $1 and resource_type = 'billing_statements')::int as statements,
       (select count(*) from job where workspace_id = $1 and kind like '%statement')::int as jobs,
       coalesce((select last from billing_number where workspace_id = $1), 0) as number`,
    [w.workspaceId],
  );
  return rows[0];
}

describe('what is charged', () => {
  test('a flat price over three months of different length sums to the price exactly, in statements that follow each other', async () => {
    const w = createWorld(management);
    const from = w.now();
    const price = { amount_micros: '1000010000', currency: 'EUR' };
    const { campaign } = await billing.flight(w, 91, { rate: { model: 'flat', price } });
    const totals: string[] = [];
    for (const [first, last] of [
      [0, 30],
      [30, 61],
      [61, 91],
    ] as const) {
      passTo(w, from, last);
      const issued = await billing.issued(w, campaign, { start: dayFrom(from, first), end: dayFrom(from, last) });
      totals.push(issued.attributes.total_micros!);
      expect(issued.attributes.lines).toHaveLength(1);
    }
    expect(totals).toEqual(['329670000', '340670000', '329670000']);
    expect(totals.reduce((sum, total) => sum + Number(total), 0)).toBe(1_000_010_000);
  });

  test('facts that come after a statement are a correction line in the next one, and the earlier statement reads as before', async () => {
    const w = createWorld(management);
    const from = w.now();
    const { campaign, lineItem } = await billing.flight(w, 60, cpm('10000000'));
    management.ledger.count(lineItem.id, 3000, at(from, 12));
    passTo(w, from, 30);
    const first = await billing.issued(w, campaign, { start: dayFrom(from, 0), end: dayFrom(from, 30) });
    expect(linesOf(first)).toEqual([['charge', 3000, '10000000', '30000000']]);

    // A restatement of the first month, and a delivery of it that was held until now.
    management.ledger.count(lineItem.id, -120, at(from, 12), { recordedAt: at(from, 40) });
    management.ledger.count(lineItem.id, 20, at(from, 20), { recordedAt: at(from, 45) });
    management.ledger.count(lineItem.id, 1500, at(from, 50));
    passTo(w, from, 60);
    const second = await billing.issued(w, campaign, { start: dayFrom(from, 30), end: dayFrom(from, 60) });
    expect(linesOf(second)).toEqual([
      ['charge', 1500, '10000000', '15000000'],
      ['correction', -100, '10000000', '-1000000'],
    ]);
    expect(second.attributes).toMatchObject({ number: 2, total_micros: '14000000', kind: 'invoice' });

    const readAgain = createReadStatementLedger(management.pool, management.ledger);
    for (const { id, attributes } of [first, second]) {
      const { readings } = await readAgain(w.workspaceId, id, new AbortController().signal);
      const again = computeStatement(attributes.inputs, readings, daysOf(attributes.inputs.time_zone));
      expect(again).toEqual({ lines: attributes.lines, total_micros: attributes.total_micros });
    }
  });

  test('a new price counts for servings that were decided from then on, also when they are delivered later', async () => {
    const w = createWorld(management);
    const from = w.now();
    const { campaign, lineItem } = await billing.flight(w, 30, cpm('10000000'));
    const later = dayFrom(from, 10);
    const { rate } = cpm('20000000');
    await w.send('line_item.amend', lineItem, { rate, effective_at: later });
    passTo(w, from, 11);
    await w.send(
      'line_item.apply_amendment',
      { resource_type: 'line_items', id: lineItem.id, version: lineItem.version + 1 },
      {},
      service('management'),
    );
    management.ledger.count(lineItem.id, 1000, at(from, 9), { deliveredAt: at(from, 14), recordedAt: at(from, 14) });
    management.ledger.count(lineItem.id, 500, at(from, 10.5));
    passTo(w, from, 30);
    const statement = await billing.draft(w, campaign, { start: dayFrom(from, 0), end: dayFrom(from, 30) });
    expect(linesOf(statement)).toEqual([
      ['charge', 1000, '10000000', '10000000'],
      ['charge', 500, '20000000', '10000000'],
    ]);
    expect(statement.attributes.lines![1]!.rate_from).toBe(later);
  });

  test('an adjustment of a reconciliation is charged, nothing above the goal is, and makegoods are not', async () => {
    const w = createWorld(management);
    const from = w.now();
    const sold = { ...cpm('10000000'), goal: { unit: 'impressions', quantity: 2000 } };
    const { campaign, lineItem } = await billing.flight(w, 30, sold);
    const other = await billing.flight(w, 30, { ...cpm('10000000'), goal: sold.goal }, campaign);
    const short = await w.send('line_item.stop', other.lineItem, { cause: 'The show ended.' }, operator);
    const unsold = { start: dayFrom(from, 0), end: dayFrom(from, 30) };
    const unpaid = await makegoodLine(w, await scheduledFor(w, short, 2000), short, { window: unsold });
    const makegood = await billing.began(w, (await w.sold(unpaid)).lineItem);
    management.ledger.count(lineItem.id, 1900, at(from, 5));
    management.ledger.count(makegood.id, 700, at(from, 5));
    const adjust = (itemId: string, quantity: bigint) =>
      management.ledger.adjustments.push({
        ...{
          itemId,
          lineItemId: lineItem.id,
          day: dayFrom(from, 5).slice(0, 10),
          quantity,
          countingBasis: 'ad_delivered',
        },
        ...{ reason: 'agreed_value', reconciliationId: 'rec_1', recordedAtMs: BigInt(at(from, 6).getTime()) },
      });
    adjust('i1', -50n);
    passTo(w, from, 8);
    const first = await billing.issued(w, campaign, { start: dayFrom(from, 0), end: dayFrom(from, 8) });
    expect(linesOf(first)).toEqual([['charge', 1850, '10000000', '18500000']]);
    expect(first.attributes.evidence!.adjustments.count).toBe(1);
    management.ledger.count(lineItem.id, 400, at(from, 20));
    passTo(w, from, 30);
    const second = await billing.issued(w, campaign, { start: dayFrom(from, 8), end: dayFrom(from, 30) });
    expect(linesOf(second)).toEqual([['charge', 150, '10000000', '1500000']]);
  });

  test('more adjustments than a statement could name are charged; it has their number and a digest over them', async () => {
    const w = createWorld(management);
    const from = w.now();
    const { campaign, lineItem } = await billing.flight(w, 30, cpm('10000000'));
    management.ledger.count(lineItem.id, 1000, at(from, 0.1));
    const common = {
      ...{ lineItemId: lineItem.id, day: dayFrom(from, 0).slice(0, 10), quantity: 1n, countingBasis: 'ad_delivered' },
      ...{ reason: 'gam: theirs', reconciliationId: 'rec_1', recordedAtMs: BigInt(at(from, 0.2).getTime()) },
    };
    const { length } = management.ledger.adjustments;
    for (let item = 0; item < 100_001; item++) management.ledger.adjustments.push({ ...common, itemId: `i${item}` });
    passTo(w, from, 1);
    const { attributes } = await billing.draft(w, campaign, { start: dayFrom(from, 0), end: dayFrom(from, 1) });
    management.ledger.adjustments.length = length;
    expect(attributes.lines).toMatchObject([{ units: 101_001 }]);
    expect(attributes.evidence!.adjustments).toMatchObject({ count: 100_001 });
  });

  test.each([
    ['JPY', '11000000', '11'],
    ['EUR', '10540000', '10.54'],
    ['BHD', '10545000', '10.545'],
  ])('amounts in %s have the digits of the currency, in every document', async (currency, total, text) => {
    const w = createWorld(management);
    const from = w.now();
    const { campaign, lineItem } = await billing.flight(w, 30, cpm('18500000', currency));
    management.ledger.count(lineItem.id, 570, at(from, 3));
    passTo(w, from, 30);
    const { id, attributes } = await billing.issued(w, campaign, { start: dayFrom(from, 0), end: dayFrom(from, 30) });
    expect(attributes.total_micros).toBe(total);
    const sign = createSignStatement(management.pool, management.store, management.clock);
    for (const format of ['csv', 'html'] as const) {
      const signed = await sign(w.workspaceId, id, format);
      const bytes = Buffer.from(await (await fetch(signed.url)).arrayBuffer());
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(signed.sha256);
      expect(bytes.toString()).toContain(format === 'csv' ? `${text},${currency}` : `${text} ${currency}`);
    }
  });

  test('a credit note gives back what was charged too much; without that none is made', async () => {
    const w = createWorld(management);
    const from = w.now();
    const { campaign, lineItem } = await billing.flight(w, 30, cpm('10000000'));
    management.ledger.count(lineItem.id, 1000, at(from, 3));
    passTo(w, from, 10);
    const invoice = await billing.issued(w, campaign, { start: dayFrom(from, 0), end: dayFrom(from, 10) });
    const corrects = { corrects: invoice.id, period: undefined };
    const none = await billing.draft(w, campaign, invoice.attributes.period, corrects);
    expect(none).toMatchObject({ lifecycle_state: 'voided', attributes: { problem: { code: 'nothing_to_credit' } } });
    management.ledger.count(lineItem.id, -300, at(from, 3), { recordedAt: at(from, 11) });
    passTo(w, from, 12);
    const note = await billing.issued(w, campaign, invoice.attributes.period, corrects);
    expect(note.attributes).toMatchObject({
      ...{ kind: 'credit_note', corrects: invoice.id, number: 2, total_micros: '-3000000' },
      ...{ period: invoice.attributes.period, parties: { corrected_number: 1, io_number: 'IO-7' } },
    });
    expect(linesOf(note)).toEqual([['correction', -300, '10000000', '-3000000']]);
  });

  test('a house line item is not charged, also one with a price', async () => {
    const w = createWorld(management);
    const from = w.now();
    const { campaign, lineItem } = await billing.flight(w, 30, cpm('10000000'));
    const house = await billing.flight(w, 30, { ...cpm('10000000'), type: 'house' }, campaign);
    management.ledger.count(lineItem.id, 100, at(from, 0.1));
    management.ledger.count(house.lineItem.id, 700, at(from, 0.1));
    passTo(w, from, 1);
    const { attributes } = await billing.draft(w, campaign, { start: dayFrom(from, 0), end: dayFrom(from, 1) });
    expect(attributes.lines!.map(({ line_item_id: id, units }) => [id, units])).toEqual([[lineItem.id, 100]]);
  });

  test('a line item that served and was stopped before anybody saw it deliver is charged, from the start of its window on', async () => {
    const w = createWorld(management);
    const from = w.now();
    const window = { start: dayFrom(from, 0), end: dayFrom(from, 30) };
    const campaign = await billing.campaign(w, 30);
    const { lineItem } = await w.booked({ window, ...cpm('10000000') }, campaign);
    management.ledger.count(lineItem.id, 300, at(from, 0.1));
    const paused = await w.send('line_item.pause', lineItem, { cause: 'The offer ended.' }, operator);
    passTo(w, from, 2);
    await w.send('line_item.stop', paused, { cause: 'The offer ended.' }, operator);
    passTo(w, from, 3);
    const statement = await billing.draft(w, campaign, { start: dayFrom(from, 0), end: dayFrom(from, 3) });
    expect(linesOf(statement)).toEqual([['charge', 300, '10000000', '3000000']]);
    expect(statement.attributes.inputs.line_items).toMatchObject([
      { began_at: lineItem.updated_at, ended: { state: 'stopped' }, rates: [{ from: lineItem.updated_at }] },
    ]);
  });
});

describe('what is refused', () => {
  test('a period that is not counted to its end, one that is charged already, and one without reconciliation; nothing is left of them', async () => {
    const w = createWorld(management);
    const from = w.now();
    const { campaign, lineItem } = await billing.flight(w, 60, cpm('10000000'));
    management.ledger.count(lineItem.id, 100, at(from, 3));
    const month = { start: dayFrom(from, 0), end: dayFrom(from, 30) };
    expect(await refusalOf(billing.ask(w, campaign, month))).toMatchObject({
      ...{ code: 'state_not_allowed', message: expect.stringContaining('are counted until') },
    });
    passTo(w, from, 30);
    management.ledger.completeUntil = at(from, 29);
    expect(await refusalOf(billing.ask(w, campaign, month))).toMatchObject({ code: 'state_not_allowed' });
    management.ledger.completeUntil = undefined;
    const unreconciled = { waive_reconciliation: undefined };
    expect(await refusalOf(billing.ask(w, campaign, month, unreconciled))).toMatchObject({
      ...{ code: 'state_not_allowed', message: expect.stringContaining('waive_reconciliation') },
    });
    expect(await countRows(w)).toEqual({ statements: 0, jobs: 0, number: 0 });
    await billing.issued(w, campaign, month);
    const before = await countRows(w);
    expect(await refusalOf(billing.ask(w, campaign, { ...month, end: dayFrom(from, 29) }))).toMatchObject({
      ...{ code: 'validation_failed', context: { errors: [{ path: '/changes/period', code: 'charged_already' }] } },
    });
    expect(await countRows(w)).toEqual(before);
  });

  test('a closed reconciliation of campaign and period takes the place of a waiver, as soon as its adjustments are counted', async () => {
    const w = createWorld(management);
    const from = w.now();
    const { campaign, lineItem } = await billing.flight(w, 60, cpm('10000000'));
    management.ledger.count(lineItem.id, 100, at(from, 3));
    passTo(w, from, 30);
    const period = { start: dayFrom(from, 0), end: dayFrom(from, 30) };
    const id = newId('rec');
    const closedAt = w.now();
    const close = (reconciliation: string, provisional: boolean) =>
      management.pool.query(
        `insert into resource (id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at)
         values ($1, $2, 'reconciliations', 1, 'closed', $3, '', '', $4, $4)`,
        [reconciliation, w.workspaceId, { period, provisional, scope: { campaign_ids: [campaign.id] } }, closedAt],
      );
    const unwaived = { waive_reconciliation: undefined };
    await close(newId('rec'), true);
    expect(await refusalOf(billing.ask(w, campaign, period, unwaived))).toMatchObject({ code: 'state_not_allowed' });
    await close(id, false);
    management.ledger.completeUntil = new Date(closedAt.getTime() - 1000);
    expect(await refusalOf(billing.ask(w, campaign, period, unwaived))).toMatchObject({
      code: 'temporarily_unavailable',
    });
    management.ledger.completeUntil = undefined;
    w.ahead(5_000);
    const { attributes } = await billing.draft(w, campaign, period, unwaived);
    expect(attributes.inputs.reconciliation_ids).toEqual([id]);
    passTo(w, from, 31);
    const longer = { ...period, end: dayFrom(from, 31) };
    expect(await refusalOf(billing.ask(w, campaign, longer, unwaived))).toMatchObject({ code: 'state_not_allowed' });
    const odd = { ...period, end: at(from, 30.01).toISOString() };
    expect(await refusalOf(billing.ask(w, campaign, odd))).toMatchObject({
      context: { errors: [{ path: '/changes/period', code: 'not_whole_hours' }] },
    });
  });

  test('a price in another currency than before: by its amendment, and where earlier prices have one', async () => {
    const w = createWorld(management);
    const from = w.now();
    const { campaign, lineItem } = await billing.flight(w, 30, cpm('10000000', 'EUR'));
    management.ledger.count(lineItem.id, 300, at(from, 0.1));
    const { rate } = cpm('10000000', 'USD');
    expect(await refusalOf(w.send('line_item.amend', lineItem, { rate }))).toMatchObject({
      context: { errors: [{ path: '/changes/rate/price/currency', code: 'other_currency' }] },
    });
    // A release that did not refuse it has saved it.
    await management.pool.query(
      `insert into revision (resource_id, version, lifecycle_state, attributes, digest, operation_id, created_at)
       select id, version + 1, lifecycle_state, jsonb_set(attributes, '{rate}', $2), digest, operation_id, $3
       from resource where id = $1`,
      [lineItem.id, rate, w.now()],
    );
    passTo(w, from, 1);
    const period = { start: dayFrom(from, 0), end: dayFrom(from, 1) };
    expect(await refusalOf(billing.ask(w, campaign, period))).toMatchObject({
      ...{ message: expect.stringContaining('EUR and USD'), context: { errors: [{ code: 'mixed_currencies' }] } },
    });
  });

  test('a campaign in several currencies, and one without any; both refusals say what to do', async () => {
    const w = createWorld(management);
    const from = w.now();
    const { campaign } = await billing.flight(w, 30, cpm('10000000', 'USD'));
    await billing.flight(w, 30, cpm('10000000', 'EUR'), campaign);
    const free = await billing.flight(w, 30, { type: 'house', rate: { model: 'none' }, goal: { unit: 'unlimited' } });
    passTo(w, from, 1);
    const period = { start: dayFrom(from, 0), end: dayFrom(from, 1) };
    expect(await refusalOf(billing.ask(w, campaign, period))).toMatchObject({
      ...{ message: expect.stringContaining('EUR and USD'), context: { errors: [{ code: 'mixed_currencies' }] } },
    });
    expect(await refusalOf(billing.ask(w, free.campaign, period))).toMatchObject({
      ...{ message: expect.stringContaining('no currency'), context: { errors: [{ code: 'no_currency' }] } },
    });
  });

  test('a person who waives the reconciliation waits for two others; with a closed one for nobody', async () => {
    const w = createWorld(management);
    const from = w.now();
    const { campaign, lineItem } = await billing.flight(w, 30, cpm('10000000'));
    management.ledger.count(lineItem.id, 100, at(from, 0.1));
    passTo(w, from, 1);
    const outcome = await management.execute(
      {
        ...{ workspaceId: w.workspaceId, commandType: 'billing_statement.generate', idempotencyKey: newId('req') },
        subject: { type: 'billing_statements', id: null, version: 0 },
        changes: {
          campaign_id: campaign.id,
          period: { start: dayFrom(from, 0), end: dayFrom(from, 1) },
          waive_reconciliation: waiver,
        },
      },
      person(w.workspaceId, ['viewer', 'finance']),
    );
    expect(JSON.parse(outcome.operationJson)).toMatchObject({
      ...{ state: 'waiting_review', review: { declared: 'dual', applied: 'dual' } },
    });
    expect(await countRows(w)).toMatchObject({ statements: 0 });
  });

  test('a line item cannot be archived while a statement that charges it is open', async () => {
    const w = createWorld(management);
    const from = w.now();
    const { campaign, lineItem } = await billing.flight(w, 30, cpm('10000000'));
    management.ledger.count(lineItem.id, 100, at(from, 0.1));
    const stopped = await w.send('line_item.stop', lineItem, { cause: 'It is over.' }, operator);
    passTo(w, from, 1);
    const statement = await billing.issued(w, campaign, { start: dayFrom(from, 0), end: dayFrom(from, 1) });
    const archive = () => w.send('line_item.archive', stopped, { cause: 'It is over.' });
    expect(await refusalOf(archive())).toMatchObject({
      code: 'still_in_use',
      message: expect.stringContaining('Statement 1'),
    });
    await w.send('billing_statement.settle', statement, { payment_ref: 'SEPA 1' }, operator);
    expect(await archive()).toMatchObject({ lifecycle_state: 'archived' });
  });
});
