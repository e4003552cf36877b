import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { countGoalSlots } from '../src/decisions/line-item-count-table.ts';
import { readHours, readLinePacing } from '../src/pacer/line-pacing-table.ts';
import { startPacing, sumOf, type Pacing } from './_pacer.ts';
import { cohortOf, hourMs, plannedLine } from './_planned-line.ts';

let pacing: Pacing;

beforeAll(async () => {
  pacing = await startPacing();
});

afterAll(() => pacing[Symbol.asyncDispose]());

beforeEach(() => pacing.reset());

test('a new line item gets leases at every live node, all together at most its goal', async () => {
  const line = plannedLine(pacing.world.nowMs, { goal: 7 });
  pacing.world.lines = [line];
  const nodes = [await pacing.newNode(), await pacing.newNode(), await pacing.newNode()];
  const pacer = await pacing.newPacer();
  await pacer.tick();
  const leases = await pacing.leases(line.lineItemId);
  expect(leases.map((lease) => lease.nodeEpoch)).toEqual(nodes);
  expect(sumOf(leases, 'granted')).toBe(7);
  expect(await pacing.pacing(line.lineItemId)).toMatchObject({ closed_used: 0, used: 0, state: 'learning' });
});

test('a goal is met to the last slot at the node that has the plays, and never exceeded', async () => {
  const line = plannedLine(pacing.world.nowMs, { goal: 50, basis: 'reserved' });
  pacing.world.lines = [line];
  const nodes = [await pacing.newNode(), await pacing.newNode(), await pacing.newNode()];
  const pacer = await pacing.newPacer();
  let [given, asked] = [0, 0];
  for (let round = 0; round < 20; round++) {
    pacing.world.nowMs += 1_000;
    await pacer.tick();
    asked += 10;
    given += await pacing.spend(nodes[0]!, line.lineItemId, 10);
    await pacing.report(nodes[0]!, line.lineItemId, asked);
  }
  expect(given).toBe(50);
  expect(await pacing.pacing(line.lineItemId)).toMatchObject({ used: 50, state: 'committed' });
});

test('of two pacers the older one changes nothing, whatever it knows', async () => {
  const line = plannedLine(pacing.world.nowMs, { goal: 100 });
  pacing.world.lines = [line];
  const node = await pacing.newNode();
  const older = await pacing.newPacer();
  await older.tick();
  await pacing.use(node, line.lineItemId, 40);
  const newer = await pacing.newPacer();
  const second = await pacing.newNode();
  await newer.tick();
  pacing.setCohorts({});
  await newer.learn();
  await Promise.all([older.tick(), newer.tick(), older.tick()]);
  await older.tick();
  const leases = await pacing.leases(line.lineItemId);
  expect(sumOf(leases, 'granted')).toBeLessThanOrEqual(100);
  expect(leases.map((lease) => lease.nodeEpoch)).toEqual([node, second]);
  const before = await pacing.pacing(line.lineItemId);
  await pacing.fallSilent(node);
  await older.tick();
  expect(await pacing.leases(line.lineItemId)).toEqual(leases);
  expect(await pacing.pacing(line.lineItemId)).toEqual(before);
});

test('a dead node is closed with what it used counted once, its unused units go to others, and it gives nothing when it revives', async () => {
  const line = plannedLine(pacing.world.nowMs, { goal: 100 });
  pacing.world.lines = [line];
  const [dead, other] = [await pacing.newNode(), await pacing.newNode()];
  const pacer = await pacing.newPacer();
  await pacer.tick();
  await pacing.use(dead, line.lineItemId, 10);
  await pacing.fallSilent(dead);
  await pacer.tick();
  await pacer.tick();
  const [closed, open] = await pacing.leases(line.lineItemId);
  expect(closed).toEqual({ nodeEpoch: dead, granted: 10, used: 10, closed: true });
  expect(open!.nodeEpoch).toBe(other);
  await pacing.use(other, line.lineItemId, 40);
  await pacer.tick();
  expect((await pacing.leases(line.lineItemId))[1]).toMatchObject({ granted: 90, used: 40 });
  expect(await pacing.pacing(line.lineItemId)).toMatchObject({ closed_used: 10 });
  expect(await pacing.use(dead, line.lineItemId, 1)).toBe(false);
  // A new pacer knows as much.
  await (await pacing.newPacer()).tick();
  expect(await pacing.pacing(line.lineItemId)).toMatchObject({ closed_used: 10 });
});

