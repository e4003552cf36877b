import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';
import { until } from '@longwave/test-kit';
import { Redis } from 'ioredis';
import { readerOf } from './_decision.ts';
import { readDecisionRows } from '../src/decisions/decision-table.ts';
import {
  bookedAt,
  startLoad,
  startServingProcess,
  type ServingLoad,
  type ServingProcess,
} from './_serving-processes.ts';
import { lineItem, playOf, startEngines, type Engines } from './_support.ts';

/** No slot of a goal may be missing for longer. */
const mostLostMs = 3_000;

/** What a release without leases gave. */
const slotsByOlder = 7;

let engines: Engines;
let pool: Pool;
let processes: ServingProcess[];
let load: ServingLoad;
const workspaceId = newId('ws');
const steady = bookedAt('pre', 1_000_000);
const house = lineItem();

const one = async <T extends object>(text: string, values: readonly unknown[] = []): Promise<T> =>
  (await pool.query<T>(text, [...values])).rows[0]!;

const termNow = async () => (await one<{ term: number }>('select term::float8 from pacer_term')).term;

const epochOf = async ({ child }: ServingProcess) =>
  (
    await one<{ epoch: number }>(
      `select max(node_epoch)::float8 as epoch from serving_node where name like '%:' || $1::text`,
      [child.pid],
    )
  ).epoch;

/** The process that has the term. */
async function pacerOf(): Promise<ServingProcess> {
  return until('a pacer', async () => {
    const term = await termNow();
    return processes.find((each) => each.logged('"pacer.began"').some((line) => line.includes(`"term":${term},`)));
  });
}

/** Slots of the steady line item that were given, and those that may be given by leases. */
async function grantedSlots(): Promise<number> {
  const { granted } = await one<{ granted: number }>(
    `select (p.closed_used + coalesce((select sum(granted) from quota_lease where line_item_id = $1 and not counted), 0))::float8 as granted
     from line_pacing p where p.line_item_id = $1`,
    [steady.line_item_id],
  );
  return granted;
}

/**
 * Resolves once no slot is held by a process that is gone: what they had may be granted to others. Answers how long that took.
 * @param epochs processes that are gone, or are about to end
 */
async function untilNoneIsHeldBy(...epochs: readonly number[]): Promise<number> {
  const beganMs = performance.now();
  await until(async () => {
    const { held } = await one<{ held: number }>(
      'select count(*)::int as held from quota_lease where node_epoch = any ($1) and not counted and granted > used',
      [epochs],
    );
    return held === 0;
  });
  return performance.now() - beganMs;
}

const untilMore = async (slots = 30) => {
  const before = load.given(steady.line_item_id);
  await until(() => load.given(steady.line_item_id) >= before + slots);
};

/** As if it had been silent for long enough: nobody waits for the clock. */
const fallSilent = (nodeEpoch: number) =>
  pool.query(`update serving_node set seen_at = now() - interval '16 seconds' where node_epoch = $1`, [nodeEpoch]);

/** Runs while the load goes on; the steady line item never pauses for longer than it may. */
async function withoutPause(work: () => Promise<void>): Promise<void> {
  await untilMore();
  load.longestPauseMs(steady.line_item_id);
  await work();
  await untilMore();
  expect(load.longestPauseMs(steady.line_item_id)).toBeLessThan(mostLostMs);
}

beforeAll(async () => {
  engines = await startEngines();
  pool = createPool(engines.database.url, 'serving', { name: 'test', max: 4 });
  processes = await Promise.all(Array.from({ length: 4 }, () => startServingProcess(engines)));
});

afterAll(async () => {
  await load?.stop();
  await Promise.all(processes.map((each) => each.stop()));
  await pool.end();
  await engines[Symbol.asyncDispose]();
});

test('the first play by a new plan, at any process and less than 3 s after its publication, has the line items that the plan adds', async () => {
  const beganMs = performance.now();
  const { servingPlanId } = await engines.publishPlan(workspaceId, [steady, house]);
  await Promise.all(
    processes.map(async ({ client }) => {
      const first = await until(async () => {
        const answer = await client.decide(playOf(workspaceId), {}).catch(() => undefined);
        return answer?.servingPlanId === servingPlanId ? answer : undefined;
      });
      expect(first.picks.map((pick) => pick.lineItemId)).toEqual([steady.line_item_id]);
    }),
  );
  expect(performance.now() - beganMs).toBeLessThan(mostLostMs);
  load = startLoad(workspaceId, () => processes);
});

test('a process that is killed takes no slot with it: once it is closed, what it had goes to the others', async () => {
  const pacer = await pacerOf();
  const victim = processes.find((each) => each !== pacer)!;
  const epoch = await epochOf(victim);
  await withoutPause(async () => {
    victim.child.kill('SIGKILL');
    await victim.child.exited;
    processes = processes.filter((each) => each !== victim);
    victim.client.close();
    await fallSilent(epoch);
    expect(await untilNoneIsHeldBy(epoch)).toBeLessThan(mostLostMs);
  });
});

test('a process that stood still beyond its leases gives nothing of them when it goes on, and registers anew', async () => {
  const pacer = await pacerOf();
  const paused = processes.find((each) => each !== pacer)!;
  const epoch = await epochOf(paused);
  await withoutPause(async () => {
    paused.child.kill('SIGSTOP');
    await fallSilent(epoch);
    await until(
      async () =>
        (
          await one<{ closed: boolean }>(
            'select closed_at is not null as closed from serving_node where node_epoch = $1',
            [epoch],
          )
        ).closed,
    );
    const { used } = await one<{ used: number }>(
      'select sum(used)::float8 as used from quota_lease where node_epoch = $1',
      [epoch],
    );
    paused.child.kill('SIGCONT');
    await until(async () => (await epochOf(paused)) > epoch);
    const after = await one<{ used: number }>(
      'select sum(used)::float8 as used from quota_lease where node_epoch = $1',
      [epoch],
    );
    expect(after.used).toBe(used);
    expect(await untilNoneIsHeldBy(epoch)).toBeLessThan(mostLostMs);
  });
});

