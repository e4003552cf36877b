import { nextBit, type Bits } from './bitset.ts';
import { decisionHash } from './decision-hash.ts';
import type { RankGroup } from './plan-index.ts';

/** Candidates ordered at once. A larger group is walked in pieces from a place that the seed chooses. */
const pieceMax = 256;

function sortByHash(ordinals: readonly number[], seed: number): number[] {
  const keys = Float64Array.from(ordinals, (ordinal) => decisionHash(seed, ordinal) * 2 ** 20 + ordinal).sort();
  return Array.from(keys, (key) => key % 2 ** 20);
}

/**
 * The eligible ordinals of one rank group in the order of `decisionHash(seed, ordinal)`. When more than 256 are eligible the order
 * holds within pieces of 256 neighbours, the first of which the seed chooses, so the cost never grows with the plan.
 */
export function* walkCandidates(eligible: Bits, group: RankGroup, seed: number): Generator<number> {
  const { from, to } = group;
  const start = from + (decisionHash(seed, ~from) % (to - from));
  let piece: number[] = [];
  for (const [low, high] of [
    [start, to],
    [from, start],
  ] as const)
    for (let ordinal = nextBit(eligible, low, high); ordinal >= 0; ordinal = nextBit(eligible, ordinal + 1, high)) {
      piece.push(ordinal);
      if (piece.length < pieceMax) continue;
      yield* sortByHash(piece, seed);
      piece = [];
    }
  if (piece.length > 0) yield* sortByHash(piece, seed);
}
