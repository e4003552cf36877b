const dayMs = 86_400_000;

/** Which stored facts: those of a workspace or a podcast, as far as downloads that began in [from, to) need them. */
export interface FactScope {
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  readonly workspaceId: string | undefined;
  readonly podcastId: string | undefined;
}

/**
 * The facts that a range takes. All from the UTC midnight before it on, because velocity judges whole days, to two days after it: a
 * session goes on for up to 24 h, and so does the day of one that began just before the end. Before that midnight, of each listener and
 * episode the facts of an unbroken run of days with requests: nothing that is counted reaches across 24 h without one.
 */
export function neededFacts({ from, to }: FactScope): {
  readonly from: Date | undefined;
  readonly to: Date | undefined;
} {
  return {
    from: from && new Date(Math.floor(from.getTime() / dayMs) * dayMs),
    to: to && new Date(to.getTime() + 2 * dayMs),
  };
}