test('a goal that is lowered is in force with the next tick: nothing more is granted than what is used', async () => {
  const line = plannedLine(pacing.world.nowMs, { goal: 100 });
  pacing.world.lines = [line];
  const node = await pacing.newNode();
  const pacer = await pacing.newPacer();
  await pacer.tick();
  await pacing.use(node, line.lineItemId, 60);
  pacing.world.lines = [{ ...line, goal: 50 }];
  await pacer.tick();
  expect(await pacing.leases(line.lineItemId)).toMatchObject([{ granted: 60, used: 60 }]);
  pacing.world.lines = [{ ...line, goal: 80 }];
  await pacer.tick();
  expect(await pacing.leases(line.lineItemId)).toMatchObject([{ granted: 80, used: 60 }]);
});

test('slots that are given while the pacer works are never lost from its count', async () => {
  const line = plannedLine(pacing.world.nowMs, { goal: 2_000, basis: 'reserved' });
  pacing.world.lines = [line];
  const nodes = [await pacing.newNode(), await pacing.newNode()];
  const pacer = await pacing.newPacer();
  await pacer.tick();
  let given = 0;
  const spend = async (node: number) => {
    for (let play = 0; play < 100; play++) if (await pacing.use(node, line.lineItemId, 3)) given += 3;
  };
  const tick = async () => {
    for (const goal of [400, 2_000, 300, 500, 450]) {
      pacing.world.lines = [{ ...line, goal }];
      await pacer.tick();
    }
  };
  await Promise.all([...nodes.map(spend), ...nodes.map(spend), tick()]);
  const leases = await pacing.leases(line.lineItemId);
  expect(sumOf(leases, 'used')).toBe(given);
  expect(sumOf(leases, 'granted')).toBeLessThanOrEqual(Math.max(450, given));
});

test('a line item that left its plan, or whose window is over, has its leases closed; an unchanged one keeps them', async () => {
  const [kept, left, over] = [1, 2, 3].map(() => plannedLine(pacing.world.nowMs));
  pacing.world.lines = [kept!, left!, { ...over!, windowEndMs: pacing.world.nowMs + hourMs }];
  await pacing.newNode();
  const pacer = await pacing.newPacer();
  await pacer.tick();
  const before = await pacing.leases(kept!.lineItemId);
  pacing.world.lines = [{ ...kept! }, pacing.world.lines[2]!];
  pacing.world.isOutdated = true;
  await pacer.tick();
  expect(await pacing.leases(left!.lineItemId)).toMatchObject([{ closed: false }]);
  pacing.world.isOutdated = false;
  pacing.world.nowMs += hourMs;
  await pacer.tick();
  expect(await pacing.leases(kept!.lineItemId)).toMatchObject([{ ...before[0]!, closed: false }]);
  expect(await pacing.leases(left!.lineItemId)).toMatchObject([{ closed: true, granted: 0 }]);
  expect(await pacing.leases(over!.lineItemId)).toMatchObject([{ closed: true, granted: 0 }]);
  pacing.world.lines = [kept!, left!];
  await pacer.tick();
  expect(await pacing.leases(left!.lineItemId)).toMatchObject([{ closed: false, granted: 1_000 }]);
});

