import { sleep } from '@longwave/worker-kit';

/** Waits for changes of one workspace. */
interface ChangeWatch extends Disposable {
  /**
   * Waits until something has changed since the last call, or the signal is aborted, at most so long.
   * @returns false when the time ran out
   */
  readonly next: (timeoutMs: number) => Promise<boolean>;
}

/** Tells streams of this process that workspaces have changed. */
export interface ChangeSignals {
  readonly watch: (workspaceId: string, signal: AbortSignal) => ChangeWatch;
  readonly changed: (workspaceIds: Iterable<string>) => void;
  /** The workspaces that somebody watches now. */
  readonly watched: () => string[];
}

export function createChangeSignals(): ChangeSignals {
  const watchers = new Map<string, Set<() => void>>();
  return {
    watched: () => [...watchers.keys()],
    changed: (workspaceIds) => {
      for (const id of workspaceIds) for (const wake of watchers.get(id) ?? []) wake();
    },
    watch: (workspaceId, signal) => {
      let changed = false;
      let sleeping = new AbortController();
      const wake = () => {
        changed = true;
        sleeping.abort();
      };
      const here = watchers.get(workspaceId) ?? new Set();
      watchers.set(workspaceId, here.add(wake));
      signal.addEventListener('abort', wake);
      return {
        next: async (timeoutMs) => {
          sleeping = new AbortController();
          if (!changed && !signal.aborted) await sleep(timeoutMs, sleeping.signal);
          const isWoken = changed || signal.aborted;
          changed = false;
          return isWoken;
        },
        [Symbol.dispose]: () => {
          signal.removeEventListener('abort', wake);
          here.delete(wake);
          if (here.size === 0 && watchers.get(workspaceId) === here) watchers.delete(workspaceId);
        },
      };
    },
  };
}