test('when the pacer is killed goals go on, and another takes its place', async () => {
  const pacer = await pacerOf();
  const epoch = await epochOf(pacer);
  const term = await termNow();
  await withoutPause(async () => {
    pacer.child.kill('SIGKILL');
    await pacer.child.exited;
    processes = processes.filter((each) => each !== pacer);
    pacer.client.close();
    await pool.query('update pacer_term set expires_at = to_timestamp(0)');
    await until(async () => (await termNow()) > term);
    await fallSilent(epoch);
    expect(await untilNoneIsHeldBy(epoch)).toBeLessThan(mostLostMs);
  });
});

test('Redis that loses everything, and that is away, costs no slot of a goal', async () => {
  await withoutPause(async () => {
    const redis = new Redis(engines.redis().url);
    await redis.flushall();
    redis.disconnect();
    await untilMore();
    await engines.stopRedis();
    await untilMore();
    await engines.startRedis();
  });
});

test('a rolling restart of all processes: each gives back what it has left, and no slot is missing for 3 s', async () => {
  await withoutPause(async () => {
    const old = [...processes];
    const successors = await Promise.all(old.map(() => startServingProcess(engines)));
    const stops: Promise<void>[] = [];
    for (const [at, each] of old.entries()) {
      const epoch = await epochOf(each);
      processes = [...processes.filter((other) => other !== each), successors[at]!];
      stops.push(each.stop());
      expect(await untilNoneIsHeldBy(epoch)).toBeLessThan(mostLostMs);
    }
    await Promise.all(stops);
    for (const { child } of old) expect((await child.exited).code).toBe(0);
  });
});

const untilMode = (mode: string) =>
  until(async () => (await one<{ mode: string }>('select mode from serving_mode')).mode === mode);

test('while a release runs that knows no leases goals are its own; less than 3 s after its end leases count, beside what it gave', async () => {
  await pool.query(`update serving_mode set wanted = 'guard'`);
  await untilMode('guard');
  const older = createPool(engines.database.url, 'serving', { name: 'internal-serving', max: 1 });
  await older.query(
    `insert into line_item_count (line_item_id, hour, batch_id, goal_slots, share_servings, share_opportunities)
     values ($1, date_trunc('hour', now(), 'UTC'), gen_random_uuid(), $2, 0, 0)`,
    [steady.line_item_id, slotsByOlder],
  );
  await pool.query(`update serving_mode set wanted = 'lease'`);
  const term = await termNow();
  // Its holder lives, and may renew it before another takes it.
  await until(async () => {
    await pool.query('update pacer_term set expires_at = to_timestamp(0) where term = $1', [term]);
    return (await termNow()) > term;
  });
  expect((await one<{ mode: string }>('select mode from serving_mode')).mode).toBe('guard');
  const given = load.given(steady.line_item_id);
  await older.end();
  const endedMs = performance.now();
  await untilMode('lease');
  await until(() => load.given(steady.line_item_id) > given);
  expect(performance.now() - endedMs).toBeLessThan(mostLostMs);
});

/** Slots of the steady line item by the stored decisions, and by the leases. */
async function countSlots() {
  const reader = readerOf(pool);
  const rows = await readDecisionRows(
    pool,
    { workspaceId, from: new Date(0), to: new Date(Date.now() + 60_000), after: undefined },
    1_000_000,
  );
  const stored = new Map<string, readonly string[]>();
  for (const row of rows) {
    const { answer } = await reader.read(row);
    stored.set(
      row.decisionId,
      answer.picks.map((pick) => pick.line_item_id),
    );
  }
  const { used } = await one<{ used: number }>(
    `select (p.closed_used + coalesce((select sum(used) from quota_lease where line_item_id = $1 and not counted), 0))::float8 as used
     from line_pacing p where p.line_item_id = $1`,
    [steady.line_item_id],
  );
  const decided = [...stored.values()].flat().filter((id) => id === steady.line_item_id).length;
  return { stored, decided, used };
}

test('after all of that every answer is a stored decision, each slot is counted once, and the goal is met to the last unit', async () => {
  await load.stop();
  const { stored, decided, used } = await countSlots();
  expect([...load.answers].filter(([id, lineItems]) => stored.get(id)?.join() !== lineItems.join())).toEqual([]);
  expect(used).toBe(decided + slotsByOlder);
  const goal = used + 40;
  const amended = { ...steady, goal: { ...steady.goal, quantity: goal } };
  const { servingPlanId } = await engines.publishPlan(workspaceId, [amended, house]);
  for (const { client } of processes)
    await until(async () => {
      const answer = await client.decide(playOf(workspaceId, { breaks: [] }), {});
      return answer.servingPlanId === servingPlanId;
    });
  await until(async () => (await grantedSlots()) <= goal);
  load = startLoad(workspaceId, () => processes);
  await until(async () => (await countSlots()).used === goal);
  const before = load.answers.size;
  await until(() => load.answers.size >= before + 50);
  await load.stop();
  expect(await countSlots()).toMatchObject({ used: goal, decided: goal - slotsByOlder });
});
