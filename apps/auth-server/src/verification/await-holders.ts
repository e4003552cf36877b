import type { Pool } from '@longwave/postgres';
import { leaseMs } from './follow-changes.ts';
import { expelHolders, readHoldersBehind, type HoldersBehind } from './verification-table.ts';

/** Resolves when every process that keeps verified principals has heard of every change that is committed now, or has no lease any more. */
export type AwaitHolders = () => Promise<void>;

/** From one look at the holders to the next one, unless somebody begins to wait. */
const pollMs = 10;

/** An answer that waits for the holders. */
interface Waiting {
  /** The state that the first look after its beginning found, and when: it contains the change of this answer. */
  first?: HoldersBehind & { readonly at: number };
  /** When the leases have ended that may not know its change. A lease that ends later was asked for after the commit. */
  leasesEndAt: number;
  readonly resolve: () => void;
}

/**
 * Called after the commit and before the answer of whatever may change how credentials are verified. A holder that does not acknowledge
 * delays it by its lease, and is expelled. Never rejects: what was changed stays changed, so while the database is away it waits for the
 * longest lease. All answers that wait share their looks at the holders, one after the other; an answer takes part in those that begin
 * after it does.
 * @param wake makes this process tell its own holders at once
 */
export function createAwaitHolders(pool: Pool, wake: () => void): AwaitHolders {
  const waiting = new Set<Waiting>();
  let isPolling = false;
  let endPause = (): void => undefined;

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  function release(all: readonly Waiting[]): void {
    for (const one of all) {
      waiting.delete(one);
      one.resolve();
    }
  }

  /** Lets the answers go when the leases have ended. A timer may be early by less than a millisecond. */
  function releaseLater(all: readonly Waiting[]): void {
    for (const one of all) {
      waiting.delete(one);
      setTimeout(one.resolve, Math.max(0, Math.ceil(one.leasesEndAt - performance.now()) + 1));
    }
  }

  async function expelFor(late: readonly Waiting[]): Promise<void> {
    const first = late.flatMap((one) => one.first ?? []);
    const newest = first.reduce((position, each) => (each.position > position ? each.position : position), 0n);
    const ended = first.flatMap(({ holders }) => holders.flatMap(({ expulsion }) => expulsion ?? []));
    await expelHolders(pool, newest, ended);
  }

  async function look(asked: readonly Waiting[]): Promise<void> {
    const read = await readHoldersBehind(pool);
    const at = performance.now();
    if (read.holders.length > 0 && asked.some(({ first }) => !first)) wake();
    const late: Waiting[] = [];
    for (const one of asked) {
      const first = (one.first ??= { ...read, at });
      const behind = read.holders.filter(({ acknowledged }) => acknowledged < first.position);
      one.leasesEndAt = first.at + Math.max(0, ...behind.map(({ leaseMs: lengthMs }) => lengthMs));
      if (behind.length === 0) release([one]);
      else if (one.leasesEndAt <= at) late.push(one);
    }
    if (late.length === 0) return;
    await expelFor(late);
    release(late);
  }

  async function poll(): Promise<void> {
    isPolling = true;
    while (waiting.size > 0) {
      const asked = [...waiting];
      try {
        await look(asked);
      } catch {
        releaseLater(asked.filter((one) => waiting.has(one)));
      }
      const left = [...waiting];
      const restMs = Math.ceil(Math.min(...left.map(({ leasesEndAt }) => leasesEndAt)) - performance.now());
      if (left.length > 0 && left.every(({ first }) => first)) await pause(Math.max(0, Math.min(pollMs, restMs)));
    }
    isPolling = false;
  }

  return () =>
    new Promise((resolve) => {
      waiting.add({ leasesEndAt: performance.now() + leaseMs, resolve });
      if (isPolling) endPause();
      else void poll();
    });
}
