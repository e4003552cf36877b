import { sleep } from '@longwave/worker-kit';

/** Waits for changes of one workspace. */
interface ChangeWatch extends Disposable {
  /** Resolves when something has changed since the last call, or after this time, or when the signal is aborted. */
  readonly next: (timeoutMs: number) => Promise<void>;
}

/** Tells streams of this process that workspaces have changed. A signal can be lost; whoever waits therefore also looks now and then. */
export interface ChangeSignals {
  readonly watch: (workspaceId: string, signal: AbortSignal) => ChangeWatch;
  readonly changed: (workspaceIds: Iterable<string>) => void;
}

export function createChangeSignals(): ChangeSignals {
  const watchers = new Map<string, Set<() => void>>();
  return {
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
          changed = false;
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
