import { expect, test } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { pollLoop } from './poll-loop.ts';

const hourMs = 3_600_000;
const noErrors = (error: unknown) => {
  throw error;
};

/** Counts rounds; `reached` resolves with the round of that number. */
function countRounds() {
  let rounds = 0;
  const waiting = new Map<number, PromiseWithResolvers<void>>();
  const of = (round: number) => {
    if (!waiting.has(round)) waiting.set(round, Promise.withResolvers());
    return waiting.get(round)!;
  };
  return {
    count: () => of(++rounds).resolve(),
    reached: (round: number) => of(round).promise,
    rounds: () => rounds,
  };
}

test('rounds never overlap, however often the loop is woken', async () => {
  const { count, reached } = countRounds();
  let running = 0;
  let most = 0;
  await using loop = pollLoop({
    everyMs: 1,
    onError: noErrors,
    run: async () => {
      most = Math.max(most, ++running);
      await wait(5);
      running--;
      count();
    },
  });
  for (let round = 1; round <= 10; round++) {
    for (let times = 0; times < 5; times++) loop.wake();
    await reached(round);
  }
  expect(most).toBe(1);
});

test('the first round begins at once, or after a sleep', async () => {
  const [now, later] = [countRounds(), countRounds()];
  const options = { everyMs: hourMs, onError: noErrors };
  await using _now = pollLoop({ ...options, run: async () => now.count() });
  await using sleeper = pollLoop({ ...options, run: async () => later.count(), sleepsFirst: true });
  await now.reached(1);
  await wait(20);
  expect([now.rounds(), later.rounds()]).toEqual([1, 0]);
  sleeper.wake();
  await later.reached(1);
});

test('rounds follow each other after the sleep', async () => {
  const { count, reached } = countRounds();
  const beganAt = performance.now();
  await using _loop = pollLoop({ everyMs: 30, onError: noErrors, run: async () => count() });
  await reached(4);
  expect(performance.now() - beganAt).toBeGreaterThanOrEqual(85);
});

test('a wake ends the sleep', async () => {
  const { count, reached } = countRounds();
  await using loop = pollLoop({ everyMs: hourMs, onError: noErrors, run: async () => count() });
  await reached(1);
  await wait(10);
  loop.wake();
  await reached(2);
});

test('a wake during a round causes another round, and one only', async () => {
  const { count, reached, rounds } = countRounds();
  const held = Promise.withResolvers<void>();
  await using loop = pollLoop({
    everyMs: hourMs,
    onError: noErrors,
    run: async () => {
      count();
      await held.promise;
    },
  });
  await reached(1);
  loop.wake();
  loop.wake();
  held.resolve();
  await reached(2);
  await wait(20);
  expect(rounds()).toBe(2);
});

test('a round that answers true is followed at once', async () => {
  const { count, reached, rounds } = countRounds();
  await using _loop = pollLoop({
    everyMs: hourMs,
    onError: noErrors,
    run: async () => {
      count();
      return rounds() < 5;
    },
  });
  await reached(5);
  await wait(20);
  expect(rounds()).toBe(5);
});

test('disposing aborts the signal, waits for the running round, and nothing runs afterwards', async () => {
  const { count, reached, rounds } = countRounds();
  let ended = false;
  const loop = pollLoop({
    everyMs: 1,
    onError: noErrors,
    run: async (signal) => {
      count();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await wait(30);
      ended = true;
      return true;
    },
  });
  await reached(1);
  await loop[Symbol.asyncDispose]();
  expect(ended).toBe(true);
  loop.wake();
  await wait(20);
  expect(rounds()).toBe(1);
});

test('disposing ends a sleep at once', async () => {
  const { count, reached } = countRounds();
  const loop = pollLoop({ everyMs: hourMs, onError: noErrors, run: async () => count() });
  await reached(1);
  await loop[Symbol.asyncDispose]();
});

test('a round that fails is reported and does not end the loop', async () => {
  const { count, reached, rounds } = countRounds();
  const errors: unknown[] = [];
  await using _loop = pollLoop({
    everyMs: 1,
    onError: (error) => errors.push(error),
    run: async () => {
      count();
      if (rounds() <= 3) throw new Error(`round ${rounds()}`);
    },
  });
  await reached(5);
  expect(errors).toEqual([1, 2, 3].map((round) => new Error(`round ${round}`)));
});

test('sleeps grow from failure to failure, and a wake does not shorten them', async () => {
  const { count, reached, rounds } = countRounds();
  await using loop = pollLoop({
    everyMs: 20,
    onError: () => undefined,
    run: async () => {
      count();
      if (rounds() <= 4) throw new Error('away');
    },
  });
  const waking = setInterval(loop.wake, 5);
  const beganAt = performance.now();
  await reached(5);
  clearInterval(waking);
  // 20 + 40 + 80 + 160
  expect(performance.now() - beganAt).toBeGreaterThanOrEqual(290);
});

test('a round that was cut off by the disposal is not reported as failed', async () => {
  const { count, reached } = countRounds();
  const errors: unknown[] = [];
  const loop = pollLoop({
    everyMs: 1,
    onError: (error) => errors.push(error),
    run: async (signal) => {
      count();
      await wait(hourMs, undefined, { signal });
    },
  });
  await reached(1);
  await loop[Symbol.asyncDispose]();
  expect(errors).toEqual([]);
});
