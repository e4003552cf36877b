import type { PlaysEnd } from '../projection/visibility-table.ts';

/** A play whose address a client has. */
export interface BegunPlay {
  /** Of a play without a binding, the earliest moment at which it may have begun. */
  readonly startedAt: Date;
  readonly isBound: boolean;
  readonly parts: readonly { readonly blob: string }[];
}

/** By then every process knows of an end. */
const learntMs = 5_000;

/**
 * True for plays that must not go on. A play without a binding, and one that began so soon after the end that its process may not have
 * known of it, is over unless it plays the present audio of the episode. Tokens tell the start rounded up to a second, so a play of the
 * last second before the end counts as begun just after it.
 */
export function hasEnded({ startedAt, isBound, parts }: BegunPlay, { before, digest }: PlaysEnd): boolean {
  if (!before) return false;
  const afterMs = startedAt.getTime() - before.getTime();
  if (isBound && afterMs < 0) return true;
  return afterMs < learntMs && !parts.some(({ blob }) => blob === digest);
}
