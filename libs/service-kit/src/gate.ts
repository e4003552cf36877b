/**
 * Runs work when a place is free, those who wait in the order they came. Throws the reason of `waiting`, if given, when it aborts
 * before that; work that began is not disturbed.
 */
export type Gate = <T>(work: () => Promise<T>, waiting?: AbortSignal) => Promise<T>;

/** A gate of `places` for each key; a key costs nothing once nobody works or waits under it. */
export function createGates(places: number): (key: string) => Gate {
  const gates = new Map<string, { readonly gate: Gate; inside: number }>();
  return (key) => async (work, waiting) => {
    let entry = gates.get(key);
    if (!entry) gates.set(key, (entry = { gate: createGate(places), inside: 0 }));
    entry.inside++;
    try {
      return await entry.gate(work, waiting);
    } finally {
      if (--entry.inside === 0) gates.delete(key);
    }
  };
}

/** Lets `places` pieces of work run at a time. */
export function createGate(places: number): Gate {
  let free = places;
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
