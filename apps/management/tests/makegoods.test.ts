import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { reactTo } from '@longwave/command-catalog';
import { domainEventSchema } from '@longwave/events';
import type { ResourceView } from '@longwave/events';
import { until } from '@longwave/test-kit';
import { startClock } from '../src/background/clock.ts';
import { claimJob } from '../src/background/job-table.ts';
import { makegoodTasks } from '../src/commerce/makegoods/makegood-tasks.ts';
import { createMeasureDelivery } from '../src/commerce/makegoods/measure-delivery.ts';
import { createScheduleHandler } from '../src/commerce/makegoods/schedule-makegood.ts';
import { shortfallReactions } from '../src/commerce/makegoods/shortfall-table.ts';
import { accepted, makegoodLine, nextDays, proposed, stoppedLineItem } from './_examples-makegoods.ts';
import { refusalOf, startTestManagement, type TestManagement } from './_management.ts';
import { hour, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management?.[Symbol.asyncDispose]());

const week = 7 * 24 * hour;
const operator = service('operator');
const read = async (id: string): Promise<ResourceView> =>
  (await management.pool.query<ResourceView>('select * from resource where id = $1', [id])).rows[0]!;
const untilState = (id: string, state: string) =>
  until(`${state} of ${id}`, () => read(id), { holds: (row) => row.lifecycle_state === state });
const codesOf = async (attempt: Promise<unknown>) =>
  (await refusalOf(attempt)).context.errors?.map(({ path, code }) => [path, code]);
const count = (lineItemId: string, units: number) => void management.delivered.set(lineItemId, units);
const adjust = (lineItemId: string, quantity: number) =>
  void management.ledger.adjustments.push({
    ...{
      itemId: String(management.ledger.adjustments.length),
      lineItemId,
      day: '2026-10-01',
      quantity: BigInt(quantity),
    },
    ...{ countingBasis: 'ad_delivered', reason: 'gam: theirs', reconciliationId: 'rec_1', recordedAtMs: 0n },
  });

/** The clock with the tasks of makegoods alone. */
function runClock(measure = createMeasureDelivery(management), warn: () => void = () => undefined) {
  const { pool, execute, clock } = management;
  const tasks = makegoodTasks(measure, { warn });
  return startClock({ pool, execute, clock, tasks, everyMs: 20, onError: () => undefined });
}

/** Lets the follower see the newest event of a resource. */
async function followed(id: string): Promise<void> {
  const { rows } = await management.pool.query<{ payload: unknown }>(
    `select payload from outbox where payload #>> '{subject,id}' = $1 order by position desc limit 1`,
    [id],
  );
  await reactTo(shortfallReactions(management.pool), domainEventSchema.parse(rows[0]!.payload));
}

const makegoodOf = async (lineItemId: string) =>
  (
    await management.pool.query<ResourceView>(
      `select * from resource where resource_type = 'makegoods' and attributes ->> 'for_line_item' = $1 order by created_at desc, id desc`,
      [lineItemId],
    )
  ).rows[0];

/** Runs the job of a scheduled makegood. */
async function createLineItem(id: string) {
  const job = await claimJob(management.pool, ['schedule_makegood'], 'test', 600_000);
  if (job?.subject_id !== id) throw new Error(`no job of ${id}`);
  await createScheduleHandler(management).run(job, new AbortController().signal);
  return read(id);
}

test('a line item that ended short is drafted a makegood a week later, which is accepted, scheduled and fulfilled by its own line item', async () => {
  const w = createWorld(management);
  const short = await stoppedLineItem(w);
  const full = await stoppedLineItem(w);
  count(short.id, 600);
  adjust(short.id, -50);
  count(full.id, 950);
  for (const { id } of [short, full]) await followed(id);
  await using _clock = runClock();
  expect(await makegoodOf(short.id)).toBeUndefined();
  w.ahead(week + 1_000);
  const draft = await until('a draft', () => makegoodOf(short.id), { holds: (row) => row !== undefined });
  expect(draft).toMatchObject({
    lifecycle_state: 'proposed',
    attributes: {
      ...{ units: 450, value: { amount_micros: '8100000', currency: 'EUR' }, requested_by: 'system:clock' },
      delivery: { goal: 1_000, confirmed: 600, adjusted: -50 },
    },
  });
  await until('no check left', () => checksOf(w), { holds: (checks) => checks === 0 });
  expect(await makegoodOf(full.id)).toBeUndefined();

  const deal = await w.send('makegood.accept', draft, {}, operator);
  const { id } = await w.send('makegood.schedule', deal, { window: nextDays(w), name: 'Winter' });
  const { attributes } = await createLineItem(id);
  const lineItemId = String(attributes['line_item_id']);
  const lineItem = await read(lineItemId);
  expect(lineItem).toMatchObject({
    lifecycle_state: 'draft',
    attributes: {
      ...{ name: 'Winter', type: 'guaranteed', goal: { unit: 'impressions', quantity: 450 }, rate: { model: 'none' } },
      ...{ makegood_of: short.id, campaign_id: short.attributes['campaign_id'], break_positions: ['pre'] },
    },
  });
  count(lineItemId, 450);
  w.ahead(61_000);
  expect((await untilState(id, 'fulfilled')).attributes).toMatchObject({ confirmed: 450 });
  // What was made good is made good once.
  expect(await codesOf(proposedFor(w, short.id, 1))).toEqual([['/changes/for_line_item', 'not_short']]);
});

