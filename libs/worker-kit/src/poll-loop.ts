import { sleep } from './sleep.ts';

/** A loop that runs until it is disposed; disposing waits for the running round, and no round begins afterwards. */
export interface PollLoop extends AsyncDisposable {
  /** Begins the next round now, or as soon as the running one has ended. */
  wake(): void;
}

export interface PollOptions {
  /**
   * One round. `true` begins the next round at once; anything else sleeps first.
   * @param signal aborted when the loop is disposed, so that a long round can end early
   */
  readonly run: (signal: AbortSignal) => Promise<unknown>;
  /** From the end of a round to the next one. */
  readonly everyMs: number;
  /** Receives the error of each round that failed, unless the loop was being disposed. */
  readonly onError: (error: unknown) => void;
  /** Sleeps before the first round too. */
  readonly sleepsFirst?: boolean;
}

const maxFailureSleepMs = 1_000;

/**
 * Runs `run` now and then again and again, never twice at a time. A round that fails is tried again: after `everyMs`, then twice as
 * long after each further failure, up to a second where `everyMs` is shorter. A wake does not shorten that sleep, so that a busy
 * caller does not hammer an engine that is away.
 */
export function pollLoop({ run, everyMs, onError, sleepsFirst = false }: PollOptions): PollLoop {
  const stopping = new AbortController();
  const { signal } = stopping;
  let sleeping = new AbortController();
  let woken = false;
  let failures = 0;

  /** Answers whether the next round begins at once. */
  async function runOnce(): Promise<boolean> {
    woken = false;
    try {
      const result = await run(signal);
      failures = 0;
      return result === true;
    } catch (error) {
      failures++;
      if (!signal.aborted) onError(error);
      return false;
    }
  }

  async function pause(): Promise<void> {
    if (signal.aborted || (woken && failures === 0)) return;
    sleeping = new AbortController();
    const longestMs = Math.max(everyMs, maxFailureSleepMs);
    await sleep(failures === 0 ? everyMs : Math.min(everyMs * 2 ** (failures - 1), longestMs), sleeping.signal);
  }

  const looping = (async () => {
    if (sleepsFirst) await pause();
    while (!signal.aborted) if (!(await runOnce())) await pause();
  })();
  return {
    wake: () => {
      woken = true;
      if (failures === 0) sleeping.abort();
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      sleeping.abort();
      await looping;
    },
  };
}
