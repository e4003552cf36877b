/** Runs at most `limit` pieces of work at a time; the others wait in the order they came. */
export function atMost(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      // The place goes to who waits longest.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
