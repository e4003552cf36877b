import { addBit, createBits, hasBit, removeBit, type Bits } from './bitset.ts';

/** How far a line item with a goal is behind its plan, from 0 (it is not) to 3. */
export type UrgencyLevel = 0 | 1 | 2 | 3;

/** The ordinals of the levels 1, 2 and 3, each ordinal in one set at most. All others have level 0. */
export type Urgency = readonly [one: Bits, two: Bits, three: Bits];

/** Level 0 for each of `size` ordinals. */
export const createUrgency = (size: number): Urgency => [createBits(size), createBits(size), createBits(size)];

/** Gives an ordinal a level in place of the one that it had. */
export function setUrgency(urgency: Urgency, ordinal: number, level: UrgencyLevel): void {
  for (const bits of urgency) removeBit(bits, ordinal);
  if (level > 0) addBit(urgency[level - 1]!, ordinal);
}

/** The level of an ordinal. */
export function urgencyOf(urgency: Urgency | undefined, ordinal: number): UrgencyLevel {
  if (!urgency) return 0;
  const [one, two, three] = urgency;
  return hasBit(three, ordinal) ? 3 : hasBit(two, ordinal) ? 2 : hasBit(one, ordinal) ? 1 : 0;
}
