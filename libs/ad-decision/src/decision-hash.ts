/** Spreads 32 bits evenly (the finalizer of MurmurHash3). */
function mix(value: number): number {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** 32-bit seed of a decision: FNV-1a over the UTF-16 code units of its id. */
export function seedOf(decisionId: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < decisionId.length; i++) h = Math.imul(h ^ decisionId.charCodeAt(i), 0x01000193);
  return mix(h);
}

/** Takes the place of a random number: equal inputs give equal unsigned 32-bit results on every node and in every replay. */
export function decisionHash(seed: number, number: number): number {
  return mix(seed ^ Math.imul(number + 1, 0x9e3779b1));
}

/**
 * A hash under which the smallest of several is of one of them as often as its weight says (Efraimidis and Spirakis 2006,
 * algorithm A-Res: the largest u^(1/weight)). Unsigned 32-bit.
 */
export function weighByHash(hash: number, weight: number): number {
  if (weight === 1) return hash;
  const u = 1 - (hash + 0.5) / 2 ** 32;
  return Math.floor((1 - u ** (1 / weight)) * 2 ** 32);
}
