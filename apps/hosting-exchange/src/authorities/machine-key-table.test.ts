import { expect, test } from '@jest/globals';
import { findUntilInUse } from './machine-key-table.ts';

/** A key that is found from this look on. */
function keyFrom(look: number) {
  const asked = { times: 0 };
  const find = async () => new Map(++asked.times >= look ? [['mky_1', { state: 'active' }]] : []);
  return { asked, find };
}

test.each([
  [1, 1],
  [2, 2],
  [4, 4],
])('a key that is there at look %i is found by it', async (look, times) => {
  const { asked, find } = keyFrom(look);
  expect((await findUntilInUse(['mky_1'], find)).has('mky_1')).toBe(true);
  expect(asked.times).toBe(times);
});

test('an unknown key costs the first look and three more within half a second', async () => {
  const { asked, find } = keyFrom(Infinity);
  const began = performance.now();
  expect((await findUntilInUse(['mky_1'], find)).size).toBe(0);
  expect(performance.now() - began).toBeGreaterThanOrEqual(490);
  expect(asked.times).toBe(4);
});
