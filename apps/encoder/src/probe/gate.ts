/** Lets at most so many pieces of work run at a time; the others wait in order. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

export function createGate(concurrency: number): Gate {
  const waiting: (() => void)[] = [];
  let free = concurrency;
  return async (work) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free--;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
