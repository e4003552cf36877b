import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { idFromUuid, idToUuid, newId } from '@longwave/ids';
import type { ObjectStore } from '@longwave/object-store';
import { createPool, type Pool } from '@longwave/postgres';
import { until } from '@longwave/test-kit';
import { archivedBefore, createDecisionArchive } from '../src/decisions/decision-archive.ts';
import { countGoalSlots } from '../src/decisions/line-item-count-table.ts';
import { createReplayDecisions } from '../src/decisions/replay-decision.ts';
import { damage, insertByRelease4, readerOf } from './_decision.ts';
import { slotsGiven } from './_leases.ts';
import {
  guaranteed,
  lineItem,
  playOf,
  startEngines,
  untilDecidedBy,
  type Engines,
  type Node,
  type ServingClient,
} from './_support.ts';

const dayMs = 86_400_000;

let engines: Engines;
let node: Node;
let operator: ServingClient;
let pool: Pool;

beforeAll(async () => {
  engines = await startEngines();
  node = await engines.startNode();
  operator = engines.clientAs('operator', node.port);
  pool = createPool(engines.database.url, 'serving', { name: 'test', max: 2 });
});

afterAll(async () => {
  await pool.end();
  operator.close();
  await node[Symbol.asyncDispose]();
  await engines[Symbol.asyncDispose]();
});

/** Plays of one workspace so many days ago, and their answers. */
async function playDaysAgo(workspaceId: string, days: readonly number[]) {
  const plays = days.map((ago) => playOf(workspaceId, { atMs: BigInt(Date.now() - ago * dayMs) }));
  return Promise.all(plays.map(async (request) => ({ request, answer: await node.client.decide(request, {}) })));
}

const publishedWorkspace = async (...lineItems: Parameters<Engines['publishPlan']>[1]) => {
  const workspaceId = newId('ws');
  const { servingPlanId } = await engines.publishPlan(workspaceId, lineItems);
  await untilDecidedBy(node, workspaceId, servingPlanId);
  return workspaceId;
};

/** A workspace that sells up to a goal. Line items with goals serve only once their counters are trusted, a moment after the plan. */
async function sellingWorkspace(sold: ReturnType<typeof guaranteed>): Promise<string> {
  const workspaceId = await publishedWorkspace(sold, lineItem());
  await until(async () => {
    await playDaysAgo(workspaceId, [0]);
    return (await slotsGiven(pool, sold.line_item_id)) > 0;
  });
  return workspaceId;
}

const archivedIds = async (workspaceId: string) =>
  (
    await pool.query<{ decision_id: string }>(
      'select decision_id from packed_decision where workspace_id = $1 and archived_in is not null order by decision_id',
      [idToUuid(workspaceId)],
    )
  ).rows.map((row) => idFromUuid('dec', row.decision_id));

/** Waits until all decisions are published, so that any of them may be moved. */
const untilAnnounced = () =>
  until(async () => {
    const { rowCount } = await pool.query('select from announcement_batch union all select from decision_announcement');
    return rowCount === 0;
  });

type Play = Awaited<ReturnType<typeof playDaysAgo>>[number];

const explain = async (workspaceId: string, { request }: Play): Promise<unknown> =>
  JSON.parse((await operator.explain({ workspaceId, decisionId: request.decisionId }, {})).traceJson);

/** Replays and repeats a decision that was moved, and compares what explains it with what did so before. */
async function expectSame(workspaceId: string, play: Play, explanation: unknown): Promise<void> {
  const { request, answer } = play;
  const named = { workspaceId, decisionId: request.decisionId };
  expect(await operator.replay(named, {})).toMatchObject({ status: 'identical' });
  expect(await explain(workspaceId, play)).toEqual(explanation);
  await expect(explain(newId('ws'), play)).rejects.toMatchObject({ code: 'not_found' });
  // An id keeps its answer, whatever the request.
  expect(await node.client.decide(request, {})).toEqual(answer);
  expect(await node.client.decide({ ...request, atMs: BigInt(Date.now()) }, {})).toEqual(answer);
}

const objectKeys = async () => {
  const keys: string[] = [];
  for await (const { key } of engines.store.list('decisions/')) keys.push(key);
  return keys;
};

const before = () => archivedBefore(new Date(), 180);

