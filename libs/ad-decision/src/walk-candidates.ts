import { nextBit, type Bits } from './bitset.ts';
import { decisionHash } from './decision-hash.ts';

/** Candidates ordered at once. A larger group is walked in pieces from a place that the seed chooses. */
const maxPiece = 256;

/** Smaller goes first; a whole number below 2^32. */
export type RankKey = (ordinal: number) => number;

function sortByKey(ordinals: readonly number[], keyOf: RankKey): number[] {
  if (ordinals.length === 1) return [...ordinals];
  const keys = new Float64Array(ordinals.length);
  for (let at = 0; at < keys.length; at++) keys[at] = keyOf(ordinals[at]!) * 2 ** 20 + ordinals[at]!;
  keys.sort();
  const sorted: number[] = [];
  for (const key of keys) sorted.push(key % 2 ** 20);
  return sorted;
}

/**
 * The eligible ordinals of one rank group [from, to) in the order of `keyOf`. When more than 256 are eligible the order holds
 * within pieces of 256 neighbours, the first of which the seed chooses, so the cost does not grow with the plan.
 */
export function* walkCandidates(
  eligible: Bits,
  from: number,
  to: number,
  seed: number,
  keyOf: RankKey,
): Generator<number> {
  const start = from + (decisionHash(seed, ~from) % (to - from));
  let piece: number[] = [];
  for (const [low, high] of [
    [start, to],
    [from, start],
  ] as const)
    for (let ordinal = nextBit(eligible, low, high); ordinal >= 0; ordinal = nextBit(eligible, ordinal + 1, high)) {
      piece.push(ordinal);
      if (piece.length < maxPiece) continue;
      yield* sortByKey(piece, keyOf);
      piece = [];
    }
  if (piece.length > 0) yield* sortByKey(piece, keyOf);
}
