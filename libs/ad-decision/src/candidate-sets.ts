import { countBits, countBoth, hasBit, intersect, lowestBit, subtract, type Bits } from './bitset.ts';
import type { DecisionInputs } from './decision-context.ts';
import type { Eligibility } from './eligibility.ts';
import type { PlanIndex } from './plan-index.ts';
import type { Urgency, UrgencyLevel } from './urgency.ts';

/** The eligible line items of a break, and what orders them and keeps them out together. */
export interface CandidateSets {
  readonly eligible: Bits;
  readonly goals: Bits;
  /** Those with a goal and without credit: they are not looked at. Undefined when credit is not known. */
  readonly withoutCredit: { readonly bits: Bits; readonly count: number } | undefined;
  /** Undefined when no line item is urgent. */
  readonly urgency: Urgency | undefined;
}

/** Divides the eligible line items of a break. Without `remaining` no goal has credit, nor urgency. */
export function divideCandidates(
  { goals }: Pick<PlanIndex, 'goals'>,
  { remaining, credit, urgency }: Pick<DecisionInputs, 'remaining' | 'credit' | 'urgency'>,
  { bits: eligible }: Pick<Eligibility, 'bits'>,
): CandidateSets {
  const sets = { eligible, goals, urgency: remaining && urgency };
  if (!credit) return { ...sets, withoutCredit: undefined };
  const bits = eligible.slice();
  intersect(bits, goals);
  if (remaining) subtract(bits, credit);
  return { ...sets, withoutCredit: { bits, count: countBits(bits) } };
}

/** 32 ordinals that may be looked at, of one level of urgency or of all. Only line items with a goal have a level above 0. */
function openWord({ eligible, goals, withoutCredit, urgency }: CandidateSets, word: number, level?: UrgencyLevel) {
  let open = eligible[word]!;
  if (open === 0) return 0;
  if (withoutCredit) open &= ~withoutCredit.bits[word]!;
  if (level === undefined || !urgency) return open;
  const paced = open & goals[word]!;
  const three = paced & urgency[2][word]!;
  if (level === 3) return three;
  const two = paced & ~three & urgency[1][word]!;
  if (level === 2) return two;
  const one = paced & ~three & ~two & urgency[0][word]!;
  return level === 1 ? one : open & ~three & ~two & ~one;
}

/**
 * The smallest ordinal ≥ `from` and < `to` that may be looked at, or −1. Nothing is built in between: a walk reads the part of the plan
 * that it comes through, once for each level.
 * @param level of urgency; undefined for all
 */
export function nextOpen(sets: CandidateSets, from: number, to: number, level?: UrgencyLevel): number {
  if (from >= to) return -1;
  let word = from >>> 5;
  let rest = openWord(sets, word, level) & (-1 << (from & 31));
  while (rest === 0) {
    word++;
    if (word << 5 >= to) return -1;
    rest = openWord(sets, word, level);
  }
  const ordinal = (word << 5) + lowestBit(rest);
  return ordinal < to ? ordinal : -1;
}

/**
 * Whether credit stands in the way of a line item: one with a goal was not looked at in a break with room. It reads the goals, not
 * the credit, because a replay knows the credit of those alone that were looked at.
 */
export function lacksCredit(
  { eligible, goals, withoutCredit }: CandidateSets,
  considered: ReadonlyMap<number, unknown>,
): boolean {
  if (!withoutCredit) return false;
  let left = countBoth(eligible, goals);
  for (const ordinal of considered.keys()) if (hasBit(goals, ordinal)) left--;
  return left > 0;
}
