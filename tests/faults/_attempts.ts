/** What a client of the load asks for. */
export const kinds = [
  ...(['known listener', 'new listener', 'HLS listener', 'new HLS listener', 'feed'] as const),
  ...(['command', 'read', 'upload'] as const),
] as const;
export type Kind = (typeof kinds)[number];

/** One request of one client, or a short row of them. */
export interface Attempt {
  readonly kind: Kind;
  /** On the clock of `performance.now()`. */
  readonly startedMs: number;
  readonly endedMs: number;
  /** Why it failed; absent when it did not. */
  readonly failure?: string;
}

/** An answer of the media host as it arrived: bytes of a file from an offset on. */
export interface Delivered {
  readonly requestId: string;
  readonly from: number;
  readonly to: number;
  /** Everything that the head promised has arrived. */
  readonly isWhole: boolean;
  readonly endedMs: number;
}

/** An answer that is no success. */
export class Refused extends Error {}

/** Whole milliseconds from an instant until the end of the first success that began after it; undefined while there is none. */
export const recoveryMs = (attempts: readonly Attempt[], kind: Kind, afterMs: number): number | undefined => {
  const ends = attempts.flatMap((one) =>
    one.kind === kind && one.failure === undefined && one.startedMs >= afterMs ? [one.endedMs - afterMs] : [],
  );
  return ends.length === 0 ? undefined : Math.round(Math.min(...ends));
};

/** What clients of a kind saw within a time: attempts that were under way then. */
export interface Seen {
  readonly attempts: number;
  readonly failed: number;
  readonly slowestMs: number;
  /** Reasons of failures, with their numbers. */
  readonly reasons: ReadonlyMap<string, number>;
}

export function seenWithin(attempts: readonly Attempt[], kind: Kind, fromMs: number, toMs: number): Seen {
  const within = attempts.filter((one) => one.kind === kind && one.endedMs >= fromMs && one.startedMs <= toMs);
  const reasons = new Map<string, number>();
  for (const { failure } of within) if (failure) reasons.set(failure, (reasons.get(failure) ?? 0) + 1);
  return {
    attempts: within.length,
    failed: within.filter(({ failure }) => failure !== undefined).length,
    slowestMs: Math.round(Math.max(0, ...within.map(({ startedMs, endedMs }) => endedMs - startedMs))),
    reasons,
  };
}
