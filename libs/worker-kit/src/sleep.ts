import { setTimeout as wait } from 'node:timers/promises';

/** Resolves after `ms`, or at once when `signal` is aborted. Never rejects. */
export const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  wait(ms, undefined, { signal }).catch(() => undefined);
