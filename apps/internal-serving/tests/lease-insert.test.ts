import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { idToUuid, newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';
import fc from 'fast-check';
import { areSlotsRefused } from '../src/decisions/decision-table.ts';
import { createDecisionWriter } from '../src/decisions/decision-writer.ts';
import { giveBackLeases } from '../src/leases/lease-table.ts';
import { insertInto } from './_decision.ts';
import { changeMode, closeLeases, grant, leasedDecision, leasesOf, newNode } from './_leases.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await startTestDatabase({ schema: 'serving', migrations: 'apps/internal-serving/prisma' });
  pool = createPool(database.url, 'serving', { name: 'test', max: 12, readsKeys: true });
  await changeMode(pool, 'lease');
});

afterAll(async () => {
  await pool.end();
  await database.stop();
});

const usedOf = async (lineItemId: string) => (await leasesOf(pool, lineItemId)).map(({ used }) => used);
const isStored = async (decisionId: string) =>
  (await pool.query('select from packed_decision where decision_id = $1', [idToUuid(decisionId)])).rowCount === 1;

test('the statement that stores decisions uses the leases, and a repeated id uses nothing', async () => {
  const nodeEpoch = await newNode(pool);
  const [one, other] = [newId('li'), newId('li')];
  for (const lineItemId of [one, other]) await grant(pool, nodeEpoch, lineItemId, { granted: 5 });
  const decisions = [leasedDecision(nodeEpoch, [one, one, other]), leasedDecision(nodeEpoch, [one])];
  const insert = insertInto(pool);
  expect((await insert(decisions)).size).toBe(2);
  expect((await insert(decisions)).size).toBe(0);
  expect((await insert([decisions[0]!, leasedDecision(nodeEpoch, [other])])).size).toBe(1);
  expect([await usedOf(one), await usedOf(other)]).toEqual([[3], [2]]);
});

test.each([
  [
    'more than it was granted',
    (nodeEpoch: number, lineItemId: string) => grant(pool, nodeEpoch, lineItemId, { granted: 1 }),
  ],
  ['a lease that does not exist', async () => undefined],
  [
    'a closed lease',
    async (nodeEpoch: number, lineItemId: string) => {
      await grant(pool, nodeEpoch, lineItemId, { granted: 9 });
      await closeLeases(pool, nodeEpoch);
    },
  ],
  [
    'a lease that was given back',
    async (nodeEpoch: number, lineItemId: string) => {
      await grant(pool, nodeEpoch, lineItemId, { granted: 9 });
      await giveBackLeases(pool, nodeEpoch);
    },
  ],
])('a decision that uses %s is refused, and leaves nothing', async (_case, prepare) => {
  const nodeEpoch = await newNode(pool);
  const [lineItemId, valid] = [newId('li'), newId('li')];
  await prepare(nodeEpoch, lineItemId);
  const decision = leasedDecision(nodeEpoch, [lineItemId, lineItemId]);
  const insert = insertInto(pool);
  const error = await insert([decision]).catch((reason: unknown) => reason);
  expect(areSlotsRefused(error)).toBe(true);
  expect(await isStored(decision.decisionId)).toBe(false);
  // In a batch only the row is refused that asks for too much.
  await grant(pool, nodeEpoch, valid, { granted: 2 });
  const write = createDecisionWriter(insert);
  const batch = [leasedDecision(nodeEpoch, [valid]), decision, leasedDecision(nodeEpoch, [valid]), decision];
  expect(await Promise.all(batch.map(write))).toEqual(['written', 'refused', 'written', 'refused']);
  expect(await usedOf(valid)).toEqual([2]);
});

type Step =
  | { readonly kind: 'batch'; readonly node: number; readonly decisions: readonly (readonly number[])[] }
  | { readonly kind: 'repeat'; readonly node: number; readonly at: number }
  | { readonly kind: 'grant'; readonly node: number; readonly line: number; readonly granted: number }
  | { readonly kind: 'close'; readonly node: number };

