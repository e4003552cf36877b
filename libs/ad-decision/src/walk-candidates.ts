import { countRange, nextBit, type Bits } from './bitset.ts';
import { decisionHash } from './decision-hash.ts';

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

/**
 * The members of one rank group [from, to) in the order of `keyOf`. When more than 256 of the group are eligible the order holds
 * within pieces of 256 eligible neighbours, the first of which the seed chooses, so the cost does not grow with the plan. Pieces
 * depend on `eligible` alone: without some of the members, the others come in the same order.
 * @param members a part of the eligible ordinals
 */
export function* walkCandidates(
  eligible: Bits,
  members: Bits,
  from: number,
  to: number,
  seed: number,
  keyOf: RankKey,
): Generator<number> {
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
    for (let ordinal = nextBit(members, low, high); ordinal >= 0; ordinal = nextBit(members, ordinal + 1, high)) {
      if (!isOnePiece) {
        passed += countRange(eligible, reached, ordinal);
        reached = ordinal;
        if (passed >= maxPiece) {
          yield* sortByKey(piece, keyOf);
          piece = [];
          passed %= maxPiece;
        }
      }
      piece.push(ordinal);
    }
    if (!isOnePiece) passed += countRange(eligible, reached, high);
  }
  yield* sortByKey(piece, keyOf);
}
