import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ResourceView } from '@longwave/events';
import { earlierCharges, renderStatement, statementOf } from '@longwave/money';
import { recordStatements } from '@longwave/test-kit/statements';
import pg from 'pg';
import { computed, issueOf } from '../src/commerce/billing/billing-statement.ts';
import { createReadStatementLedger } from '../src/commerce/billing/read-statement-ledger.ts';
import { at, cpm, createBilling, dayFrom, passTo } from './_billing.ts';
import { refusalOf, startTestManagement, type TestManagement } from './_management.ts';
import { service } from './_values.ts';
import { createWorld } from './_world.ts';

let management: TestManagement;
let billing: ReturnType<typeof createBilling>;
beforeAll(async () => {
  management = await startTestManagement();
  billing = createBilling(management);
});
afterAll(async () => management?.[Symbol.asyncDispose]());

const operator = service('operator');

test('numbers have no gaps when twenty are issued at once, two of one campaign among them, of which one is refused', async () => {
  const w = createWorld(management);
  const from = w.now();
  const flights = [];
  for (let n = 0; n < 20; n++) flights.push(await billing.flight(w, 30, cpm('10000000')));
  for (const { lineItem } of flights) management.ledger.count(lineItem.id, 100, at(from, 0.1));
  passTo(w, from, 1);
  const period = { start: dayFrom(from, 0), end: dayFrom(from, 1) };
  const drafts = [];
  for (const { campaign } of [flights[0]!, ...flights]) drafts.push(await billing.draft(w, campaign, period));
  const answers = await Promise.allSettled(
    drafts.map((draft) => w.send('billing_statement.issue', draft, {}, operator)),
  );
  const refused = answers.filter(({ status }) => status === 'rejected');
  expect(refused).toMatchObject([
    { reason: { code: 'state_not_allowed', message: expect.stringContaining('new draft') } },
  ]);
  const { rows } = await management.pool.query<{ number: number }>(
    `select (attributes ->> 'number')::int as number from resource
       where workspace_id = $1 and resource_type = 'billing_statements' and lifecycle_state = 'issued' order by 1`,
    [w.workspaceId],
  );
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
});

test('a statement whose issuing waits has no number: a review that is withdrawn or declined takes none of the next one', async () => {
  const w = createWorld(management);
  const from = w.now();
  const { campaign, lineItem } = await billing.flight(w, 30, cpm('10000000'));
  management.ledger.count(lineItem.id, 100, at(from, 0.1));
  passTo(w, from, 1);
  const draft = await billing.draft(w, campaign, { start: dayFrom(from, 0), end: dayFrom(from, 1) });
  const asked = async () => {
    await w.send('billing_statement.issue', draft, {});
    return w.taskOf(draft.id);
  };
  await w.send('review.withdraw', await asked(), {});
  await w.send('review.decline', await asked(), { note: 'The purchase order is missing.' }, w.reviewer);
  const task = await asked();
  await w.send('review.approve', task, {}, w.reviewer);
  await management.runApproved(w.workspaceId, task.id);
  expect(await billing.find(w, draft.id)).toMatchObject({ lifecycle_state: 'issued', attributes: { number: 1 } });
});

test('the newest of a campaign can be voided: it keeps its number, its negative stands beside it, and the next one charges again', async () => {
  const w = createWorld(management);
  const from = w.now();
  const { campaign, lineItem } = await billing.flight(w, 30, cpm('10000000'));
  management.ledger.count(lineItem.id, 100, at(from, 0.1));
  management.ledger.count(lineItem.id, 200, at(from, 1.1));
  passTo(w, from, 1);
  const first = await billing.issued(w, campaign, { start: dayFrom(from, 0), end: dayFrom(from, 1) });
  passTo(w, from, 2);
  const second = await billing.issued(w, campaign, { start: dayFrom(from, 1), end: dayFrom(from, 2) });
  const take = (statement: typeof first) =>
    w.send('billing_statement.void', statement, { cause: 'The wrong price was agreed.' }, operator);
  expect(await refusalOf(take(first))).toMatchObject({
    code: 'state_not_allowed',
    message: expect.stringContaining('credit note'),
  });
  const voided = await take(second);
  expect(voided).toMatchObject({
    lifecycle_state: 'voided',
    attributes: {
      number: 2,
      reversal: { total_micros: '-2000000', lines: [{ units: -200, amount_micros: '-2000000' }] },
    },
  });
  const third = await billing.issued(w, campaign, { start: dayFrom(from, 1), end: dayFrom(from, 2) });
  expect(third.attributes).toMatchObject({ number: 3, total_micros: '2000000' });
});

