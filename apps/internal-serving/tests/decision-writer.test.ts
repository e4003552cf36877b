import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { idToUuid, newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';
import { findDecisionRow } from '../src/decisions/decision-table.ts';
import { createDecisionWriter } from '../src/decisions/decision-writer.ts';
import { unpackRow } from '../src/decisions/packed-decision.ts';
import type { NewDecision } from '../src/decisions/stored-decision.ts';
import { decisionOf, insertInto, textsOf } from './_decision.ts';
import { changeMode } from './_leases.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await startTestDatabase({ schema: 'serving', migrations: 'apps/internal-serving/prisma' });
  pool = createPool(database.url, 'serving', { name: 'test', max: 5 });
  await changeMode(pool, 'guard');
});

afterAll(async () => {
  await pool.end();
  await database.stop();
});

/** PostgreSQL refuses NUL in a text. */
const unstorable = () => decisionOf({ countedSlots: [{ lineItemId: '\0', attempt: 'a' }] });

function writerWithSizes() {
  const sizes: number[] = [];
  const insert = insertInto(pool);
  const write = createDecisionWriter((decisions) => {
    sizes.push(decisions.length);
    return insert(decisions);
  });
  return { write, sizes };
}

const countOf = async (rows: readonly NewDecision[]) => {
  const ids = rows.map((row) => idToUuid(row.decisionId));
  return (await pool.query('select from packed_decision where decision_id = any ($1::uuid[])', [ids])).rowCount;
};

test('a batched row comes back as it was given', async () => {
  const { write } = writerWithSizes();
  const countedSlots = [
    { lineItemId: newId('li'), attempt: 'first' },
    { lineItemId: newId('li'), attempt: 'second' },
  ];
  const decisionId = newId('dec');
  const planDigest = 'ab'.repeat(32);
  const servingPlanId = newId('spl');
  const plain = decisionOf({ decisionId, servingPlanId, planDigest, countedSlots });
  const row = { ...plain, trace: { ...plain.trace, index_version: planDigest } };
  expect(await Promise.all([write(row), write(decisionOf())])).toEqual(['written', 'written']);
  const {
    shareOpportunities: _opportunities,
    shareServings: _servings,
    mode: _mode,
    nodeEpoch: _epoch,
    ...whole
  } = row;
  const { decisionId: _id, ...stored } = whole;
  const found = await findDecisionRow(pool, decisionId);
  if (found?.kind !== 'packed') throw new Error('not found');
  const read = await unpackRow(textsOf(pool), found);
  expect(JSON.parse(JSON.stringify(read))).toEqual(JSON.parse(JSON.stringify(stored)));
});

test('500 decisions at once take few inserts of at most 200, and every row is there when its call resolves', async () => {
  const { write, sizes } = writerWithSizes();
  const rows = Array.from({ length: 500 }, () => decisionOf());
  const written = await Promise.all(rows.map(async (row) => [await write(row), await countOf([row])]));
  expect(written).toEqual(rows.map(() => ['written', 1]));
  expect(sizes).toEqual([200, 200, 100]);
});

test('an id that comes twice is written by exactly one call, within a batch, across batches and across nodes', async () => {
  const [one, other] = [writerWithSizes(), writerWithSizes()];
  const rows = Array.from({ length: 50 }, () => decisionOf());
  const twice = [...rows, ...rows.toReversed()];
  const round = () => Promise.all([...twice.map(one.write), ...twice.toReversed().map(other.write)]);
  const written = [...(await round()), ...(await round())];
  expect(written.filter((outcome) => outcome === 'written')).toHaveLength(rows.length);
  expect(await countOf(rows)).toBe(rows.length);
});

test('a failing insert rejects exactly the calls of its batch, and the next one works', async () => {
  const { write, sizes } = writerWithSizes();
  const before = Array.from({ length: 200 }, () => decisionOf());
  const poison = unstorable();
  const failing = [decisionOf(), poison, decisionOf()];
  const outcomes = await Promise.allSettled([...before, ...failing, poison].map(write));
  const statuses = outcomes.map((outcome) => outcome.status);
  expect(statuses.slice(0, 200)).toEqual(before.map(() => 'fulfilled'));
  expect(statuses.slice(200)).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
  expect(await countOf(failing)).toBe(0);
  const after = failing.filter((row) => row !== poison);
  expect(await Promise.all(after.map(write))).toEqual(['written', 'written']);
  expect(sizes).toEqual([200, 3, 2]);
});

test('decisions do not wait for an insert that another node holds up', async () => {
  const { write } = writerWithSizes();
  const held = decisionOf();
  const blocker = await pool.connect();
  await blocker.query('begin');
  await blocker.query(
    'insert into packed_decision (decision_id, workspace_id, at) values ($1::uuid, $1::uuid, now())',
    [idToUuid(held.decisionId)],
  );
  const waiting = write(held);
  await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(await write(decisionOf())).toBe('written');
  await blocker.query('commit');
  blocker.release();
  expect(await waiting).toBe('repeated');
});
