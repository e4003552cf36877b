/**
 * Gathers what comes close together: answers a function that takes one thing at a time, and `then` gets those of `ms` milliseconds, each once.
 * @param after calls back after a time
 */
export function gather<T>(
  ms: number,
  after: (ms: number, then: () => void) => unknown,
  then: (things: readonly T[]) => void,
): (thing: T) => void {
  let gathered = new Map<string, T>();
  return (thing) => {
    const isFirst = gathered.size === 0;
    gathered.set(JSON.stringify(thing), thing);
    if (!isFirst) return;
    after(ms, () => {
      const things = [...gathered.values()];
      gathered = new Map();
      then(things);
    });
  };
}
