/**
 * Runs work when fewer pieces run than may, in the order of the calls. Throws the reason of `waiting` when that aborts before the work
 * began; work that began is not disturbed.
 */
export type Gate = <T>(work: () => Promise<T>, waiting?: AbortSignal) => Promise<T>;

/** A gate for each key; a key takes no memory once no work runs or waits under it. */
export function createGates(concurrency: number): (key: string) => Gate {
  const gates = new Map<string, { readonly gate: Gate; inside: number }>();
  return (key) => async (work, waiting) => {
    let entry = gates.get(key);
    if (!entry) gates.set(key, (entry = { gate: createGate(concurrency), inside: 0 }));
    entry.inside++;
    try {
      return await entry.gate(work, waiting);
    } finally {
      if (--entry.inside === 0) gates.delete(key);
    }
  };
}

/** Lets `concurrency` pieces of work run at a time. */
export function createGate(concurrency: number): Gate {
  let free = concurrency;
  const queue = new Set<() => void>();

  function enter(waiting?: AbortSignal): Promise<void> {
    waiting?.throwIfAborted();
    if (free > 0) {
      free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const leaveQueue = () => {
        queue.delete(called);
        reject(waiting?.reason);
      };
      const called = () => {
        waiting?.removeEventListener('abort', leaveQueue);
        resolve();
      };
      queue.add(called);
      waiting?.addEventListener('abort', leaveQueue, { once: true });
    });
  }

  return async (work, waiting) => {
    await enter(waiting);
    try {
      return await work();
    } finally {
      const [next] = queue;
      if (next) {
        queue.delete(next);
        next();
      } else free++;
    }
  };
}
