import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { Cohort, ReadCohortsResponse } from '@longwave/rpc/audience';
import { createPool } from '@longwave/postgres';
import { until } from '@longwave/test-kit';
import { createCohortFollower } from '../src/pacer/cohort-follower.ts';
import { readDatabaseTime } from '../src/pacer/lease-grant-table.ts';
import { watchChangeOver } from '../src/pacer/watch-change-over.ts';
import { startPacing, sumOf, type Pacing } from './_pacer.ts';
import { cohortOf, hourMs, plannedLine } from './_planned-line.ts';

let pacing: Pacing;

beforeAll(async () => {
  pacing = await startPacing();
});

afterAll(() => pacing[Symbol.asyncDispose]());

beforeEach(() => pacing.reset());

const dayOf = async (lineItemId: string) => {
  const rows = await pacing.rowsOf<{ day: { number: number; used_at_start: number } }>(
    'select day from line_pacing where line_item_id = $1',
    [lineItemId],
  );
  return rows[0]!.day;
};

test('a node that is seen again while the pacer closes it stays open, with its leases', async () => {
  const line = plannedLine(pacing.world.nowMs);
  pacing.world.lines = [line];
  const node = await pacing.newNode();
  const pacer = await pacing.newPacer();
  await pacer.tick();
  await pacing.use(node, line.lineItemId, 10);
  await pacing.fallSilent(node);
  const session = await pacing.pool.connect();
  try {
    await session.query('begin');
    await session.query('update serving_node set seen_at = now() where node_epoch = $1', [node]);
    // To the pacer the node is silent: it waits for the row that the node's report has locked.
    const ticked = pacer.tick();
    await until(async () => {
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return (await pacing.rowsOf(waiting)).length > 0;
    });
    await session.query('commit');
    await ticked;
  } finally {
    session.release();
  }
  expect(await pacing.rowsOf('select from serving_node where node_epoch = $1 and closed_at is null', [node])).toEqual([
    {},
  ]);
  expect(await pacing.leases(line.lineItemId)).toMatchObject([{ closed: false, used: 10 }]);
  await pacer.tick();
  expect(await pacing.use(node, line.lineItemId, 1)).toBe(true);
});

test('in the tick that closes a node what it used counts once', async () => {
  const line = plannedLine(pacing.world.nowMs, { goal: 100 });
  pacing.world.lines = [line];
  const dead = await pacing.newNode();
  await pacing.newNode();
  const pacer = await pacing.newPacer();
  await pacer.tick();
  await pacing.use(dead, line.lineItemId, 10);
  await pacing.fallSilent(dead);
  await pacer.tick();
  expect(
    pacer
      .lines()
      .find(({ line: { lineItemId } }) => lineItemId === line.lineItemId)!
      .moment(),
  ).toMatchObject({
    committed: 10,
    maxGranted: 90,
  });
});

test('days and windows go by the clock of the database, whatever that of the pacer says', async () => {
  const line = plannedLine(pacing.world.nowMs, { dailyMax: 10, basis: 'reserved' });
  pacing.world.lines = [line];
  const node = await pacing.newNode();
  const pacer = await pacing.newPacer({ readNow: () => readDatabaseTime(pacing.pool) });
  await pacer.tick();
  expect(await pacing.spend(node, line.lineItemId, 20)).toBe(10);
  const dayMs = 24 * hourMs;
  jest.useFakeTimers({ now: Date.now() + 2 * dayMs, advanceTimers: true, doNotFake: ['nextTick', 'setImmediate'] });
  try {
    await pacer.tick();
  } finally {
    jest.useRealTimers();
  }
  expect(await pacing.spend(node, line.lineItemId, 20)).toBe(0);
  const today = (
    await pacing.rowsOf<{ number: number }>(`select floor(extract(epoch from now()) / 86400)::int as number`)
  )[0]!;
  expect(await dayOf(line.lineItemId)).toEqual({ number: today.number, used_at_start: 0 });
});