const proposedFor = (w: World, lineItemId: string, units: number) =>
  w.send('makegood.propose', null, { for_line_item: lineItemId, units });
async function checksOf(w: World): Promise<number> {
  const { rows } = await w.pool.query<{ checks: number }>(
    'select count(*)::int as checks from shortfall_check where workspace_id = $1',
    [w.workspaceId],
  );
  return rows[0]!.checks;
}

test('a line item that cannot be measured is told and measured again later, and stops no other', async () => {
  const w = createWorld(management);
  const [broken, short] = [await stoppedLineItem(w), await stoppedLineItem(w)];
  for (const { id } of [broken, short]) {
    count(id, 600);
    await followed(id);
  }
  const measure = createMeasureDelivery(management);
  const faults = { isBroken: true, told: 0 };
  const measureOrFail: typeof measure = async (workspaceId, lineItem) => {
    if (faults.isBroken && lineItem.id === broken.id) throw new Error('The ledger has no such basis.');
    return measure(workspaceId, lineItem);
  };
  w.ahead(week + 1_000);
  await using _clock = runClock(measureOrFail, () => (faults.told += 1));
  await until('the other draft', () => makegoodOf(short.id), { holds: (row) => row !== undefined });
  expect([await makegoodOf(broken.id), faults.told]).toEqual([undefined, 1]);
  faults.isBroken = false;
  w.ahead(121_000);
  await until('its draft', () => makegoodOf(broken.id), { holds: (row) => row !== undefined });
});

test('one whose line item ends short is expired, and the rest can be made good again', async () => {
  const w = createWorld(management);
  const makegood = await accepted(w);
  const { id } = await w.send('makegood.schedule', makegood, { window: nextDays(w) });
  const lineItemId = String((await createLineItem(id)).attributes['line_item_id']);
  count(lineItemId, 300);
  await using _clock = runClock();
  w.ahead(100 * hour + week + 1_000);
  expect((await untilState(id, 'expired')).attributes).toMatchObject({ confirmed: 300 });
  const lineItem = String(makegood.attributes['for_line_item']);
  expect(await codesOf(proposedFor(w, lineItem, 701))).toEqual([['/changes/units', 'above_shortfall']]);
  expect((await proposedFor(w, lineItem, 700)).attributes).toMatchObject({ units: 700 });
});

test('no more than what is missing beyond five per cent is proposed or accepted, by what is counted at that moment', async () => {
  const w = createWorld(management);
  const { id } = await stoppedLineItem(w);
  count(id, 950);
  expect(await codesOf(proposedFor(w, id, 10))).toEqual([['/changes/for_line_item', 'not_short']]);
  adjust(id, -1);
  expect(await codesOf(proposedFor(w, id, 52))).toEqual([['/changes/units', 'above_shortfall']]);
  const makegood = await proposedFor(w, id, 51);
  expect(makegood.attributes).toMatchObject({ value: { amount_micros: '918000', currency: 'EUR' } });
  adjust(id, 1);
  expect(await codesOf(w.send('makegood.accept', makegood, {}, operator))).toEqual([
    ['/changes/for_line_item', 'not_short'],
  ]);
});

