import type { PlaysEnd } from '../projection/visibility-table.ts';

/** A play that somebody has the address of. */
export interface BegunPlay {
  /** Of a play that nobody is bound to, the earliest moment at which it may have begun. */
  readonly startedAt: Date;
  readonly isBound: boolean;
  readonly parts: readonly { readonly blob: string }[];
}

/** Every process has learnt of an end by then. */
const learntMs = 5_000;

/**
 * True of plays that must not go on. A play that began just after the end, where it was not known yet, and one that nobody is bound
 * to, is over unless it plays what the episode plays now. Tokens tell the start rounded up to a second, so that one of the last second
 * before the end counts as begun just after it.
 */
export function hasEnded({ startedAt, isBound, parts }: BegunPlay, { before, digest }: PlaysEnd): boolean {
  if (!before) return false;
  const afterMs = startedAt.getTime() - before.getTime();
  if (isBound && afterMs < 0) return true;
  return afterMs < learntMs && !parts.some(({ blob }) => blob === digest);
}
