import { countBits, countBoth, hasBit, intersect, subtract, type Bits } from './bitset.ts';
import type { DecisionInputs } from './decision-context.ts';
import type { Eligibility } from './eligibility.ts';
import type { PlanIndex } from './plan-index.ts';

/** The eligible line items of a break by what is asked of them. */
export interface CandidateSets {
  readonly eligible: Bits;
  /** Those that may be looked at. */
  readonly open: Bits;
  /** The same by urgency, the highest level first, those without a goal last. */
  readonly byUrgency: readonly Bits[];
  /** Those with a goal and without credit; undefined when credit is not known. */
  readonly withoutCredit: { readonly bits: Bits; readonly count: number } | undefined;
}

/** What of `bits` is in `other` too. */
function both(bits: Bits, other: Bits): Bits {
  const found = bits.slice();
  intersect(found, other);
  return found;
}

/** Divides the eligible line items of a break by credit and urgency. Without `remaining` no goal has credit, nor urgency. */
export function divideCandidates(
  { goals }: Pick<PlanIndex, 'goals'>,
  { remaining, credit, urgency }: Pick<DecisionInputs, 'remaining' | 'credit' | 'urgency'>,
  { bits: eligible }: Pick<Eligibility, 'bits'>,
): CandidateSets {
  let open = eligible;
  let withoutCredit: CandidateSets['withoutCredit'];
  if (credit) {
    const bits = both(eligible, goals);
    if (remaining) subtract(bits, credit);
    open = eligible.slice();
    subtract(open, bits);
    withoutCredit = { bits, count: countBits(bits) };
  }
  if (!urgency || !remaining) return { eligible, open, byUrgency: [open], withoutCredit };
  const rest = open.slice();
  const levels = urgency.toReversed().map((level) => {
    const found = both(rest, level);
    intersect(found, goals);
    subtract(rest, found);
    return found;
  });
  return { eligible, open, byUrgency: [...levels, rest], withoutCredit };
}

/**
 * Whether credit stands in the way of a line item: one with a goal was not looked at in a break with room. It reads the goals, not
 * the credit, because a replay knows the credit of those alone that were looked at.
 */
export function lacksCredit(
  { goals }: Pick<PlanIndex, 'goals'>,
  { eligible, withoutCredit }: CandidateSets,
  considered: ReadonlyMap<number, unknown>,
): boolean {
  if (!withoutCredit) return false;
  let left = countBoth(eligible, goals);
  for (const ordinal of considered.keys()) if (hasBit(goals, ordinal)) left--;
  return left > 0;
}