test('what was decided and not delivered returns by the watermark alone', async () => {
  const startMs = pacing.world.nowMs - 30 * hourMs;
  const line = plannedLine(pacing.world.nowMs, { goal: 100, windowStartMs: startMs });
  pacing.world.lines = [line];
  const node = await pacing.newNode();
  const pacer = await pacing.newPacer();
  await pacer.tick();
  expect(await pacing.use(node, line.lineItemId, 100)).toBe(true);
  expect(await pacing.use(node, line.lineItemId, 1)).toBe(false);
  const cohorts = [cohortOf(line.lineItemId, startMs, 100, 80)];
  pacing.setCohorts({ cohorts, completeUntilMs: BigInt(startMs + 23 * hourMs), untilMs: 1n });
  await pacer.learn();
  await pacer.tick();
  expect(await pacing.leases(line.lineItemId)).toMatchObject([{ granted: 100 }]);
  pacing.setCohorts({ cohorts, completeUntilMs: BigInt(startMs + 25 * hourMs), untilMs: 2n });
  await pacer.learn();
  pacing.setCohorts(undefined);
  await expect(pacer.learn()).rejects.toThrow('away');
  await pacer.tick();
  // The last answer stands.
  expect(await pacing.leases(line.lineItemId)).toMatchObject([{ granted: 120 }]);
});

test('with a curve that was measured most of it returns after two hours', async () => {
  const startMs = pacing.world.nowMs - 30 * hourMs;
  const line = plannedLine(pacing.world.nowMs, { goal: 1_000, windowStartMs: startMs });
  pacing.world.lines = [line];
  const node = await pacing.newNode();
  const pacer = await pacing.newPacer();
  await pacer.tick();
  expect(await pacing.use(node, line.lineItemId, 1_000)).toBe(true);
  const cohorts = [cohortOf(line.lineItemId, startMs, 1_000, 800)];
  pacing.setCohorts({ cohorts, completeUntilMs: BigInt(startMs + 3 * hourMs), untilMs: 1n });
  const reached = [7_900, ...Array<number>(7).fill(8_000)].map(BigInt);
  const bases = [{ countingBasis: 'ad_delivered', decided: 10_000n, reached }];
  pacing.setAges([{ workspaceId: line.workspaceId, bases }]);
  await pacer.learn();
  await pacer.tick();
  const committed = pacer.lines()[0]!.committed();
  // 800 are confirmed; of 1,000 one or two in a hundred may still be, and a quantile is kept back.
  expect(committed).toBeGreaterThan(810);
  expect(committed).toBeLessThan(840);
  expect(sumOf(await pacing.leases(line.lineItemId), 'granted')).toBe(1_000 + Math.floor(1_000 - committed));
});

test('a new pacer leaves leases as they are until it has read the cohorts', async () => {
  const startMs = pacing.world.nowMs - 30 * hourMs;
  const line = plannedLine(pacing.world.nowMs, { goal: 100, windowStartMs: startMs });
  pacing.world.lines = [line];
  const node = await pacing.newNode();
  const first = await pacing.newPacer();
  await first.tick();
  await pacing.use(node, line.lineItemId, 100);
  pacing.setCohorts({
    cohorts: [cohortOf(line.lineItemId, startMs, 100, 80)],
    completeUntilMs: BigInt(startMs + 25 * hourMs),
    untilMs: 1n,
  });
  await first.learn();
  await first.tick();
  const second = await pacing.newPacer();
  await second.tick();
  expect(await pacing.leases(line.lineItemId)).toMatchObject([{ granted: 120 }]);
  await second.learn();
  await second.tick();
  expect(await pacing.leases(line.lineItemId)).toMatchObject([{ granted: 120 }]);
});

