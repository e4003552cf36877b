import { expect, jest, test } from '@jest/globals';
import { createLastKnown } from './last-known.ts';

const outage = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
const silence = () => new Promise<never>(() => undefined);
const find = () => createLastKnown<{ n: number } | undefined>(10);

test('a database that refuses: the value read last, and its error for what was never read', async () => {
  const lastKnown = find();
  expect(await lastKnown('a', async () => ({ n: 1 }))).toEqual({ n: 1 });
  const refused = () => Promise.reject(outage);
  expect(await lastKnown('a', refused)).toEqual({ n: 1 });
  await expect(lastKnown('b', refused)).rejects.toBe(outage);
});

test('an error of another kind is not hidden by a value', async () => {
  const lastKnown = find();
  await lastKnown('a', async () => ({ n: 1 }));
  await expect(lastKnown('a', () => Promise.reject(new Error('wrong')))).rejects.toThrow('wrong');
});

test('a database that is silent: one request waits a second, those after it for nothing, and one a second asks again', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
  try {
    const lastKnown = find();
    await lastKnown('a', async () => ({ n: 1 }));
    let reads = 0;
    const silent = () => {
      reads += 1;
      return silence();
    };
    const first = lastKnown('a', silent);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await first).toEqual({ n: 1 });
    // It is known by now that nobody answers.
    const asked = Array.from({ length: 100 }, () => lastKnown('a', silent));
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await Promise.all(asked)).toEqual(asked.map(() => ({ n: 1 })));
    expect(reads).toBe(2);
    // Somebody asks again, and it answers.
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await lastKnown('a', async () => ({ n: 2 }))).toEqual({ n: 2 });
    expect(await lastKnown('a', async () => ({ n: 3 }))).toEqual({ n: 3 });
  } finally {
    jest.useRealTimers();
  }
});
