import { expect, test } from '@jest/globals';
import { createTurns } from './take-turns.ts';

test('never more than the places work at once, everyone in the order they came', async () => {
  const turns = createTurns(2);
  const log: string[] = [];
  let running = 0;
  let most = 0;
  const work = (name: string) =>
    turns(1_000, async () => {
      log.push(name);
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return name;
    });
  const done = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(work));
  expect(done).toEqual(['a', 'b', 'c', 'd', 'e'].map((name) => ({ done: name })));
  expect([log, most]).toEqual([['a', 'b', 'c', 'd', 'e'], 2]);
});

test('who waits too long is told so and takes no place; a failed work gives its place back', async () => {
  const turns = createTurns(1);
  const gate = Promise.withResolvers<void>();
  const first = turns(0, () => gate.promise);
  expect(await turns(5, async () => 'never')).toBeUndefined();
  gate.resolve();
  await first;
  await expect(turns(0, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await turns(0, async () => 'now')).toEqual({ done: 'now' });
});