test('old decisions move to the object store; replay, explain and a repeated request read them there, and goals stay counted', async () => {
  const sold = guaranteed(1_000);
  const workspaceId = await sellingWorkspace(sold);
  const old = await playDaysAgo(workspaceId, [181.5, 190, 190, 300]);
  const recent = await playDaysAgo(workspaceId, [0, 170]);
  await untilAnnounced();
  const explanations = await Promise.all(old.map((play) => explain(workspaceId, play)));
  const given = await slotsGiven(pool, sold.line_item_id);
  expect(given).toBeGreaterThanOrEqual(6);

  // A node sweeps when it starts.
  await using _other = await engines.startNode();
  const oldIds = old.map(({ request }) => request.decisionId).toSorted();
  await until(async () => (await archivedIds(workspaceId)).length === oldIds.length);
  expect(await archivedIds(workspaceId)).toEqual(oldIds);

  for (const [at, play] of old.entries()) await expectSame(workspaceId, play, explanations[at]);
  for (const { request, answer } of recent) expect(await node.client.decide(request, {})).toEqual(answer);
  expect(await slotsGiven(pool, sold.line_item_id)).toBe(given);
  const { rows } = await pool.query<{ bytes: number }>(
    'select max(pg_column_size(d.*))::int as bytes from packed_decision d where decision_id = any ($1::uuid[])',
    [oldIds.map(idToUuid)],
  );
  expect(rows[0]!.bytes).toBeLessThan(110);
});

test('decisions of release 0.4.0 move to the object store; replay, explain and a repeated request read them there, and goals stay counted', async () => {
  const sold = guaranteed(1_000);
  const workspaceId = await sellingWorkspace(sold);
  const plays = await playDaysAgo(workspaceId, [181.5, 190, 190, 300]);
  await untilAnnounced();
  const ids = plays.map(({ request }) => request.decisionId).toSorted();
  const explanations = await Promise.all(plays.map((play) => explain(workspaceId, play)));
  const archive = createDecisionArchive(pool, engines.store, readerOf(pool));
  const decisions = await Promise.all(
    ids.map(async (decisionId) => {
      const { inputs, ...decision } = (await archive.find(decisionId))!;
      return {
        ...decision,
        decisionId,
        inputs: inputs!,
        shareOpportunities: [],
        shareServings: [],
        mode: 'none' as const,
        nodeEpoch: 0,
      };
    }),
  );
  await pool.query('delete from packed_decision where decision_id = any ($1::uuid[])', [ids.map(idToUuid)]);
  // That release counts by the guard.
  await pool.query(`update serving_mode set mode = 'guard', wanted = 'guard'`);
  expect((await insertByRelease4(pool, decisions)).toSorted()).toEqual(ids);
  await pool.query(`update serving_mode set wanted = 'lease'`);
  await untilAnnounced();
  const counted = await countGoalSlots(pool, [sold.line_item_id]);
  expect(counted.get(sold.line_item_id)).toBeGreaterThanOrEqual(ids.length);

  await archive.moveOld(before(), 1_000);
  const { rows } = await pool.query<{ decision_id: string }>(
    `select decision_id from decision where workspace_id = $1 and archived_in is not null
       and response is null and trace is null and inputs is null order by decision_id`,
    [workspaceId],
  );
  expect(rows.map((row) => row.decision_id)).toEqual(ids);
  for (const [at, play] of plays.entries()) await expectSame(workspaceId, play, explanations[at]);
  expect(await countGoalSlots(pool, [sold.line_item_id])).toEqual(counted);
});

test('a run after a kill between storing and emptying stores the same object again; two at once move each decision once', async () => {
  const workspaceId = await publishedWorkspace(lineItem());
  const plays = await playDaysAgo(workspaceId, [200, 200, 200, 201]);
  await untilAnnounced();
  const earlier = await objectKeys();
  const killed: ObjectStore = {
    ...engines.store,
    put: async (...given) => {
      await engines.store.put(...given);
      throw new Error('killed');
    },
  };
  await expect(createDecisionArchive(pool, killed, readerOf(pool)).moveOld(before(), 1_000)).rejects.toThrow('killed');
  expect(await archivedIds(workspaceId)).toEqual([]);
  const [left] = (await objectKeys()).filter((key) => !earlier.includes(key));
  expect(left).toMatch(/^decisions\/\d{4}-\d\d-\d\d\/[0-9a-f]{64}\.ndjson\.gz$/);

  const archive = createDecisionArchive(pool, engines.store, readerOf(pool));
  await Promise.all([archive.moveOld(before(), 1_000), archive.moveOld(before(), 1_000)]);
  expect(await archivedIds(workspaceId)).toHaveLength(plays.length);
  expect(await archive.moveOld(before(), 1_000)).toBe(0);
  // One object for each day; the first has the rest.
  const stored = (await objectKeys()).filter((key) => !earlier.includes(key));
  expect(stored).toHaveLength(2);
  expect(stored).toContain(left);
  for (const { request, answer } of plays)
    expect((await archive.find(request.decisionId))?.answer.picks.length).toBe(answer.picks.length);
});

