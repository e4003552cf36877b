import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Cohort } from '@longwave/rpc/audience';
import { listAlertEvents, listAlerts, type AlertFilter } from '../src/pacer/alert-list-table.ts';
import type { Pacer } from '../src/pacer/pacer.ts';
import type { PlannedLine } from '../src/plans/paced-lines.ts';
import { startPacing, type Pacing } from './_pacer.ts';
import { hourMs, plannedLine } from './_planned-line.ts';

let pacing: Pacing;

beforeAll(async () => {
  pacing = await startPacing();
});

afterAll(() => pacing[Symbol.asyncDispose]());

beforeEach(async () => {
  await pacing.pool.query(`update serving_node set closed_at = now()`);
  await pacing.pool.query(`update quota_lease set granted = used, closed = true, counted = true`);
  pacing.setCohorts(undefined);
  Object.assign(pacing.world, { nowMs: Math.floor(Date.now() / hourMs) * hourMs, lines: [], isOutdated: false });
});

const everything = { lineItemId: undefined, state: undefined, kind: undefined, limit: 100, before: undefined };
const alertsOf = ({ workspaceId }: PlannedLine, filter: Partial<AlertFilter> = {}) =>
  listAlerts(pacing.pool, { ...everything, workspaceId, ...filter });
const eventsOf = async ({ workspaceId }: PlannedLine) =>
  (await listAlertEvents(pacing.pool, 0n, 1_000)).filter((event) => event.workspaceId === workspaceId);

/** A line item in the first days of a plan of facts, evenly: 1,000 a day. */
async function evenLine(given: Partial<PlannedLine> = {}): Promise<PlannedLine> {
  const { nowMs } = pacing.world;
  const windowStartMs = nowMs - 24 * hourMs;
  const line = plannedLine(nowMs, {
    goal: 10_000,
    mode: 'even',
    basis: 'reserved',
    windowStartMs,
    windowEndMs: nowMs + 216 * hourMs,
    ...given,
  });
  await pacing.pool.query(
    `insert into pacing_plan (line_item_id, workspace_id, digest, starts_at, hours, learning)
     values ($1, $2, 'd', to_timestamp($3 / 1000.0), $4, false)`,
    [line.lineItemId, line.workspaceId, windowStartMs, Array<number>(240).fill(10_000)],
  );
  return line;
}

/** Evaluations, five minutes apart. */
async function evaluate(pacer: Pacer, times: number): Promise<void> {
  for (let round = 0; round < times; round++) {
    pacing.world.nowMs += hourMs / 12;
    await pacer.tick();
    await pacer.watch();
  }
}

/** So many hours in which the pacer works and nobody evaluates. */
async function pass(pacer: Pacer, hours: number): Promise<void> {
  for (let round = 0; round < hours * 4; round++) {
    pacing.world.nowMs += hourMs / 4;
    await pacer.tick();
  }
}

/** A pacer that has read the plans; analytics-sink is away. */
async function newPacer(): Promise<Pacer> {
  const pacer = await pacing.newPacer();
  await pacer.tick();
  await pacer.learn().catch(() => undefined);
  await pacer.tick();
  return pacer;
}

/** As if so many slots had been given. */
const give = (line: PlannedLine, slots: number) =>
  pacing.pool.query('update quota_lease set granted = granted + $2, used = used + $2 where line_item_id = $1', [
    line.lineItemId,
    slots,
  ]);

test('a line item that falls behind its plan raises one alert at the third evaluation, which clears at the sixth after it has caught up', async () => {
  const line = await evenLine();
  pacing.world.lines = [line];
  await pacing.newNode();
  const pacer = await newPacer();
  await pass(pacer, 12);
  await evaluate(pacer, 2);
  expect(await alertsOf(line, { kind: 'behind_plan' })).toEqual([]);
  await evaluate(pacer, 6);
  const [open, ...others] = await alertsOf(line, { kind: 'behind_plan' });
  expect(others).toEqual([]);
  expect(open).toMatchObject({
    lineItemId: line.lineItemId,
    cleared: undefined,
    raised: { figures: { goal: 10_000, committed: 0 } },
  });
  expect(open!.raised.figures.units).toBeGreaterThan(400);
  expect(open!.raised.atMs).toBe(pacing.world.nowMs - 5 * (hourMs / 12));
  expect(pacer.countAlerts().get('behind_plan')).toBe(1);
  await give(line, 1_000);
  await evaluate(pacer, 5);
  expect(await alertsOf(line, { kind: 'behind_plan', state: 'closed' })).toEqual([]);
  await evaluate(pacer, 3);
  const [closed] = await alertsOf(line, { kind: 'behind_plan' });
  expect(closed).toMatchObject({
    alertId: open!.alertId,
    cleared: { cause: 'recovered', figures: { committed: 1_000, units: 0 } },
  });
  expect(
    (await eventsOf(line))
      .filter(({ kind }) => kind === 'behind_plan')
      .map(({ alertId, cleared }) => [alertId, cleared?.cause]),
  ).toEqual([
    [open!.alertId, undefined],
    [open!.alertId, 'recovered'],
  ]);
  expect(await alertsOf(line, { state: 'open' })).toEqual([]);
});