test('a day never gets more than its maximum, also over midnight of a zone, with a node that spends all it has', async () => {
  const midnight = Date.UTC(2027, 2, 28);
  // The night in which Berlin's clocks go forward: the day has 23 hours.
  pacing.world.nowMs = midnight - 2 * hourMs;
  const line = plannedLine(midnight, {
    ...{ goal: 500, dailyMax: 40, timeZone: 'Europe/Berlin', basis: 'reserved' },
    windowStartMs: midnight - 10 * hourMs,
  });
  pacing.world.lines = [line];
  const node = await pacing.newNode();
  let pacer = await pacing.newPacer();
  const given = new Map<string, number>();
  const day = new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Berlin' });
  for (let at = 0; at < 30; at++) {
    if (at === 10) pacer = await pacing.newPacer();
    await pacer.tick();
    const date = day.format(pacing.world.nowMs);
    given.set(date, (given.get(date) ?? 0) + (await pacing.spend(node, line.lineItemId, 15)));
    pacing.world.nowMs += hourMs - 1_000;
    await pacer.tick();
    pacing.world.nowMs += 1_000;
  }
  expect([...given]).toEqual([
    ['2027-03-27', 15],
    ['2027-03-28', 40],
    ['2027-03-29', 40],
  ]);
});

test('the line items of a campaign never cost more than its budget, and one that has left counts', async () => {
  const campaign = { campaignId: 'cmp_budget', campaignBudgetMicros: 1_000_000, unitPriceMicros: 10_000_000 };
  const [one, two, three] = [1, 2, 3].map(() =>
    plannedLine(pacing.world.nowMs, { ...campaign, goal: 100, basis: 'reserved' }),
  );
  pacing.world.lines = [one!, two!];
  const node = await pacing.newNode();
  const pacer = await pacing.newPacer();
  const spend = async () => {
    for (let round = 0; round < 3; round++) {
      await pacer.tick();
      for (const { lineItemId } of pacing.world.lines) await pacing.spend(node, lineItemId, 60);
    }
  };
  await pacer.tick();
  await pacing.spend(node, one!.lineItemId, 30);
  pacing.world.lines = [two!, three!];
  await spend();
  const used = [];
  for (const line of [one!, two!, three!]) used.push(sumOf(await pacing.leases(line.lineItemId), 'used'));
  expect(used[0]).toBe(30);
  // 100 units are paid for; what rounding leaves is less than a unit for each line item.
  expect(used[1]! + used[2]!).toBeGreaterThanOrEqual(68);
  expect(used[1]! + used[2]!).toBeLessThanOrEqual(70);
});

test('a budget pays what was given at the price of then, and the next pacer knows it', async () => {
  const campaign = { campaignId: 'cmp_prices', campaignBudgetMicros: 1_000_000, basis: 'reserved' } as const;
  const line = plannedLine(pacing.world.nowMs, { ...campaign, goal: 1_000, unitPriceMicros: 20_000_000 });
  pacing.world.lines = [line];
  const node = await pacing.newNode();
  const first = await pacing.newPacer();
  await first.tick();
  // 40 units cost 0.80 of 1.00; at half the price the rest pays for 20.
  await pacing.spend(node, line.lineItemId, 40);
  await first.tick();
  pacing.world.lines = [{ ...line, unitPriceMicros: 10_000_000 }];
  await first.tick();
  await (await pacing.newPacer()).tick();
  expect(await pacing.spend(node, line.lineItemId, 1_000)).toBe(20);
});

