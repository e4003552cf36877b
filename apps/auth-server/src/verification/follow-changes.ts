import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { RpcContext } from '@longwave/rpc';
import type { FollowChangesRequest, FollowChangesResponse } from '@longwave/rpc/credential';
import { pollLoop } from '@longwave/worker-kit';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { createChangeLog } from './change-log.ts';
import { deleteHolder, readChanges, saveHolder } from './verification-table.ts';

/** How long a process may use what it keeps without hearing from this service again. */
export const leaseMs = 400;
/** A call without news is answered after this time. */
const heldMs = 100;
/** From one look at the changes to the next one, while somebody follows them. */
const pollMs = 50;

/** Holders whose rows are remembered. */
const maxHolders = 1_000;

const holderId = z.uuid();

/** For who uses no lease any more. */
const noLease: FollowChangesResponse = { position: 0n, everything: true, accountIds: [], leaseMs: 0 };

interface Following {
  readonly holder: string;
  readonly acknowledged: bigint;
  readonly answerAt: number;
  /** False: the holder is not registered. */
  readonly answer: (isRegistered: boolean) => void;
  readonly fail: (error: unknown) => void;
}

export interface FollowChanges extends AsyncDisposable {
  /** The position of the newest change that this process knows of. What is read from the database afterwards knows the changes up to it. */
  readonly position: () => bigint;
  /** Registers a process and answers it with news, or removes it. A process whose call ended meanwhile is not registered again. */
  readonly follow: (request: FollowChangesRequest, call: Pick<RpcContext, 'signal'>) => Promise<FollowChangesResponse>;
  /** Looks for changes now. */
  readonly wake: () => void;
}

/**
 * Tells processes that keep verified principals what changed. Each answer renews a lease: it knows every change that was committed before
 * its call came, because the changes are read afterwards, with the holder's registration, which whoever awaits holders reads.
 */
export function createFollowChanges({
  pool,
  onError,
}: {
  readonly pool: Pool;
  readonly onError: (error: unknown) => void;
}): FollowChanges {
  const log = createChangeLog();
  const following = new Set<Following>();
  /** Holder → the position that this process has recorded as acknowledged. */
  const recorded = new LRUCache<string, bigint>({ max: maxHolders });
  /** Holders that have left, of which a call may still be under way. None comes back under its name. */
  const left = new LRUCache<string, true>({ max: maxHolders });

  function answer(one: Following, isRegistered: boolean): void {
    following.delete(one);
    one.answer(isRegistered);
  }

  const loop = pollLoop({
    everyMs: pollMs,
    run: async () => {
      // Only those whose call came before the changes are read.
      const asked = [...following];
      if (asked.length === 0) return;
      try {
        const read = await readChanges(pool, log.position());
        if (!read) return;
        log.append(read);
        const holders = new Set(read.holderIds);
        for (const one of asked) {
          if (!holders.has(one.holder)) answer(one, false);
          else if (one.acknowledged !== read.position || performance.now() >= one.answerAt) answer(one, true);
        }
      } catch (error) {
        for (const one of asked) {
          following.delete(one);
          one.fail(error);
        }
        throw error;
      }
    },
    onError,
  });

  /** Resolves when changes were read after this call, and there is news or nothing has happened for a while. */
  const hear = (holder: string, acknowledged: bigint, answerAt: number) =>
    new Promise<boolean>((resolve, reject) => {
      following.add({ holder, acknowledged, answerAt, answer: resolve, fail: reject });
    });

  async function follow(
    { holder, acknowledged, leaving }: FollowChangesRequest,
    { signal }: Pick<RpcContext, 'signal'>,
  ): Promise<FollowChangesResponse> {
    if (!holderId.safeParse(holder).success) throw new Problem('validation_failed', 'holder: Write a UUID.');
    if (leaving) {
      left.set(holder, true);
      recorded.delete(holder);
      await deleteHolder(pool, holder);
      return noLease;
    }
    const answerAt = performance.now() + heldMs;
    while (!signal.aborted) {
      if (recorded.get(holder) !== acknowledged) {
        await saveHolder(pool, { id: holder, acknowledged, leaseMs });
        if (left.has(holder)) {
          await deleteHolder(pool, holder);
          return noLease;
        }
        recorded.set(holder, acknowledged);
      }
      if (await hear(holder, acknowledged, answerAt)) return { ...log.after(acknowledged), leaseMs };
      recorded.delete(holder);
    }
    return noLease;
  }

  return { position: log.position, follow, wake: loop.wake, [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose]() };
}
