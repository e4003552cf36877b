import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import type { Cohort } from '@longwave/rpc/audience';
import { listFindings, saveFindings } from '../src/pacer/alert-finding-table.ts';
import { listAlertEvents, listAlerts, type AlertFilter } from '../src/pacer/alert-list-table.ts';
import type { Pacer } from '../src/pacer/pacer.ts';
import type { PlannedLine } from '../src/plans/paced-lines.ts';
import { saveOpportunities } from '../src/numbers/opportunity-table.ts';
import { startPacing, type Pacing } from './_pacer.ts';
import { hourMs, plannedLine } from './_planned-line.ts';

let pacing: Pacing;

beforeAll(async () => {
  pacing = await startPacing();
});

afterAll(() => pacing[Symbol.asyncDispose]());

beforeEach(() => pacing.reset(Math.floor(Date.now() / hourMs) * hourMs));

const everything = {
  lineItemId: undefined,
  podcastId: undefined,
  state: undefined,
  kind: undefined,
  limit: 100,
  before: undefined,
};
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

test('what the forecaster and management find about a line item raises its alert, and clears it when they find it no more; of another workspace they find nothing, and older inputs say nothing', async () => {
  const line = await evenLine();
  pacing.world.lines = [line];
  await pacing.newNode();
  const pacer = await newPacer();
  const forecast = {
    forecast: { p10: 8_000, p50: 9_500, as_of: '2027-03-01T00:00:00.000Z', main_verdict: 'outranked' },
  };
  const atRisk = { lineItemId: line.lineItemId, units: 500, detail: forecast };
  const discrepancy = { source: 'gam', days: 3, reconciliation_id: 'rec_1' };
  const found = (asOfMs: number, findings = [atRisk]) =>
    saveFindings(pacing.pool, line.workspaceId, 'at_risk', { asOfMs, findings });
  await found(2_000);
  await found(1_000, []);
  await saveFindings(pacing.pool, newId('ws'), 'discrepancy', { asOfMs: 2_000, findings: [atRisk] });
  await evaluate(pacer, 3);
  const kindsOf = async (state: 'open' | 'closed') => (await alertsOf(line, { state })).map(({ kind }) => kind);
  expect(await kindsOf('open')).toEqual(['at_risk']);
  expect((await alertsOf(line))[0]!.raised.figures).toMatchObject({ goal: 10_000, units: 500, detail: forecast });
  await found(3_000, []);
  const differs = { lineItemId: line.lineItemId, units: 200, detail: { discrepancy } };
  await saveFindings(pacing.pool, line.workspaceId, 'discrepancy', { asOfMs: 1, findings: [differs] });
  await evaluate(pacer, 6);
  expect([await kindsOf('open'), await kindsOf('closed')]).toEqual([['discrepancy'], ['at_risk']]);
  expect((await alertsOf(line))[0]!.raised.figures.detail).toEqual({ discrepancy });
});

test('a reservation that is about to end raises an alert, though no plan has its line item, and the alert ends with it; of a line item that is paced it says nothing', async () => {
  const paced = await evenLine();
  const { workspaceId } = paced;
  const held = newId('li');
  pacing.world.lines = [paced];
  await pacing.newNode();
  const pacer = await newPacer();
  const reservation = { expires_at: '2027-03-01T00:00:00.000Z' };
  const finding = (lineItemId: string) => ({ lineItemId, units: 5_000, detail: { reservation } });
  const found = (asOfMs: number, findings: ReturnType<typeof finding>[]) =>
    saveFindings(pacing.pool, workspaceId, 'ending', { asOfMs, findings });
  await found(1, [finding(held), finding(paced.lineItemId)]);
  await evaluate(pacer, 2);
  expect(await alertsOf(paced, { kind: 'ending' })).toEqual([]);
  await evaluate(pacer, 1);
  const [open, ...others] = await alertsOf(paced, { kind: 'ending' });
  expect(others).toEqual([]);
  expect(open).toMatchObject({
    ...{ lineItemId: held, podcastId: '', cleared: undefined },
    raised: { figures: { goal: 5_000, units: 5_000, committed: 0, detail: { reservation } } },
  });
  // Another pacer knows that it is about a reservation.
  const next = await newPacer();
  await evaluate(next, 3);
  expect(await alertsOf(paced, { kind: 'ending', state: 'open' })).toHaveLength(1);
  await found(2, []);
  await evaluate(next, 1);
  expect((await alertsOf(paced, { kind: 'ending' })).map(({ cleared }) => cleared?.cause)).toEqual(['ended']);
});