test('the mode follows what is wanted once every live node counts by neither, and each mode begins with what the other gave', async () => {
  const { pool } = pacing;
  await pool.query(`update serving_mode set mode = 'guard', wanted = 'lease'`);
  const line = plannedLine(pacing.world.nowMs, { goal: 100, basis: 'reserved' });
  pacing.world.lines = [line];
  const node = await pacing.newNode('guard');
  const pacer = await pacing.newPacer();
  const gave = (slots: number) =>
    pool.query(
      `insert into line_item_count (line_item_id, hour, batch_id, goal_slots, share_servings, share_opportunities, mode)
       values ($1, now(), gen_random_uuid(), $2, 0, 0, 'guard')`,
      [line.lineItemId, slots],
    );
  await gave(30);
  expect(await pacer.tick()).toBe(true);
  expect(await pacing.rowsOf('select mode from serving_mode')).toEqual([{ mode: 'guard' }]);
  expect(await pacing.leases(line.lineItemId)).toEqual([]);
  await pool.query(`update serving_node set mode = 'none' where node_epoch = $1`, [node]);
  await pacer.tick();
  await pacer.tick();
  expect(await pacing.leases(line.lineItemId)).toMatchObject([{ granted: 70, used: 0 }]);
  // Back to the guard: leases are closed first. What it gives then counts when leases come again.
  await pacing.use(node, line.lineItemId, 20);
  await pool.query(`update serving_mode set wanted = 'guard'`);
  await pacer.tick();
  expect(await pacing.leases(line.lineItemId)).toMatchObject([{ granted: 20, used: 20, closed: true }]);
  expect(await pacing.rowsOf('select mode from serving_mode')).toEqual([{ mode: 'guard' }]);
  expect(await countGoalSlots(pool, [line.lineItemId])).toEqual(new Map([[line.lineItemId, 50]]));
  await gave(15);
  await pool.query(`update serving_mode set wanted = 'lease'`);
  await pacer.tick();
  await pacer.tick();
  expect(await pacing.pacing(line.lineItemId)).toMatchObject({ closed_used: 65 });
  expect(await pacing.leases(line.lineItemId)).toMatchObject([{ granted: 35, used: 0, closed: false }]);
});

test('hours say where a line item stood, and past ones stay as they are', async () => {
  const line = plannedLine(pacing.world.nowMs, { goal: 100, mode: 'even' });
  pacing.world.lines = [line];
  const node = await pacing.newNode();
  const pacer = await pacing.newPacer();
  await pacer.tick();
  await pacing.use(node, line.lineItemId, 1);
  pacing.world.nowMs += hourMs;
  await pacer.tick();
  const hours = await readHours(pacing.pool, line.workspaceId, line.lineItemId, {
    fromMs: pacing.world.nowMs - 2 * hourMs,
    toMs: pacing.world.nowMs + hourMs,
  });
  expect(hours).toMatchObject([
    { used: 0, shortBy: 'plan' },
    { used: 1, committed: 1, shortBy: 'plan' },
  ]);
  expect(await readHours(pacing.pool, 'ws_other', line.lineItemId, { fromMs: 0, toMs: 2 ** 42 })).toEqual([]);
  expect(await readLinePacing(pacing.pool, 'ws_other', [line.lineItemId])).toEqual([]);
});

test('a plan of hours decides how much of a goal is granted for the next quarter of an hour', async () => {
  const { nowMs } = pacing.world;
  const startMs = Math.floor(nowMs / hourMs) * hourMs;
  pacing.world.nowMs = startMs;
  const line = plannedLine(startMs, {
    goal: 100_000,
    mode: 'even',
    windowStartMs: startMs,
    windowEndMs: startMs + 24 * hourMs,
  });
  pacing.world.lines = [line];
  await pacing.pool.query(
    `insert into pacing_plan (line_item_id, workspace_id, digest, starts_at, hours, learning)
     values ($1, 'ws', 'd', to_timestamp($2 / 1000.0), $3, false)`,
    [line.lineItemId, startMs, [0, ...Array<number>(23).fill(50_000)]],
  );
  await pacing.newNode();
  const pacer = await pacing.newPacer();
  await pacer.tick();
  await pacer.learn().catch(() => undefined);
  await pacer.tick();
  const [quiet] = await pacing.leases(line.lineItemId);
  pacing.world.nowMs = startMs + hourMs;
  await pacer.tick();
  const [busy] = await pacing.leases(line.lineItemId);
  expect(quiet!.granted).toBeLessThan(10);
  expect(busy!.granted).toBeGreaterThan(100_000 / 23 / 4);
  expect(await pacing.pacing(line.lineItemId)).toMatchObject({ state: 'on_plan' });
});