const node = fc.nat({ max: 1 });
const line = fc.nat({ max: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('batch' as const),
      node,
      decisions: fc.array(fc.array(line, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('repeat' as const), node, at: fc.nat({ max: 20 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('grant' as const), node, line, granted: fc.nat({ max: 6 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const), node }) },
);

test('in any interleaving of batches, repeats, grants and closing, use never exceeds what was granted, and equals what was stored', async () => {
  const insert = insertInto(pool);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const epochs = [await newNode(pool), await newNode(pool)] as const;
      const lines = [newId('li'), newId('li'), newId('li')];
      const asked: ReturnType<typeof leasedDecision>[] = [];
      const writers = epochs.map(() => createDecisionWriter(insert));
      const stored: string[] = [];
      const store = async (by: number, decision: (typeof asked)[number]) => {
        if ((await writers[by]!(decision)) === 'written')
          stored.push(...decision.countedSlots.map((slot) => slot.lineItemId));
      };
      const run = async (one: Step) => {
        const epoch = epochs[one.node]!;
        if (one.kind === 'grant') await grant(pool, epoch, lines[one.line]!, { granted: one.granted });
        if (one.kind === 'close') await closeLeases(pool, epoch);
        if (one.kind === 'repeat' && asked.length > 0) await store(one.node, asked[one.at % asked.length]!);
        if (one.kind !== 'batch') return;
        const decisions = one.decisions.map((of) =>
          leasedDecision(
            epoch,
            of.map((at) => lines[at]!),
          ),
        );
        asked.push(...decisions);
        await Promise.all(decisions.map((decision) => store(one.node, decision)));
      };
      // Four at a time, so that they meet.
      for (let from = 0; from < steps.length; from += 4) await Promise.all(steps.slice(from, from + 4).map(run));
      for (const lineItemId of lines) {
        const leases = await leasesOf(pool, lineItemId);
        const used = leases.reduce((sum, lease) => sum + lease.used, 0);
        expect(used).toBe(stored.filter((id) => id === lineItemId).length);
        for (const lease of leases) expect(lease.used).toBeLessThanOrEqual(lease.granted);
      }
    }),
    { numRuns: 25 },
  );
});

test('batches of a node and revisions by the pacer, over the same leases in any order, never deadlock', async () => {
  const nodeEpoch = await newNode(pool);
  const lines = Array.from({ length: 30 }, () => newId('li'));
  for (const lineItemId of lines) await grant(pool, nodeEpoch, lineItemId, { granted: 1_000 });
  const insert = insertInto(pool);
  const mixed = (by: number) => lines.map((_, at) => lines[(at * 7 + by * 11) % lines.length]!);
  const revise = async () =>
    pool.query(
      `with held as (select line_item_id from quota_lease where node_epoch = $1 order by line_item_id for update)
       update quota_lease set granted = granted + 1, revised_at = now()
       where node_epoch = $1 and line_item_id in (select line_item_id from held)`,
      [nodeEpoch],
    );
  await Promise.all(
    Array.from({ length: 60 }, (_, by) => (by % 3 === 0 ? revise() : insert([leasedDecision(nodeEpoch, mixed(by))]))),
  );
  for (const lineItemId of lines) expect(await usedOf(lineItemId)).toEqual([40]);
});

test('opportunities and servings of shares are added in the same statement, by hour and node', async () => {
  const [lineItemId, hourMs] = [newId('li'), 3_600_000];
  const shared = { shareOpportunities: [lineItemId, lineItemId], shareServings: [lineItemId] };
  const atMs = 1_767_225_600_123;
  const insert = insertInto(pool);
  const first = leasedDecision(7, [], { ...shared, atMs });
  await insert([first, leasedDecision(7, [], { ...shared, atMs: atMs + hourMs })]);
  await insert([first, leasedDecision(8, [], { ...shared, atMs }), leasedDecision(7, [], { ...shared, atMs })]);
  const { rows } = await pool.query(
    `select extract(epoch from hour)::int as hour, node_epoch::int as node, opportunities::int, served::int from share_hour
     where line_item_id = $1 order by hour, node`,
    [lineItemId],
  );
  const hour = Math.floor(atMs / hourMs) * 3_600;
  expect(rows).toEqual([
    { hour, node: 7, opportunities: 4, served: 2 },
    { hour, node: 8, opportunities: 2, served: 1 },
    { hour: hour + 3_600, node: 7, opportunities: 2, served: 1 },
  ]);
});
