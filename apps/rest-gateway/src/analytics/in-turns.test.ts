import { expect, test } from '@jest/globals';
import { inTurns } from './in-turns.ts';

test('results keep the order of their items, and never more run than allowed', async () => {
  let running = 0;
  let most = 0;
  const results = await inTurns([5, 1, 4, 2, 3], 2, async (ticks) => {
    most = Math.max(most, (running += 1));
    for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
    running -= 1;
    return ticks * 10;
  });
  expect({ results, most }).toEqual({ results: [50, 10, 40, 20, 30], most: 2 });
  expect(await inTurns([], 2, async () => 1)).toEqual([]);
});