test('no role changes or deletes an issued statement or a version of it, and its documents are found under their digests', async () => {
  const w = createWorld(management);
  const from = w.now();
  const { campaign, lineItem } = await billing.flight(w, 30, cpm('10000000'));
  management.ledger.count(lineItem.id, 100, at(from, 0.1));
  passTo(w, from, 1);
  const { id, attributes } = await billing.issued(w, campaign, { start: dayFrom(from, 0), end: dayFrom(from, 1) });
  const { adminUrl } = management.database;
  for (const connectionString of [management.database.url, adminUrl]) {
    const client = new pg.Client({ connectionString, options: '-c search_path=product' });
    await client.connect();
    for (const statement of [
      `update resource set attributes = jsonb_set(attributes, '{total_micros}', '"1"') where id = $1`,
      `update resource set attributes = attributes - 'number' where id = $1`,
      `update resource set workspace_id = 'ws_2' where id = $1`,
      `delete from resource where id = $1`,
      `update revision set attributes = '{}' where resource_id = $1`,
      `delete from revision where resource_id = $1`,
      'truncate resource cascade',
    ])
      await expect(client.query(statement, statement.includes('$1') ? [id] : [])).rejects.toMatchObject({
        code: expect.stringMatching(/^(23001|42501)$/),
      });
    await client.end();
  }
  const document = statementOf({ id, workspace_id: w.workspaceId }, computed(attributes), issueOf(attributes));
  for (const { format, storage_key: key, sha256 } of attributes.files!) {
    expect(key).toBe(`statements/${sha256}.${format}`);
    const bytes = renderStatement(document, format);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
  }
  const altered = statementOf(
    { id, workspace_id: w.workspaceId },
    { ...computed(attributes), total_micros: '1' },
    issueOf(attributes),
  );
  expect(renderStatement(altered, 'json').equals(renderStatement(document, 'json'))).toBe(false);
});

test('an attempt whose answer was lost is made again without harm', async () => {
  const w = createWorld(management);
  const from = w.now();
  const { campaign, lineItem } = await billing.flight(w, 30, cpm('10000000'));
  management.ledger.count(lineItem.id, 100, at(from, 0.1));
  passTo(w, from, 1);
  const asked = await billing.ask(w, campaign, { start: dayFrom(from, 0), end: dayFrom(from, 1) });
  const readUnits = management.ledger.readUnits;
  management.ledger.readUnits = () => Promise.reject(new Error('the sink is away'));
  await expect(billing.compute(w, asked)).rejects.toThrow('away');
  management.ledger.readUnits = readUnits;
  await management.pool.query(`update job set lease_until = now() - interval '1 second' where subject_id = $1`, [
    asked.id,
  ]);
  expect((await billing.compute(w, asked)).attributes.total_micros).toBe('1000000');
});

test('a goal in other units counts from its amendment on: what was charged before stays, and each goal bounds its own units', async () => {
  const w = createWorld(management);
  const from = w.now();
  const sold = { ...cpm('10000000'), goal: { unit: 'impressions', quantity: 2000 } };
  const { campaign, lineItem } = await billing.flight(w, 30, sold);
  management.ledger.count(lineItem.id, 1800, at(from, 5));
  management.ledger.count(lineItem.id, 900, at(from, 5), { basis: 'completes' });
  passTo(w, from, 10);
  const first = await billing.issued(w, campaign, { start: dayFrom(from, 0), end: dayFrom(from, 10) });
  expect(
    first.attributes.lines!.map(({ kind, units, price_micros, amount_micros }) => [
      kind,
      units,
      price_micros,
      amount_micros,
    ]),
  ).toEqual([['charge', 1800, '10000000', '18000000']]);
  await w.send('line_item.amend', lineItem, { goal: { unit: 'completes', quantity: 300 } });
  management.ledger.count(lineItem.id, 100, at(from, 9), { deliveredAt: at(from, 15), recordedAt: at(from, 15) });
  management.ledger.count(lineItem.id, 800, at(from, 15));
  management.ledger.count(lineItem.id, 400, at(from, 15), { basis: 'completes' });
  passTo(w, from, 30);
  const second = await billing.issued(w, campaign, { start: dayFrom(from, 10), end: dayFrom(from, 30) });
  expect(second.attributes.lines!.map(({ kind, units, basis }) => [kind, units, basis])).toEqual([
    ['charge', 100, 'ad_delivered'],
    ['charge', 300, 'completes'],
  ]);
  passTo(w, from, 31);
  // What is taken off is summed where it is stored: no whole statement is read.
  let third: ResourceView | undefined;
  const statements = await recordStatements(management.pool, async () => {
    third = await billing.ask(w, campaign, { start: dayFrom(from, 30), end: dayFrom(from, 31) });
  });
  expect(
    statements.filter(({ name, values }) => name === 'list_linked' && values?.[3] === 'billing_statements'),
  ).toEqual([]);
  const { inputs } = (await billing.find(w, third!.id)).attributes;
  const lines = [first, second].flatMap(({ attributes }) => attributes.lines!);
  expect(lines).toHaveLength(3);
  expect(inputs.line_items.map(({ earlier }) => earlier)).toEqual([earlierCharges(lines).get(lineItem.id)]);
  expect(inputs.earlier_statement_ids).toEqual([first.id, second.id]);
});

