const dayMs = 86_400_000;

/** The facts of a workspace or a podcast that downloads which began in [from, to) need. */
export interface FactScope {
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  readonly workspaceId: string | undefined;
  readonly podcastId: string | undefined;
}

/**
 * The facts that a range needs: all from the UTC midnight before it, because rule 16 looks at whole days, to two days after it, because a
 * session goes on for up to 24 h, and so does the day of one that began just before the end. Before that midnight it also needs the facts of
 * each listener and episode in an unbroken run of days with requests: nothing that is counted reaches across 24 h without one.
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
