export interface Repetition extends AsyncDisposable {
  /** Runs the work as soon as the present run has ended. */
  wake(): void;
}

/** Runs `work` now and then again and again, `everyMs` after the end of the last run. Failures are told and tried again. */
export function repeat(everyMs: number, work: () => Promise<void>, onError: (error: unknown) => void): Repetition {
  let stopped = false;
  let woken = false;
  let endNap = () => {};
  const nap = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, everyMs);
      endNap = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const running = (async () => {
    while (!stopped) {
      woken = false;
      await work().catch(onError);
      if (!stopped && !woken) await nap();
    }
  })();
  return {
    wake: () => {
      woken = true;
      endNap();
    },
    [Symbol.asyncDispose]: async () => {
      stopped = true;
      endNap();
      await running;
    },
  };
}
