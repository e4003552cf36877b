export interface Repetition extends AsyncDisposable {
  /** Runs the work soon, and not before the present run has ended. */
  wake(): void;
}

/**
 * Runs `work` now and then again and again, `everyMs` after the end of the last run. Failures are told and tried again.
 * @param collectMs how long after `wake` the work begins, so that one run does what many asked for; by default at once
 */
export function repeat(
  everyMs: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
  collectMs = 0,
): Repetition {
  let stopped = false;
  let woken = false;
  let endNap = () => {};
  const nap = (napMs: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, napMs);
      endNap = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const running = (async () => {
    while (!stopped) {
      woken = false;
      await work().catch(onError);
      if (!stopped && !woken) await nap(everyMs);
      if (!stopped && woken && collectMs > 0) await nap(collectMs);
    }
  })();
  return {
    wake: () => {
      // Whoever is being collected for is not hurried.
      if (!woken) endNap();
      woken = true;
    },
    [Symbol.asyncDispose]: async () => {
      stopped = true;
      endNap();
      await running;
    },
  };
}
