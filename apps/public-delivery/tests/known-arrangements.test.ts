import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Pool } from '@longwave/postgres';
import { createKnownArrangements } from '../src/arrangements/known-arrangements.ts';
import { saveArrangement, shortIdOf } from '../src/arrangements/arrangement-table.ts';
import { arrangementOf } from './_arrangement.ts';
import { openBench, type Bench } from './_support.ts';

let bench: Bench;
let reads = 0;

const stored = ['One', 'Two', 'Three'].map(arrangementOf);

/** The real database, with its reads counted. */
const counted = (): Pick<Pool, 'query'> =>
  new Proxy(bench.pool, {
    get: (pool, name) => {
      if (name === 'query') reads++;
      return Reflect.get(pool, name, pool) as unknown;
    },
  });

beforeAll(async () => {
  bench = await openBench();
  for (const each of stored) await saveArrangement(bench.pool, each);
});
afterAll(() => bench.stop());

test('an arrangement is read once under either id, and again only after others pushed it out', async () => {
  const known = createKnownArrangements(counted(), 2);
  const [one, two, three] = stored.map(({ id }) => id) as [string, string, string];
  const readsOf = async (id: string) => {
    const before = reads;
    expect((await known.find(id))?.document).toEqual(stored.find((each) => each.id.startsWith(id))?.document);
    return reads - before;
  };
  expect([await readsOf(one), await readsOf(shortIdOf(one)), await readsOf(two), await readsOf(one)]).toEqual([
    1, 0, 1, 0,
  ]);
  // The least recently used one is dropped.
  expect([await readsOf(three), await readsOf(one), await readsOf(two)]).toEqual([1, 0, 1]);
});

test('an arrangement that is stored after a miss is found', async () => {
  const known = createKnownArrangements(bench.pool);
  const late = arrangementOf('Late');
  expect(await known.find(late.id)).toBeUndefined();
  await saveArrangement(bench.pool, late);
  expect((await known.find(late.id))?.id).toBe(late.id);
});
