import { setTimeout as wait } from 'node:timers/promises';

interface Waiting<I, O> extends PromiseWithResolvers<O> {
  readonly item: I;
}

export interface BatchOptions {
  /** Most items of one batch; by default 200. */
  readonly maxItems?: number;
  /** A batch that takes longer (a lock of another node) no longer holds up the items behind it; by default 20 ms. */
  readonly patienceMs?: number;
  /** From the beginning of one batch to that of the next, at least; by default 0. So under load more items share a batch. */
  readonly everyMs?: number;
}

const endOfTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Resolves when the work is done or the time is over; the work never rejects. */
const atMost = (timeMs: number, work: Promise<void>) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, timeMs);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });

/**
 * Does work on single items in natural batches: while one batch is under way items collect, and the next batch takes them all. Alone
 * an item waits for nothing. A batch that rejects rejects each of its items.
 * @param work answers one result for each item, in their order
 */
export function inBatches<I, O>(
  work: (items: readonly I[]) => Promise<readonly O[]>,
  { maxItems = 200, patienceMs = 20, everyMs = 0 }: BatchOptions = {},
): (item: I) => Promise<O> {
  let waiting: Waiting<I, O>[] = [];
  let running = false;
  let beganMs = -Infinity;

  async function runBatch(batch: readonly Waiting<I, O>[]): Promise<void> {
    try {
      const results = await work(batch.map(({ item }) => item));
      for (const [at, { resolve }] of batch.entries()) resolve(results[at]!);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async function run(): Promise<void> {
    running = true;
    await endOfTurn();
    while (waiting.length > 0) {
      const earlyMs = beganMs + everyMs - performance.now();
      if (earlyMs > 0) await wait(earlyMs);
      beganMs = performance.now();
      const batch = waiting.slice(0, maxItems);
      waiting = waiting.slice(maxItems);
      await atMost(patienceMs, runBatch(batch));
    }
    running = false;
  }

  return (item) => {
    const call = { item, ...Promise.withResolvers<O>() };
    waiting.push(call);
    if (!running) void run();
    return call.promise;
  };
}
