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

interface LeasedMemoryOptions<T> {
  readonly maxAnswers: number;
  /** Of all answers together. */
  readonly maxBytes: number;
  readonly sizeOf: (value: T) => number;
  /** A clock that never goes back, in milliseconds. */
  readonly now: () => number;
}

/**
 * Answers that are used only under a lease: while it lasts, nothing is answered to who changed something before this memory has heard of
 * the change. An answer goes at its end; before that the least recently used one goes first.
 */
export function createLeasedMemory<T>({ maxAnswers, maxBytes, sizeOf, now }: LeasedMemoryOptions<T>) {
  const answers = new LRUCache<string, Kept<T>>({
    max: maxAnswers,
    maxSize: maxBytes,
    sizeCalculation: ({ value }) => Math.max(1, sizeOf(value)),
    perf: { now },
    ttlResolution: 0,
  });
  let position = 0n;
  let leaseEndsAt = -Infinity;
  return {
    /** Of the newest change that it has heard of. */
    position: () => position,

    /** How many answers it keeps. */
    size: () => answers.size,

    find: (key: string): T | undefined => {
      const at = now();
      if (at >= leaseEndsAt) return undefined;
      const kept = answers.get(key);
      return kept && at < kept.endsAt ? kept.value : undefined;
    },

    /**
     * Keeps an answer under a lease, unless a change that this memory has heard of may have come after it.
     * @param known position of the newest change that the answer knows
     */
    keep: (key: string, { known, ...kept }: Kept<T> & { readonly known: bigint }): void => {
      const at = now();
      if (known >= position && at < leaseEndsAt && at < kept.endsAt) answers.set(key, kept, { ttl: kept.endsAt - at });
    },

    /** Forgets what has changed or ended, and begins or renews the lease. */
    renew: (endsAt: number, news: News): void => {
      // A position goes back only with a database that was restored.
      if (news.everything || news.position < position) answers.clear();
      else if (news.accountIds.length > 0) {
        const touched = new Set(news.accountIds);
        for (const [key, { accountId }] of answers) if (touched.has(accountId)) answers.delete(key);
      }
      answers.purgeStale();
      position = news.position;
      leaseEndsAt = endsAt;
    },

    /** Ends the lease, and forgets every answer. */
    end: (): void => {
      leaseEndsAt = -Infinity;
      answers.clear();
    },
  };
}
