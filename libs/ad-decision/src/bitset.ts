/** A fixed set of ordinals 0…size−1, 32 to a word. */
export type Bits = Uint32Array;

/** An empty set with room for `size` ordinals. */
export function createBits(size: number): Bits {
  return new Uint32Array((size + 31) >>> 5);
}

export function addBit(bits: Bits, ordinal: number): void {
  bits[ordinal >>> 5]! |= 1 << (ordinal & 31);
}

export function removeBit(bits: Bits, ordinal: number): void {
  bits[ordinal >>> 5]! &= ~(1 << (ordinal & 31));
}

export function hasBit(bits: Bits, ordinal: number): boolean {
  return ((bits[ordinal >>> 5] ?? 0) & (1 << (ordinal & 31))) !== 0;
}

/** Keeps in `target` what `other` has too. */
export function intersect(target: Bits, other: Bits): void {
  for (let word = 0; word < target.length; word++) target[word]! &= other[word]!;
}

/** Adds to `target` what `other` has. */
export function unite(target: Bits, other: Bits): void {
  for (let word = 0; word < target.length; word++) target[word]! |= other[word]!;
}

/** Takes from `target` what `other` has. */
export function subtract(target: Bits, other: Bits): void {
  for (let word = 0; word < target.length; word++) target[word]! &= ~other[word]!;
}

/** Takes the ordinals ≥ `from` and < `to` from `target`. */
export function removeRange(target: Bits, from: number, to: number): void {
  for (let ordinal = from; ordinal < to;) {
    if ((ordinal & 31) === 0 && ordinal + 32 <= to) {
      target[ordinal >>> 5] = 0;
      ordinal += 32;
    } else {
      removeBit(target, ordinal);
      ordinal++;
    }
  }
}

function countWord(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** `intersect` and `countBits` of the result in one pass. */
export function intersectAndCount(target: Bits, other: Bits): number {
  let count = 0;
  for (let word = 0; word < target.length; word++) {
    const value = target[word]!;
    if (value === 0) continue;
    const both = value & other[word]!;
    target[word] = both;
    if (both !== 0) count += countWord(both);
  }
  return count;
}

/** How many ordinals the set has. */
export function countBits(bits: Bits): number {
  let count = 0;
  for (let word = 0; word < bits.length; word++) {
    const value = bits[word]!;
    if (value !== 0) count += countWord(value);
  }
  return count;
}

/** How many ordinals both sets have. */
export function countBoth(bits: Bits, other: Bits): number {
  let count = 0;
  for (let word = 0; word < bits.length; word++) {
    const both = bits[word]! & other[word]!;
    if (both !== 0) count += countWord(both);
  }
  return count;
}

/** How many ordinals ≥ `from` and < `to` the set has. */
export function countRange(bits: Bits, from: number, to: number): number {
  if (from >= to) return 0;
  const [first, last] = [from >>> 5, (to - 1) >>> 5];
  const head = bits[first]! & (-1 << (from & 31));
  const tail = 0xffffffff >>> (31 - ((to - 1) & 31));
  if (first === last) return countWord(head & tail);
  let count = countWord(head) + countWord(bits[last]! & tail);
  for (let word = first + 1; word < last; word++) count += countWord(bits[word]!);
  return count;
}

/** The place of the lowest bit of 32, of which one is set. */
export const lowestBit = (word: number): number => 31 - Math.clz32(word & -word);

/** The smallest member that is ≥ `from` and < `to`, or −1. */
export function nextBit(bits: Bits, from: number, to: number): number {
  if (from >= to) return -1;
  let word = from >>> 5;
  let rest = bits[word]! & (-1 << (from & 31));
  while (rest === 0) {
    word++;
    if (word << 5 >= to) return -1;
    rest = bits[word]!;
  }
  const ordinal = (word << 5) + lowestBit(rest);
  return ordinal < to ? ordinal : -1;
}
