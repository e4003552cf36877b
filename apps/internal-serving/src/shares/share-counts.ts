import type { Share } from '@longwave/ad-decision';

export interface ShareCounts {
  /** Of the last 24 hours as far as this node knows: its own counts at once, those of other nodes as of the last read. */
  shareOf(lineItemId: string): Share;
  /** Counts a decision that this node stored. */
  count(opportunities: readonly string[], servings: readonly string[]): void;
  /** Reads the sums of all nodes. Rejects when they cannot be read: the node goes on with its own counts. */
  read(lineItemIds: readonly string[]): Promise<void>;
}

const hourMs = 3_600_000;
const windowHours = 24;
const noShare: Share = { served: 0, opportunities: 0 };

/** The first hour of the window of shares. */
export const shareWindowStart = (now: Date): Date =>
  new Date((Math.floor(now.getTime() / hourMs) - windowHours + 1) * hourMs);

const sumOf = (one: Share, other: Share): Share => ({
  served: one.served + other.served,
  opportunities: one.opportunities + other.opportunities,
});

/**
 * Shares of sponsorships, of the last 24 hours. The statement that stores decisions counts them, and every node reads the sums once a second.
 * @param sum opportunities and servings in the stored decisions since a time
 */
export function createShareCounts(
  sum: (lineItemIds: readonly string[], since: Date) => Promise<ReadonlyMap<string, Share>>,
  clock: () => Date,
): ShareCounts {
  let known = new Map<string, Share>();
  /** Own counts since the last read began. */
  let counted = new Map<string, Share>();

  const add = (to: Map<string, Share>, lineItemId: string, share: Share) =>
    to.set(lineItemId, sumOf(to.get(lineItemId) ?? noShare, share));

  return {
    shareOf: (lineItemId) => known.get(lineItemId) ?? noShare,

    count(opportunities, servings) {
      for (const to of [known, counted]) {
        for (const lineItemId of opportunities) add(to, lineItemId, { served: 0, opportunities: 1 });
        for (const lineItemId of servings) add(to, lineItemId, { served: 1, opportunities: 0 });
      }
    },

    async read(lineItemIds) {
      counted = new Map();
      const next = new Map(await sum(lineItemIds, shareWindowStart(clock())));
      // What was stored meanwhile may be in the sums already: then it counts twice until the next read.
      for (const lineItemId of lineItemIds)
        if (counted.has(lineItemId)) add(next, lineItemId, counted.get(lineItemId)!);
      known = next;
    },
  };
}
