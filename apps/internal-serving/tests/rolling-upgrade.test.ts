import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startEarlierDatabase, startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { idToUuid, newId } from '@longwave/ids';
import type { ObjectStore } from '@longwave/object-store';
import { createPool, type Pool } from '@longwave/postgres';
import { createDecisionArchive } from '../src/decisions/decision-archive.ts';
import { countGoalSlots, countShares } from '../src/decisions/line-item-count-table.ts';
import type { NewDecision } from '../src/decisions/stored-decision.ts';
import { countByRelease4, decisionOf, filledAnswer, insertByRelease4, insertInto, readerOf } from './_decision.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await startTestDatabase({ schema: 'serving', migrations: 'apps/internal-serving/prisma' });
  pool = createPool(database.url, 'serving', { name: 'test', max: 8 });
});

afterAll(async () => {
  await pool.end();
  await database.stop();
});

const noStore = {} as ObjectStore;
const find = (of: Pool, decisionId: string) => createDecisionArchive(of, noStore, readerOf(of)).find(decisionId);
const filled = (lineItemId: string, given: Pick<Partial<NewDecision>, 'decisionId'> = {}): NewDecision => {
  const decisionId = given.decisionId ?? newId('dec');
  const answer = filledAnswer(decisionId, lineItemId);
  return decisionOf({ decisionId, answer, countedSlots: [{ lineItemId, attempt: 'a' }] });
};

test('an id that 0.4.0 and this release write at the same moment has one decision, and so has one that either wrote before', async () => {
  const lineItemId = newId('li');
  const insert = insertInto(pool);
  const decisions = Array.from({ length: 60 }, () => filled(lineItemId));
  const third = (at: number) => decisions.slice(at * 20, at * 20 + 20);
  await insert(third(0));
  await insertByRelease4(pool, third(1));
  const written: string[] = [];
  const chunks = Array.from({ length: 12 }, (_, at) => decisions.filter((_each, place) => place % 12 === at));
  await Promise.all(
    chunks.flatMap((chunk) => [
      insert(chunk).then((ids) => written.push(...ids)),
      insertByRelease4(pool, chunk.toReversed()).then((ids) => written.push(...ids)),
    ]),
  );
  expect(written.toSorted()).toEqual(
    third(2)
      .map(({ decisionId }) => decisionId)
      .toSorted(),
  );
  for (const { decisionId, answer } of decisions) expect((await find(pool, decisionId))?.answer).toEqual(answer);
  const { rows } = await pool.query<{ packed: number; old: number }>(
    `select (select count(*)::int from packed_decision where packed is not null) as packed,
            (select count(*)::int from decision where workspace_id <> '') as old`,
  );
  expect(rows[0]!.packed + rows[0]!.old).toBe(decisions.length);
  // Each slot is counted once, by either release.
  expect(await countGoalSlots(pool, [lineItemId])).toEqual(new Map([[lineItemId, decisions.length]]));
  expect(await countByRelease4(pool, lineItemId)).toBe(decisions.length);
});

test('shares are counted over the decisions of both releases', async () => {
  const lineItemId = newId('li');
  const shareOf = (served: number, offered: number) => ({
    shareServings: Array<string>(served).fill(lineItemId),
    shareOpportunities: Array<string>(offered).fill(lineItemId),
  });
  const [first, later] = [1_767_225_600_123, 1_767_225_600_123 + 3_600_000];
  await insertInto(pool)([
    decisionOf({ atMs: first, ...shareOf(1, 2) }),
    decisionOf({ atMs: later, ...shareOf(0, 3) }),
  ]);
  await insertByRelease4(pool, [decisionOf({ atMs: first, ...shareOf(2, 4) })]);
  const hour = Math.floor(first / 3_600_000);
  const counts = await countShares(pool, [lineItemId], first - 3_600_000);
  expect(counts.toSorted((a, b) => a.hour - b.hour)).toEqual([
    { lineItemId, hour, served: 3, opportunities: 6 },
    { lineItemId, hour: hour + 1, served: 0, opportunities: 3 },
  ]);
  expect(await countShares(pool, [lineItemId], later)).toHaveLength(1);
});

test('decisions from before the upgrade keep their ids taken, their answers and their slots', async () => {
  await using earlier = await startEarlierDatabase('apps/internal-serving/prisma', '_compact_decisions');
  const lineItemId = newId('li');
  const old = Array.from({ length: 5 }, () => filled(lineItemId));
  expect(await insertByRelease4(earlier.pool, old)).toHaveLength(5);
  await earlier.upgrade();
  const others = old.map(({ decisionId }) => filled(lineItemId, { decisionId }));
  expect([...(await insertInto(earlier.pool)(others))]).toEqual([]);
  expect(await insertByRelease4(earlier.pool, others)).toEqual([]);
  expect([...(await insertInto(earlier.pool)(others))]).toEqual([]);
  for (const { decisionId, answer } of old) expect((await find(earlier.pool, decisionId))?.answer).toEqual(answer);
  expect(await countGoalSlots(earlier.pool, [lineItemId])).toEqual(new Map([[lineItemId, 5]]));
});

test('the database reads an id as the service does', async () => {
  const ids = Array.from({ length: 50 }, () => newId('dec'));
  const { rows } = await pool.query<{ uuid: string }>(
    'select id_to_uuid(id) as uuid from unnest($1::text[]) with ordinality as one (id, at) order by at',
    [[...ids, `dec_${'0'.repeat(26)}`, `dec_7${'z'.repeat(25)}`]],
  );
  expect(rows.map((row) => row.uuid)).toEqual([
    ...ids.map(idToUuid),
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ]);
});
