import { countRange } from './bitset.ts';
import { nextOpen, type CandidateSets } from './candidate-sets.ts';
import { decisionHash } from './decision-hash.ts';
import type { UrgencyLevel } from './urgency.ts';

/** Eligible line items whose candidates are ordered at once. A larger group is walked in pieces from a place that the seed chooses. */
const maxPiece = 256;

/** Smaller goes first; a whole number below 2^32. */
export type RankKey = (ordinal: number) => number;

function sortByKey(ordinals: readonly number[], keyOf: RankKey): readonly number[] {
  if (ordinals.length <= 1) return ordinals;
  const keys = new Float64Array(ordinals.length);
  for (let at = 0; at < keys.length; at++) keys[at] = keyOf(ordinals[at]!) * 2 ** 20 + ordinals[at]!;
  keys.sort();
  const sorted: number[] = [];
  for (const key of keys) sorted.push(key % 2 ** 20);
  return sorted;
}

interface WalkOrder {
  readonly seed: number;
  readonly keyOf: RankKey;
  /** Undefined for candidates of every level. */
  readonly level: UrgencyLevel | undefined;
}

/**
 * The candidates of one rank group [from, to) and one level of urgency in the order of `keyOf`. When more than 256 of the group are
 * eligible the order holds within pieces of 256 eligible neighbours, the first of which the seed chooses, so the cost does not grow
 * with the plan. Pieces depend on what is eligible alone: without some of the candidates, the others come in the same order.
 */
export function* walkCandidates(
  sets: CandidateSets,
  from: number,
  to: number,
  { seed, keyOf, level }: WalkOrder,
): Generator<number> {
  if (nextOpen(sets, from, to, level) < 0) return;
  const start = from + (decisionHash(seed, ~from) % (to - from));
  const isOnePiece = to - from <= maxPiece;
  let piece: number[] = [];
  /** Eligible ordinals of this piece before the one that is reached. */
  let passed = 0;
  for (const [low, high] of [
    [start, to],
    [from, start],
  ] as const) {
    let reached = low;
    for (let at = nextOpen(sets, low, high, level); at >= 0; at = nextOpen(sets, at + 1, high, level)) {
      if (!isOnePiece) {
        passed += countRange(sets.eligible, reached, at);
        reached = at;
        if (passed >= maxPiece) {
          yield* sortByKey(piece, keyOf);
          piece = [];
          passed %= maxPiece;
        }
      }
      piece.push(at);
    }
    if (!isOnePiece) passed += countRange(sets.eligible, reached, high);
  }
  yield* sortByKey(piece, keyOf);
}
