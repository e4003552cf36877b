import { expect, test } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import type { LeaseEnd } from './keep-lease.ts';
import { leasedWorker, type LeasedWorkerOptions } from './leased-worker.ts';

const hourMs = 3_600_000;
const kept = { leaseMs: 60_000, renew: async () => ({ held: true, stop: false }) };

/** A worker on a queue of numbers; `until` resolves when so many jobs have ended. */
function start(queue: number[], options: Partial<LeasedWorkerOptions<number>> = {}) {
  const ended: number[] = [];
  const errors: [unknown, number | undefined][] = [];
  const worker = leasedWorker<number>({
    concurrency: 2,
    pollMs: hourMs,
    claim: async () => queue.shift(),
    leaseOf: () => kept,
    onError: (error, job) => errors.push([error, job]),
    ...options,
    work: async (job, signal) => {
      try {
        await options.work?.(job, signal);
      } finally {
        ended.push(job);
      }
    },
  });
  const until = async (jobs: number) => {
    for (const giveUpAt = performance.now() + 5_000; ended.length < jobs; await wait(2))
      if (performance.now() > giveUpAt) throw new Error(`only ${ended.length} jobs have ended`);
  };
  return { worker, ended, errors, until };
}

test('no more jobs run at a time than the worker may, and the end of one brings the next without a wake', async () => {
  let running = 0;
  let most = 0;
  const { worker, until } = start([1, 2, 3, 4, 5, 6], {
    work: async () => {
      most = Math.max(most, ++running);
      await wait(10);
      running--;
    },
  });
  await using _worker = worker;
  await until(6);
  expect(most).toBe(2);
});

test('a wake brings a job that came after the last claim', async () => {
  const queue: number[] = [];
  const { worker, until } = start(queue);
  await using _worker = worker;
  await wait(10);
  queue.push(1);
  worker.wake();
  await until(1);
});

test('a claim is told which jobs run', async () => {
  const told: (readonly number[])[] = [];
  const queue = [1, 2];
  const { worker, until } = start(queue, {
    claim: async (_signal, running) => (told.push(running), queue.shift()),
    work: () => wait(20),
  });
  await using _worker = worker;
  await until(2);
  expect(told.slice(0, 2)).toEqual([[], [1]]);
});

test('neither a claim nor work that fails stops the worker', async () => {
  const queue = [1, 2];
  let claims = 0;
  const { worker, errors, until } = start(queue, {
    pollMs: 1,
    claim: async () => {
      if (++claims === 1) throw new Error('no claim');
      return queue.shift();
    },
    work: async (job) => {
      if (job === 1) throw new Error('no work');
    },
  });
  await using _worker = worker;
  await until(2);
  expect(errors).toEqual([
    [new Error('no claim'), undefined],
    [new Error('no work'), 1],
  ]);
});

test('a lost lease aborts the signal of its own job at once, and of no other', async () => {
  const reasons: LeaseEnd[] = [];
  const { worker, ended, until } = start([1, 2], {
    leaseOf: (job) => (job === 1 ? { leaseMs: 60, renew: async () => ({ held: false, stop: false }) } : kept),
    work: (_job, signal) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => resolve(reasons.push((signal.reason as { reason: LeaseEnd }).reason))),
      ),
  });
  await until(1);
  expect([ended, reasons]).toEqual([[1], ['lost']]);
  await worker[Symbol.asyncDispose]();
  expect([ended, reasons]).toEqual([
    [1, 2],
    ['lost', 'shutdown'],
  ]);
});

test('disposing waits for the work in hand and claims nothing more', async () => {
  const queue = [1, 2, 3, 4];
  const { worker, ended } = start(queue, {
    work: async (_job, signal) => {
      await wait(hourMs, undefined, { signal }).catch(() => undefined);
      await wait(30);
    },
  });
  await wait(20);
  await worker[Symbol.asyncDispose]();
  expect(ended).toEqual([1, 2]);
  worker.wake();
  await wait(20);
  expect([queue, ended]).toEqual([
    [3, 4],
    [1, 2],
  ]);
});