test('a decision of a day that is not over yet stays, and so does one that the bus was not told of', async () => {
  const workspaceId = await publishedWorkspace(lineItem());
  const [whole, waiting] = await playDaysAgo(workspaceId, [250, 251]);
  await untilAnnounced();
  await pool.query(
    "insert into announcement_batch (batch_id, leased_until, decision_ids) values ($1::uuid, now() + interval '1 hour', array[$1::uuid])",
    [idToUuid(waiting!.request.decisionId)],
  );
  const archive = createDecisionArchive(pool, engines.store, readerOf(pool));
  const firstMoment = archivedBefore(new Date(Number(whole!.request.atMs)), 0);
  await archive.moveOld(firstMoment, 1_000);
  expect(await archivedIds(workspaceId)).toEqual([]);
  await archive.moveOld(before(), 1_000);
  expect(await archivedIds(workspaceId)).toEqual([whole!.request.decisionId]);
  await pool.query('delete from announcement_batch');
});

test('decisions that cannot be read stay, and those of their day and of later days are moved', async () => {
  const workspaceId = await publishedWorkspace(lineItem());
  const plays = await playDaysAgo(workspaceId, [300, 300, 300, 299, 298]);
  await untilAnnounced();
  const ids = plays.map(({ request }) => request.decisionId);
  const bad = [ids[0]!, ids[1]!, ids[3]!];
  await pool.query('delete from packed_decision where decision_id <> all ($1::uuid[])', [ids.map(idToUuid)]);
  await damage(pool, bad);
  const reported: string[] = [];
  const archive = createDecisionArchive(
    pool,
    engines.store,
    readerOf(pool, ({ decisionId }) => void reported.push(decisionId)),
  );
  // One row at a time, too.
  expect([await archive.moveOld(before(), 1), await archive.moveOld(before(), 1_000)]).toEqual([1, 1]);
  expect(await archive.moveOld(before(), 1_000)).toBe(0);
  expect(await archivedIds(workspaceId)).toEqual([ids[2]!, ids[4]!].toSorted());
  expect(reported.toSorted()).toEqual(bad.toSorted());
  await expect(archive.find(bad[0]!)).rejects.toThrow('cannot be read');
  await pool.query('delete from packed_decision where decision_id = any ($1::uuid[])', [bad.map(idToUuid)]);
});

test('decisions are moved after whole UTC days', () => {
  const day = (text: string, days: number) => archivedBefore(new Date(text), days).toISOString();
  expect(day('2026-07-01T00:00:00.000Z', 180)).toBe('2026-01-02T00:00:00.000Z');
  expect(day('2026-07-01T23:59:59.999Z', 180)).toBe('2026-01-02T00:00:00.000Z');
});

test('a decision of another workspace is looked for no further than one that does not exist', async () => {
  const workspaceId = await publishedWorkspace(lineItem());
  const [old] = await playDaysAgo(workspaceId, [200]);
  await untilAnnounced();
  let reads = 0;
  const counting = Object.assign(Object.create(engines.store) as ObjectStore, {
    get: (...args: Parameters<ObjectStore['get']>) => {
      reads += 1;
      return engines.store.get(...args);
    },
  });
  const archive = createDecisionArchive(pool, counting, readerOf(pool));
  await archive.moveOld(before(), 1_000);
  expect(await archivedIds(workspaceId)).toEqual([old!.request.decisionId]);
  reads = 0;
  const { explain } = createReplayDecisions(pool, counting, archive);
  for (const decisionId of [old!.request.decisionId, newId('dec')])
    await expect(explain({ workspaceId: newId('ws'), decisionId })).rejects.toMatchObject({ code: 'not_found' });
  expect(reads).toBe(0);
  await explain({ workspaceId, decisionId: old!.request.decisionId });
  expect(reads).toBeGreaterThan(0);
});
