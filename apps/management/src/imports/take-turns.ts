/** Runs work now, or when a place becomes free; undefined when none did in time. */
export type TakeTurns = <T>(waitMs: number, work: () => Promise<T>) => Promise<{ readonly done: T } | undefined>;

/** At most `places` works at a time; the others wait in the order they came. */
export function createTurns(places: number): TakeTurns {
  let free = places;
  const waiting: (() => void)[] = [];

  /** True once a place is the caller's. */
  function enter(waitMs: number): Promise<boolean> {
    if (free > 0) {
      free -= 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(called), 1);
        resolve(false);
      }, waitMs);
      const called = () => {
        clearTimeout(timer);
        resolve(true);
      };
      waiting.push(called);
    });
  }

  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }

  return async (waitMs, work) => {
    if (!(await enter(waitMs))) return undefined;
    try {
      return { done: await work() };
    } finally {
      leave();
    }
  };
}