test('a pacer that restarts, and one whose term is over, raise nothing twice and clear nothing', async () => {
  const line = await evenLine();
  pacing.world.lines = [line];
  await pacing.newNode();
  const first = await newPacer();
  await pass(first, 12);
  await evaluate(first, 2);
  const second = await newPacer();
  await evaluate(second, 3);
  // The first one had two evaluations already, and finds the third.
  await first.watch();
  await evaluate(await newPacer(), 4);
  await Promise.all([first.watch(), second.watch(), second.watch()]);
  const found = await eventsOf(line);
  expect(found.map(({ kind }) => kind).sort()).toEqual([...new Set(found.map(({ kind }) => kind))].sort());
  expect(found.filter(({ kind }) => kind === 'behind_plan')).toHaveLength(1);
  await give(line, 2_000);
  await evaluate(second, 8);
  expect(await alertsOf(line, { state: 'closed' })).toEqual([]);
});

test('alerts are those of one workspace, and no role of the service changes or removes them', async () => {
  const [line, other] = [await evenLine(), await evenLine()];
  pacing.world.lines = [line, other];
  await pacing.newNode();
  const pacer = await newPacer();
  await pass(pacer, 12);
  await evaluate(pacer, 3);
  expect((await alertsOf(line)).map(({ lineItemId }) => lineItemId)).toContain(line.lineItemId);
  expect(await alertsOf(line, { lineItemId: other.lineItemId })).toEqual([]);
  const all = await alertsOf(line);
  const [first] = await alertsOf(line, { limit: 1 });
  expect(await alertsOf(line, { before: first!.position })).toEqual(all.slice(1));
  for (const statement of [`update alert set units = 0`, 'delete from alert'])
    await expect(pacing.pool.query(statement)).rejects.toThrow('permission denied');
});

test('a line item that leaves its plan ends its alerts; a plan that is not loaded yet ends none', async () => {
  const line = await evenLine();
  pacing.world.lines = [line];
  await pacing.newNode();
  const pacer = await newPacer();
  await pass(pacer, 12);
  await evaluate(pacer, 3);
  expect((await alertsOf(line, { state: 'open' })).length).toBeGreaterThan(0);
  Object.assign(pacing.world, { lines: [], isOutdated: true });
  await evaluate(pacer, 1);
  expect(await alertsOf(line, { state: 'closed' })).toEqual([]);
  pacing.world.isOutdated = false;
  await evaluate(pacer, 1);
  expect(await alertsOf(line, { state: 'open' })).toEqual([]);
  expect((await alertsOf(line)).map(({ cleared }) => cleared?.cause)).toContain('ended');
});

test('more confirmed than the goal raises an alert of our own error; a goal that was lowered beneath what was committed does not', async () => {
  const startMs = pacing.world.nowMs - 30 * hourMs;
  const [over, lowered] = [1, 2].map(() => plannedLine(pacing.world.nowMs, { goal: 1_000, windowStartMs: startMs }));
  pacing.world.lines = [over!, lowered!];
  await pacing.newNode();
  const pacer = await newPacer();
  const cohorts = [over!, lowered!].map(({ lineItemId }): Cohort => ({
    ...{ lineItemId, surfaceClass: 'stream', quarterMs: BigInt(Math.floor(startMs / 900_000) * 900_000) },
    ...{ decided: 1_006n, served: 1_006n, delivered: 1_006n, held: 0n, clientStarted: 0n, clientCompleted: 0n },
  }));
  await give(lowered!, 900);
  cohorts[1] = { ...cohorts[1]!, decided: 900n, served: 900n, delivered: 900n };
  pacing.setCohorts({ cohorts, completeUntilMs: BigInt(pacing.world.nowMs), untilMs: 1n });
  await pacer.learn();
  pacing.world.nowMs += 60_000;
  await pacer.tick();
  pacing.world.lines = [over!, { ...lowered!, goal: 500 }];
  await evaluate(pacer, 2);
  const [last] = [await pacer.watch()];
  expect(last.map(({ kind, lineItemId }) => [kind, lineItemId])).toEqual([['over', over!.lineItemId]]);
  expect(last[0]!.figures).toMatchObject({ goal: 1_000, confirmed: 1_006, units: 6 });
  expect(await alertsOf(lowered!)).toEqual([]);
});

test('a line item of which nothing is given for an hour, and one whose campaign has committed 90 % of its budget, say so', async () => {
  const stalled = await evenLine();
  const campaign = { campaignId: 'cmp_alerts', campaignBudgetMicros: 1_000_000, unitPriceMicros: 10_000_000 };
  const costly = plannedLine(pacing.world.nowMs, { ...campaign, goal: 1_000, basis: 'reserved' });
  pacing.world.lines = [stalled, costly];
  const node = await pacing.newNode();
  const pacer = await newPacer();
  expect(await pacing.spend(node, costly.lineItemId, 95)).toBeGreaterThan(0);
  await give(stalled, 1_400);
  await pass(pacer, 3);
  await evaluate(pacer, 3);
  expect((await alertsOf(stalled)).map(({ kind }) => kind)).toEqual(['stalled']);
  const [budget] = await alertsOf(costly, { kind: 'budget' });
  expect(budget!.raised.figures.budgetPercent).toBeGreaterThanOrEqual(90);
});
