import { expect, test } from '@jest/globals';
import type { Pool } from '@longwave/postgres';
import { awaitKeys } from './machine-key-table.ts';

const day = 86_400_000;
const stored = {
  ...{ id: 'mky_1', state: 'active', x: 'x', purposes: ['messages'], overlap_until: null },
  ...{ not_before: new Date(0), not_after: new Date(Date.now() + day) },
};

/** A database in which the key is from this look on. */
function poolWithKeyFrom(look: number) {
  const asked = { times: 0 };
  const query = async () => ({ rows: ++asked.times >= look ? [stored] : [] });
  return { asked, pool: { query } as unknown as Pool };
}

test.each([
  [1, 1],
  [2, 2],
  [4, 4],
])('a key that is there at look %i is found by it', async (look, times) => {
  const { asked, pool } = poolWithKeyFrom(look);
  expect((await awaitKeys(pool, 'aut_1', ['mky_1'])).has('mky_1')).toBe(true);
  expect(asked.times).toBe(times);
});

test('an unknown key costs the first look and three more within half a second', async () => {
  const { asked, pool } = poolWithKeyFrom(Infinity);
  const began = performance.now();
  expect((await awaitKeys(pool, 'aut_1', ['mky_1'])).size).toBe(0);
  expect(performance.now() - began).toBeGreaterThanOrEqual(490);
  expect(asked.times).toBe(4);
});