test('a finding of a clock that is ahead does not refuse those after it', async () => {
  const workspaceId = newId('ws');
  const aheadMs = Date.now() + 365 * 24 * hourMs;
  const finding = { lineItemId: newId('li'), units: 1, detail: {} };
  await saveFindings(pacing.pool, workspaceId, 'discrepancy', { asOfMs: aheadMs, findings: [] });
  await saveFindings(pacing.pool, workspaceId, 'discrepancy', { asOfMs: aheadMs - hourMs, findings: [finding] });
  expect((await listFindings(pacing.pool)).get(`${workspaceId} ${finding.lineItemId}`)?.has('discrepancy')).toBe(true);
});

test('a podcast of whose slots unusually many stay empty in a week raises an alert, with the reason and what they are worth, until the weeks are usual', async () => {
  const { pool } = pacing;
  const workspaceId = newId('ws');
  const [empty, usual] = [newId('pod'), newId('pod')];
  const untilMs = pacing.world.nowMs;
  const slots = (podcastId: string, noAdReason: string, opportunities: number) => ({
    ...{
      podcastId,
      episodeId: 'ep_1',
      country: 'DE',
      breakKey: 'mid',
      noAdReason,
      requests: 0,
      breaks: 0,
      opportunities,
      positions: undefined,
    },
  });
  const countedAgo = (hours: number, counts: ReturnType<typeof slots>[]) =>
    saveOpportunities(pool, workspaceId, new Date(untilMs - hours * hourMs), counts);
  await countedAgo(
    7 * 24 + 1,
    [empty, usual].flatMap((id) => [slots(id, '', 800), slots(id, 'no_candidate', 200)]),
  );
  await countedAgo(7 * 24, [slots(empty, '', 500), slots(empty, 'no_candidate', 100), slots(empty, 'all_capped', 300)]);
  await countedAgo(7 * 24, [slots(usual, '', 800), slots(usual, 'no_candidate', 200)]);
  const countedUntil = (ms: number) =>
    pool.query(
      `insert into sample_progress (next_hour) values ($1) on conflict (only_row) do update set next_hour = excluded.next_hour`,
      [new Date(ms)],
    );
  await countedUntil(untilMs);
  pacing.setCohorts({ completeUntilMs: BigInt(untilMs), untilMs: 1n });
  const pacer = await newPacer();
  const listed = () => listAlerts(pool, { ...everything, workspaceId });
  await evaluate(pacer, 3);
  const [open, ...others] = await listed();
  expect(others).toEqual([]);
  expect(open).toMatchObject({
    ...{ kind: 'unfilled', lineItemId: '', podcastId: empty, cleared: undefined },
    raised: {
      figures: {
        units: 400,
        detail: {
          unfilled: {
            ...{ opportunities: 900, percent: 44.4, usual_percent: 20 },
            ...{ no_ad_reason: 'all_capped', value_at_floor_micros: 800_000 },
          },
        },
      },
    },
  });
  expect(await listAlerts(pool, { ...everything, workspaceId, podcastId: usual })).toEqual([]);
  // A week later the busy hour is in the weeks before.
  await countedUntil(untilMs + 7 * 24 * hourMs);
  await pacer.learn();
  await evaluate(pacer, 6);
  expect((await listed())[0]!.cleared?.cause).toBe('recovered');
  await countedUntil(untilMs + 60 * 24 * hourMs);
});
