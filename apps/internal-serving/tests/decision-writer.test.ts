import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';
import { findDecisionRow, insertDecisions, type DecisionRow } from '../src/decisions/decision-table.ts';
import { createDecisionWriter } from '../src/decisions/decision-writer.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await startTestDatabase({ schema: 'serving', migrations: 'apps/internal-serving/prisma' });
  pool = createPool(database.url, 'serving', { name: 'test', max: 5 });
});

afterAll(async () => {
  await pool.end();
  await database.stop();
});

function rowOf(given: Partial<DecisionRow> = {}): DecisionRow {
  const decisionId = newId('dec');
  return {
    decisionId,
    workspaceId: newId('ws'),
    atMs: 1_767_225_600_123,
    servingPlanId: undefined,
    planDigest: undefined,
    requestDigest: '00',
    answer: { decision_id: decisionId, serving_plan_id: '', picks: [], no_ad_reason: 'no_plan' },
    trace: {
      index_version: null,
      request_class: { podcast_id: '', episode_id: '', country: '', listener_bucket: 'absent' },
      stages: [],
      candidates: [],
      seed: 0,
      input_digest: '',
      output_digest: '',
    },
    inputs: undefined,
    countedSlots: [],
    shareOpportunities: [],
    shareServings: [],
    ...given,
  };
}

/** PostgreSQL refuses NUL in a text. */
const unstorable = () => rowOf({ workspaceId: '\0' });

function writerWithSizes() {
  const sizes: number[] = [];
  const write = createDecisionWriter((rows) => {
    sizes.push(rows.length);
    return insertDecisions(pool, rows);
  });
  return { write, sizes };
}

const countOf = async (rows: readonly DecisionRow[]) => {
  const ids = rows.map((row) => row.decisionId);
  return (await pool.query('select from decision where decision_id = any ($1)', [ids])).rowCount;
};

test('a batched row comes back as it was given', async () => {
  const { write } = writerWithSizes();
  const countedSlots = [
    { lineItemId: newId('li'), attempt: 'first' },
    { lineItemId: newId('li'), attempt: 'second' },
  ];
  const row = rowOf({ servingPlanId: newId('spl'), planDigest: 'ab', countedSlots });
  expect(await Promise.all([write(row), write(rowOf())])).toEqual([true, true]);
  const { decisionId, shareOpportunities: _opportunities, shareServings: _servings, ...stored } = row;
  expect(await findDecisionRow(pool, decisionId)).toEqual({ kind: 'stored', decision: stored });
});

test('500 decisions at once take few inserts of at most 200, and every row is there when its call resolves', async () => {
  const { write, sizes } = writerWithSizes();
  const rows = Array.from({ length: 500 }, () => rowOf());
  const written = await Promise.all(rows.map(async (row) => [await write(row), await countOf([row])]));
  expect(written).toEqual(rows.map(() => [true, 1]));
  expect(sizes).toEqual([200, 200, 100]);
});

test('an id that comes twice is written by exactly one call, within a batch, across batches and across nodes', async () => {
  const [one, other] = [writerWithSizes(), writerWithSizes()];
  const rows = Array.from({ length: 50 }, () => rowOf());
  const twice = [...rows, ...rows.toReversed()];
  const round = () => Promise.all([...twice.map(one.write), ...twice.toReversed().map(other.write)]);
  const written = [...(await round()), ...(await round())];
  expect(written.filter(Boolean)).toHaveLength(rows.length);
  expect(await countOf(rows)).toBe(rows.length);
});

test('a failing insert rejects exactly the calls of its batch, and the next one works', async () => {
  const { write, sizes } = writerWithSizes();
  const before = Array.from({ length: 200 }, () => rowOf());
  const poison = unstorable();
  const failing = [rowOf(), poison, rowOf()];
  const outcomes = await Promise.allSettled([...before, ...failing, poison].map(write));
  const statuses = outcomes.map((outcome) => outcome.status);
  expect(statuses.slice(0, 200)).toEqual(before.map(() => 'fulfilled'));
  expect(statuses.slice(200)).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
  expect(await countOf(failing)).toBe(0);
  const after = failing.filter((row) => row !== poison);
  expect(await Promise.all(after.map(write))).toEqual([true, true]);
  expect(sizes).toEqual([200, 3, 2]);
});

test('decisions do not wait for an insert that another node holds up', async () => {
  const { write } = writerWithSizes();
  const held = rowOf();
  const blocker = await pool.connect();
  await blocker.query('begin');
  await blocker.query(
    `insert into decision (decision_id, workspace_id, at, request_digest, response, trace)
     values ($1, 'ws', now(), '', '{}', '{}')`,
    [held.decisionId],
  );
  const waiting = write(held);
  await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(await write(rowOf())).toBe(true);
  await blocker.query('commit');
  blocker.release();
  expect(await waiting).toBe(false);
});