test('what the guard gave today counts for the most of the day, also of a line item that had leases before', async () => {
  const { pool, world } = pacing;
  world.nowMs = Date.UTC(2027, 2, 10, 20);
  const gave = (lineItemId: string, at: number, slots: number) =>
    pool.query(
      `insert into line_item_count (line_item_id, hour, batch_id, goal_slots, share_servings, share_opportunities, mode)
       values ($1, to_timestamp($2 / 1000.0), gen_random_uuid(), $3, 0, 0, 'guard')`,
      [lineItemId, at, slots],
    );
  const terms = { dailyMax: 40, timeZone: 'Asia/Kolkata', basis: 'reserved', goal: 1_000 } as const;
  const leased = plannedLine(world.nowMs - 72 * hourMs, terms);
  const fresh = plannedLine(world.nowMs - 72 * hourMs, terms);
  world.lines = [leased];
  const node = await pacing.newNode();
  const pacer = await pacing.newPacer();
  await pacer.tick();
  await pacing.spend(node, leased.lineItemId, 5);
  await pacer.tick();
  await pool.query(`update serving_mode set wanted = 'guard'`);
  await pool.query(`update serving_node set mode = 'none'`);
  await pacer.tick();
  // In Kolkata the day began at 18:30 of UTC: the hour in which that lies counts whole.
  for (const { lineItemId } of [leased, fresh]) {
    await gave(lineItemId, Date.UTC(2027, 2, 10, 17), 300);
    await gave(lineItemId, Date.UTC(2027, 2, 10, 18), 10);
    await gave(lineItemId, Date.UTC(2027, 2, 10, 19), 15);
  }
  world.lines = [leased, fresh];
  await pool.query(`update serving_mode set wanted = 'lease'`);
  await pacer.tick();
  await pacer.tick();
  for (const { lineItemId } of [leased, fresh]) {
    expect(await pacing.spend(node, lineItemId, 100)).toBe(15);
    await pacer.tick();
    expect(await pacing.spend(node, lineItemId, 100)).toBe(0);
  }
});

test('what the guard gave of a line item that has left its plan is spent of the budget of its campaign', async () => {
  const { pool } = pacing;
  const campaign = { campaignId: 'cmp_guarded', campaignBudgetMicros: 1_000_000, unitPriceMicros: 10_000_000 };
  const [one, two] = [1, 2].map(() => plannedLine(pacing.world.nowMs, { ...campaign, goal: 100, basis: 'reserved' }));
  pacing.world.lines = [one!];
  const node = await pacing.newNode();
  const pacer = await pacing.newPacer();
  await pacer.tick();
  await pacing.spend(node, one!.lineItemId, 20);
  await pacer.tick();
  await pool.query(`update serving_node set mode = 'none' where node_epoch = $1`, [node]);
  await pool.query(`update serving_mode set wanted = 'guard'`);
  await pacer.tick();
  await pool.query(
    `insert into line_item_count (line_item_id, hour, batch_id, goal_slots, share_servings, share_opportunities, mode)
     values ($1, now(), gen_random_uuid(), 30, 0, 0, 'guard')`,
    [one!.lineItemId],
  );
  // It ends while releases before count goals.
  pacing.world.lines = [two!];
  await pool.query(`update serving_mode set wanted = 'lease'`);
  await pacer.tick();
  await pacer.tick();
  // 50 of the 100 units that the budget pays for are gone.
  expect(await pacing.spend(node, two!.lineItemId, 1_000)).toBe(50);
});

test('a change of the mode that waits for longer than two minutes says whom it waits for, and how long it has waited', async () => {
  const { pool } = pacing;
  const older = createPool(() => pacing.url, 'serving', { name: 'internal-serving', max: 1 });
  let nowMs = 0;
  const warned: object[] = [];
  using watch = watchChangeOver(pool, () => nowMs, { warn: (fields: object) => void warned.push(fields) });
  try {
    const { rows } = await older.query<{ pid: number; address: string | null }>(
      'select pg_backend_pid() as pid, host(inet_client_addr()) as address',
    );
    const node = await pacing.newNode();
    const named = await pacing.rowsOf<{ name: string }>('select name from serving_node where node_epoch = $1', [node]);
    await pool.query(`update serving_mode set mode = 'guard', wanted = 'lease'`);
    await watch.look(true);
    nowMs = 119_999;
    await watch.look(true);
    expect([warned, watch.waitingSeconds()]).toEqual([[], 119.999]);
    nowMs = 120_000;
    await watch.look(true);
    expect(warned).toEqual([{ waiting_s: 120, sessions: rows, nodes: named.map(({ name }) => name) }]);
    nowMs = 239_999;
    await watch.look(true);
    expect(warned).toHaveLength(1);
    await pool.query(`update serving_mode set mode = 'lease'`);
    await watch.look(false);
    nowMs = 500_000;
    await watch.look(true);
    expect([warned.length, watch.waitingSeconds()]).toEqual([1, 0]);
  } finally {
    await older.end();
  }
});