test('a line item has one open makegood, also when two are proposed at once; a declined one makes room', async () => {
  const w = createWorld(management);
  const { id } = await stoppedLineItem(w);
  const both = await Promise.allSettled([proposedFor(w, id, 100), proposedFor(w, id, 100)]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(await codesOf(proposedFor(w, id, 100))).toEqual([['/changes/for_line_item', 'already_open']]);
  const open = (await makegoodOf(id))!;
  await w.send('makegood.decline', open, { cause: 'A credit is simpler.' }, operator);
  await proposedFor(w, id, 100);
});

test('what has not ended, was sold without a number of ads or is a makegood itself is refused, and leaves nothing', async () => {
  const w = createWorld(management);
  const { lineItem } = await w.delivering();
  const sponsorship = await stoppedLineItem(w, { type: 'sponsorship', goal: { unit: 'share_pct', quantity: 50 } });
  const { rows: before } = await w.pool.query('select count(*) from resource where workspace_id = $1', [w.workspaceId]);
  for (const { id } of [lineItem, sponsorship])
    expect(await refusalOf(proposedFor(w, id, 5))).toMatchObject({ code: 'state_not_allowed' });
  expect(await refusalOf(proposedFor(w, `li_${'0'.repeat(26)}`, 5))).toMatchObject({ code: 'link_not_found' });
  const { rows: after } = await w.pool.query('select count(*) from resource where workspace_id = $1', [w.workspaceId]);
  expect(after).toEqual(before);
});

test('it is scheduled in an open campaign of the same advertiser and a window ahead; a creation that is refused then is shown, and repeated', async () => {
  const w = createWorld(management);
  const makegood = await accepted(w);
  const other = await w.activeCampaign();
  const attempt = (changes: object) => codesOf(w.send('makegood.schedule', makegood, changes));
  expect(await attempt({})).toEqual([['/changes/window', 'required']]);
  expect(await attempt({ window: nextDays(w), campaign_id: other.id })).toEqual([
    ['/changes/campaign_id', 'other_advertiser'],
  ]);
  expect(await attempt({ window: { start: '2020-01-01T00:00:00Z', end: '2020-02-01T00:00:00Z' } })).toEqual([
    ['/changes/window', 'outside_campaign'],
  ]);
  const { id } = await w.send('makegood.schedule', makegood, { window: nextDays(w) });
  const lineItem = await read(String(makegood.attributes['for_line_item']));
  const campaign = await read(String(lineItem.attributes['campaign_id']));
  await w.send('campaign.complete', campaign, {});
  expect(await createLineItem(id)).toMatchObject({
    lifecycle_state: 'accepted',
    attributes: { problem: { code: 'link_not_found' } },
  });
});

test('two runs of the job create one line item', async () => {
  const w = createWorld(management);
  const { id } = await w.send('makegood.schedule', await accepted(w), { window: nextDays(w) });
  const job = (await claimJob(management.pool, ['schedule_makegood'], 'test', 600_000))!;
  expect(job.subject_id).toBe(id);
  const handler = createScheduleHandler(management);
  await Promise.allSettled([1, 2].map(() => handler.run(job, new AbortController().signal)));
  const { rows } = await w.pool.query(
    `select from resource where attributes ->> 'makegood_of' is not null and workspace_id = $1`,
    [w.workspaceId],
  );
  expect(rows).toHaveLength(1);
  expect((await proposed(w)).lifecycle_state).toBe('proposed');
});

test('only a scheduled makegood makes a line item that makes good: of its units, without a price, and it stays so', async () => {
  const w = createWorld(management);
  const short = await stoppedLineItem(w);
  const unscheduled = await w.send('makegood.accept', await proposedFor(w, short.id, 400), {}, operator);
  const at = (path: string, code: string) => [[`/changes/${path}`, code]];
  const create = (changes: object = {}, as = service('management')) => makegoodLine(w, unscheduled, short, changes, as);
  expect(await codesOf(create())).toEqual(at('makegood_of', 'not_scheduled'));
  await w.send('makegood.schedule', unscheduled, { window: nextDays(w) });
  for (const as of [w.actor, operator])
    expect(await codesOf(create({}, as))).toEqual(at('makegood_of', 'not_scheduled'));
  for (const changes of [
    { goal: { unit: 'impressions', quantity: 401 } },
    { rate: { model: 'cpm', price: { amount_micros: '10000000', currency: 'EUR' } } },
  ])
    expect(await codesOf(create(changes))).toEqual(at('makegood_of', 'not_scheduled'));
  const draft = await create();
  const revised = (changes: object, subject = draft) => codesOf(w.send('line_item.revise', subject, changes));
  const more = { goal: { unit: 'impressions', quantity: 401 } };
  expect(await revised(more)).toEqual(at('goal', 'makes_good'));
  expect(await revised({ rate: short.attributes['rate'] })).toEqual(at('rate', 'makes_good'));
  const own = await w.send('line_item.create', null, w.lineItemChanges(String(short.attributes['campaign_id'])));
  expect(await revised({ makegood_of: short.id }, own)).toEqual(at('makegood_of', 'not_scheduled'));
  const { lineItem } = await w.sold(await w.send('line_item.revise', draft, { name: 'Ours', makegood_of: short.id }));
  expect(await codesOf(w.send('line_item.amend', lineItem, more))).toEqual(at('goal', 'makes_good'));
  expect(lineItem).toMatchObject({ lifecycle_state: 'booked', links: { makegood_of: short.id } });
});
