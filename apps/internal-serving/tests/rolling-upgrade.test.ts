import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startEarlierDatabase, startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { idToUuid, newId } from '@longwave/ids';
import type { ObjectStore } from '@longwave/object-store';
import { createPool, type Pool } from '@longwave/postgres';
import { createDecisionArchive } from '../src/decisions/decision-archive.ts';
import { countGoalSlots } from '../src/decisions/line-item-count-table.ts';
import type { NewDecision } from '../src/decisions/stored-decision.ts';
import { sumShares } from '../src/shares/share-table.ts';
import { countByRelease4, decisionOf, filledAnswer, insertByRelease4, insertInto, readerOf } from './_decision.ts';
import { changeMode } from './_leases.ts';

let database: TestDatabase;
let pool: Pool;
let firstMode: string;

const modeOf = async (of: Pool) => (await of.query<{ mode: string }>('select mode from serving_mode')).rows[0]!.mode;

beforeAll(async () => {
  database = await startTestDatabase({ schema: 'serving', migrations: 'apps/internal-serving/prisma' });
  pool = createPool(database.url, 'serving', { name: 'test', max: 8 });
  firstMode = await modeOf(pool);
  await changeMode(pool, 'guard');
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

const shareOf = (lineItemId: string, served: number, offered: number) => ({
  shareServings: Array<string>(served).fill(lineItemId),
  shareOpportunities: Array<string>(offered).fill(lineItemId),
});

/** Stores shares as releases from 0.5.0 to 0.7.0 do: they write no mode. */
const countByRelease7 = (of: Pool, lineItemId: string, atMs: number, served: number, offered: number) =>
  of.query(
    `insert into line_item_count (line_item_id, hour, batch_id, goal_slots, share_servings, share_opportunities)
     values ($1, date_trunc('hour', to_timestamp($2 / 1000.0), 'UTC'), gen_random_uuid(), 0, $3, $4)`,
    [lineItemId, atMs, served, offered],
  );

test('shares are counted over the decisions of all releases that run', async () => {
  const lineItemId = newId('li');
  const [first, later] = [1_767_225_600_123, 1_767_225_600_123 + 3_600_000];
  await insertInto(pool)([
    decisionOf({ atMs: first, ...shareOf(lineItemId, 1, 2) }),
    decisionOf({ atMs: later, ...shareOf(lineItemId, 0, 3) }),
  ]);
  await insertByRelease4(pool, [decisionOf({ atMs: first, ...shareOf(lineItemId, 2, 4) })]);
  for (let batch = 0; batch < 2; batch++) await countByRelease7(pool, lineItemId, later, 1, 5);
  const since = async (ms: number) => (await sumShares(pool, [lineItemId], new Date(ms))).get(lineItemId);
  expect(await since(first - 3_600_000)).toEqual({ served: 5, opportunities: 19 });
  expect(await since(later - 3_600_000 / 2)).toEqual({ served: 2, opportunities: 13 });
});

test('a new installation counts goals by leases, one that served before the upgrade by the guard; shares of the day before it are in the window afterwards', async () => {
  await using earlier = await startEarlierDatabase('apps/internal-serving/prisma', '_quota_leases');
  const lineItemId = newId('li');
  const nowMs = Date.now();
  await insertByRelease4(earlier.pool, [decisionOf({ atMs: nowMs, ...shareOf(lineItemId, 1, 3) })]);
  await countByRelease7(earlier.pool, lineItemId, nowMs, 2, 4);
  await countByRelease7(earlier.pool, lineItemId, nowMs - 48 * 3_600_000, 7, 7);
  await earlier.upgrade();
  await countByRelease7(earlier.pool, lineItemId, nowMs, 1, 1);
  const shares = await sumShares(earlier.pool, [lineItemId], new Date(nowMs - 2 * 3_600_000));
  expect(shares.get(lineItemId)).toEqual({ served: 4, opportunities: 8 });
  expect([firstMode, await modeOf(earlier.pool)]).toEqual(['lease', 'guard']);
});

test('while leases pay, releases that know none give no slots of goals', async () => {
  const lineItemId = newId('li');
  await changeMode(pool, 'lease');
  await expect(insertByRelease4(pool, [filled(lineItemId)])).rejects.toThrow('slots of goals are refused');
  await expect(insertInto(pool)([filled(lineItemId)])).rejects.toThrow('slots of goals are refused');
  expect(await countGoalSlots(pool, [lineItemId])).toEqual(new Map());
  await changeMode(pool, 'guard');
  expect((await insertInto(pool)([filled(lineItemId)])).size).toBe(1);
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