test('while another plan than the known one is published nothing is raised, lowered or closed, and a dead node is closed all the same', async () => {
  const { world } = pacing;
  const [line, over] = [1, 2].map(() => plannedLine(world.nowMs, { goal: 100, basis: 'reserved' }));
  world.lines = [line!, { ...over!, windowEndMs: world.nowMs + hourMs }];
  const [node, dead] = [await pacing.newNode(), await pacing.newNode()];
  const pacer = await pacing.newPacer();
  await pacer.tick();
  await pacing.spend(node, line!.lineItemId, 50);
  await pacing.fallSilent(dead);
  const before = await pacing.leases(line!.lineItemId);
  // The plan that could not be loaded has a lower goal, and a longer window.
  Object.assign(world, { isOutdated: true, nowMs: world.nowMs + 2 * hourMs });
  await pacer.tick();
  await pacing.newNode();
  await pacer.tick();
  expect(await pacing.leases(line!.lineItemId)).toEqual([
    before[0],
    { ...before[1]!, granted: before[1]!.used, closed: true },
  ]);
  expect((await pacing.leases(over!.lineItemId))[0]).toMatchObject({ closed: false });
  Object.assign(world, { isOutdated: false, lines: [{ ...line!, goal: 60 }, over!] });
  await pacer.tick();
  expect(sumOf(await pacing.leases(line!.lineItemId), 'granted')).toBe(60);
});

test('cohorts that are told while a line item begins anew, or changes its basis, are asked for again whole', async () => {
  const { world } = pacing;
  const startMs = world.nowMs - 30 * hourMs;
  const terms = { goal: 100, windowStartMs: startMs };
  const lines = [1, 2].map(() => plannedLine(world.nowMs, terms));
  world.lines = lines;
  await pacing.newNode();
  const asked: { readonly ids: readonly string[]; readonly isWhole: boolean }[] = [];
  let answering = Promise.resolve();
  const cohorts = createCohortFollower({
    readCohorts: async ({ lineItemIds = [], sinceMs }) => {
      asked.push({ ids: lineItemIds, isWhole: sinceMs === undefined });
      await answering;
      const answer: ReadCohortsResponse = {
        cohorts: [],
        completeUntilMs: BigInt(startMs + 25 * hourMs),
        untilMs: 1n,
        isBehind: false,
      };
      return answer;
    },
  });
  const pacer = await pacing.newPacer({ cohorts });
  await pacer.tick();
  await pacer.learn();
  expect(asked.splice(0)).toEqual([{ ids: lines.map(({ lineItemId }) => lineItemId), isWhole: true }]);
  const [began, rebased] = lines;
  const answered = Promise.withResolvers<void>();
  answering = answered.promise;
  const learned = pacer.learn();
  await until(() => Promise.resolve(asked.length > 0));
  world.lines = [{ ...rebased!, basis: 'served_bytes' }];
  await pacer.tick();
  world.lines = [began!, { ...rebased!, basis: 'served_bytes' }];
  await pacer.tick();
  answered.resolve();
  await learned;
  asked.length = 0;
  await pacer.learn();
  expect(asked).toEqual([{ ids: expect.arrayContaining(lines.map(({ lineItemId }) => lineItemId)), isWhole: true }]);
});

test('while the bus is away for an hour counts stand still, and no slot is given beyond the goal; what was not delivered returns afterwards', async () => {
  const startMs = Math.floor((pacing.world.nowMs - 30 * hourMs) / 900_000) * 900_000;
  const line = plannedLine(pacing.world.nowMs, { goal: 100, windowStartMs: startMs });
  Object.assign(pacing.world, { nowMs: startMs, lines: [line] });
  const node = await pacing.newNode();
  const pacer = await pacing.newPacer();
  await pacer.tick();
  expect(await pacing.use(node, line.lineItemId, 60)).toBe(true);
  const first = cohortOf(line.lineItemId, startMs, 60, 48);
  const learnUntil = async (cohorts: readonly Cohort[], hours: number) => {
    pacing.setCohorts({ cohorts: [...cohorts], completeUntilMs: BigInt(startMs + hours * hourMs), untilMs: 1n });
    await pacer.learn();
  };
  pacing.world.nowMs = startMs + 23.75 * hourMs;
  const awayMs = pacing.world.nowMs;
  let given = 60;
  // After half an hour the first cohort is a day old by the clock, and its twelve would return.
  for (let minute = 0; minute < 60; minute++) {
    pacing.world.nowMs += 60_000;
    await learnUntil([first], 23.75);
    await pacer.tick();
    given += await pacing.spend(node, line.lineItemId, 4);
    expect(given).toBeLessThanOrEqual(100);
  }
  expect(given).toBe(100);
  const second = cohortOf(line.lineItemId, awayMs, 40, 30);
  await learnUntil([first, second], 24.75);
  await pacer.tick();
  // Of the twelve some are kept back for the forty that are young.
  expect(await pacing.spend(node, line.lineItemId, 100)).toBe(2);
  pacing.world.nowMs += 25 * hourMs;
  const third = cohortOf(line.lineItemId, startMs + 24.75 * hourMs, 2, 2);
  await learnUntil([first, second, third], 49.75);
  await pacer.tick();
  // Eighty were heard, so twenty more are given.
  expect(await pacing.spend(node, line.lineItemId, 100)).toBe(20);
});
