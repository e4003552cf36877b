import { setTimeout as wait } from 'node:timers/promises';
import type { Pool } from '@longwave/postgres';
import { leaseMs } from './follow-changes.ts';
import { expelHolders, getPosition, listHoldersBehind } from './verification-table.ts';

/** Resolves when every process that keeps verified principals has heard of every change that is committed now, or has no lease any more. */
export type AwaitHolders = () => Promise<void>;

/** From one look at the holders to the next one. */
const pollMs = 10;

/**
 * Called after the commit and before the answer of whatever may change how credentials are verified. A holder that does not acknowledge
 * delays it by its lease, and is expelled. Never rejects: what was changed stays changed, so while the database is away it waits for the
 * longest lease.
 * @param wake makes this process tell its own holders at once
 */
export const createAwaitHolders =
  (pool: Pool, wake: () => void): AwaitHolders =>
  async () => {
    // Leases that end later were asked for after the commit, and so know of it.
    const beganAt = performance.now();
    const remainingMs = (lengthMs: number) => beganAt + lengthMs - performance.now();
    try {
      const position = await getPosition(pool);
      let behind = await listHoldersBehind(pool, position);
      const expulsions = behind.flatMap(({ expulsion }) => expulsion ?? []);
      if (behind.length > 0) wake();
      while (behind.length > 0) {
        const restMs = remainingMs(Math.max(...behind.map(({ lease_ms: lengthMs }) => lengthMs)));
        if (restMs <= 0) return await expelHolders(pool, position, expulsions);
        await wait(Math.min(pollMs, restMs));
        behind = await listHoldersBehind(pool, position);
      }
    } catch {
      await wait(Math.max(0, remainingMs(leaseMs)));
    }
  };
