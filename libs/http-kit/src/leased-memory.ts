import { LRUCache } from 'lru-cache';

/** What changed since the holder of a memory called. */
interface News {
  /** Of the newest change. */
  readonly position: bigint;
  /** Whether every answer is to be forgotten; else those of the accounts. */
  readonly everything: boolean;
  readonly accountIds: readonly string[];
}

interface Kept<T> {
  readonly value: T;
  readonly accountId: string;
  readonly endsAt: number;
}

/**
 * Answers that are used only under a lease: while it lasts, nothing is answered to who changed something before this memory has heard of
 * the change. Times are of one clock that never goes back, in milliseconds. The least recently used answer goes first.
 */
export function createLeasedMemory<T>(maxAnswers: number) {
  const answers = new LRUCache<string, Kept<T>>({ max: maxAnswers });
  let position = 0n;
  let leaseEndsAt = -Infinity;
  return {
    /** Of the newest change that it has heard of. */
    position: () => position,

    find: (key: string, now: number): T | undefined => {
      if (now >= leaseEndsAt) return undefined;
      const kept = answers.get(key);
      return kept && now < kept.endsAt ? kept.value : undefined;
    },

    /**
     * Keeps an answer, unless a change that this memory has heard of may have come after it.
     * @param known position of the newest change that the answer knows
     */
    keep: (key: string, { known, ...kept }: Kept<T> & { readonly known: bigint }): void => {
      if (known >= position) answers.set(key, kept);
    },

    /** Forgets what has changed, and begins or renews the lease. */
    renew: (endsAt: number, news: News): void => {
      // A position goes back only with a database that was restored.
      if (news.everything || news.position < position) answers.clear();
      else if (news.accountIds.length > 0) {
        const touched = new Set(news.accountIds);
        for (const [key, { accountId }] of answers) if (touched.has(accountId)) answers.delete(key);
      }
      position = news.position;
      leaseEndsAt = endsAt;
    },

    /** Ends the lease. */
    end: (): void => {
      leaseEndsAt = -Infinity;
    },
  };
}