test('the highest price of the most units is charged, and a price that no statement could name any more is refused', async () => {
  const w = createWorld(management);
  const from = w.now();
  const dear = { ...cpm('999999999999999'), goal: { unit: 'impressions', quantity: 1_000_000_000 } };
  const { campaign, lineItem } = await billing.flight(w, 30, dear);
  management.ledger.count(lineItem.id, 1_000_000_000, at(from, 0.1));
  // As many amendments as a line item may have.
  await management.pool.query(
    `insert into revision (resource_id, version, lifecycle_state, attributes, digest, operation_id, created_at)
     select id, version + nth, lifecycle_state, jsonb_set(attributes, '{rate,price,amount_micros}', to_jsonb((1000 + nth % 2)::text)), digest,
       operation_id, $2::timestamptz + nth * interval '1 minute'
     from resource, generate_series(1, 499) nth where id = $1`,
    [lineItem.id, at(from, 0.2)],
  );
  const { rate } = cpm('20000000');
  expect(await refusalOf(w.send('line_item.amend', lineItem, { rate }))).toMatchObject({
    context: { errors: [{ path: '/changes/rate', code: 'too_many_prices' }] },
  });
  passTo(w, from, 1);
  const { attributes } = await billing.draft(w, campaign, { start: dayFrom(from, 0), end: dayFrom(from, 1) });
  expect([attributes.inputs.line_items[0]!.rates.length, attributes.total_micros]).toEqual([
    500,
    '999999999999999000000',
  ]);
});

test('the ledger of one statement of a workspace is read at a time, and no longer than its caller waits', async () => {
  const w = createWorld(management);
  const from = w.now();
  const { campaign, lineItem } = await billing.flight(w, 60, cpm('10000000'));
  management.ledger.count(lineItem.id, 500, at(from, 1));
  passTo(w, from, 30);
  const { id } = await billing.issued(w, campaign, { start: dayFrom(from, 0), end: dayFrom(from, 30) });
  const leaving = new AbortController();
  const ledger: typeof management.ledger.readUnits = (_request, { signal } = {}) =>
    new Promise((_answer, refuse) => signal!.addEventListener('abort', () => refuse(new Error('The caller left.'))));
  const { listAdjustments } = management.ledger;
  const read = createReadStatementLedger(management.pool, { listAdjustments, readUnits: ledger });
  const first = read(w.workspaceId, id, leaving.signal);
  expect(await refusalOf(read(w.workspaceId, id, leaving.signal))).toMatchObject({ code: 'rate_limited' });
  setTimeout(() => leaving.abort(), 50);
  await expect(first).rejects.toThrow('The caller left.');
});

test('a campaign has at most 20 drafts; discarding one makes room, and ends its computing', async () => {
  const w = createWorld(management);
  const from = w.now();
  const { campaign } = await billing.flight(w, 60, cpm('10000000'));
  passTo(w, from, 30);
  const period = { start: dayFrom(from, 0), end: dayFrom(from, 30) };
  const draft = await billing.ask(w, campaign, period);
  await management.pool.query(
    `with copies as (
       insert into resource (id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at)
       select id || n, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at
       from resource, generate_series(1, 19) n where id = $1 returning id)
     insert into link (from_id, name, to_id) select id, 'campaign', $2 from copies`,
    [draft.id, campaign.id],
  );
  const full = await refusalOf(billing.ask(w, campaign, period));
  expect(full.context.errors).toMatchObject([{ path: '/changes/campaign_id', code: 'too_many_drafts' }]);
  const discarded = await w.send('billing_statement.discard', draft, { cause: 'The wrong month.' });
  expect(discarded.lifecycle_state).toBe('voided');
  const { rows } = await management.pool.query(
    `select (select state from job where subject_id = $1) as job, (select state from operation where subject_id = $1 order by created_at limit 1) as operation`,
    [draft.id],
  );
  expect(rows).toEqual([{ job: 'stopped', operation: 'cancelled' }]);
  expect((await billing.ask(w, campaign, period)).lifecycle_state).toBe('draft');
});
