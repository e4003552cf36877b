import { countBoth, countWord, hasBit, type Bits } from './bitset.ts';
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

/**
 * Divides the eligible line items of a break by credit and urgency, in one pass over the plan. Without `remaining` no goal has credit,
 * nor urgency.
 */
export function divideCandidates(
  { goals }: Pick<PlanIndex, 'goals'>,
  { remaining, credit, urgency }: Pick<DecisionInputs, 'remaining' | 'credit' | 'urgency'>,
  { bits: eligible }: Pick<Eligibility, 'bits'>,
): CandidateSets {
  const levels = remaining && urgency;
  if (!credit && !levels) return { eligible, open: eligible, byUrgency: [eligible], withoutCredit: undefined };
  const size = eligible.length;
  const words = new Uint32Array(size * (levels ? 6 : 2));
  const setAt = (place: number) => words.subarray(place * size, (place + 1) * size);
  let count = 0;
  for (let word = 0; word < size; word++) {
    const all = eligible[word]!;
    if (all === 0) continue;
    const withGoal = all & goals[word]!;
    const closed = credit ? (remaining ? withGoal & ~credit[word]! : withGoal) : 0;
    words[word] = closed;
    if (closed !== 0) count += countWord(closed);
    const open = all & ~closed;
    words[size + word] = open;
    if (!levels) continue;
    const paced = withGoal & open;
    const three = paced & levels[2][word]!;
    const two = paced & levels[1][word]! & ~three;
    const one = paced & levels[0][word]! & ~three & ~two;
    words[2 * size + word] = three;
    words[3 * size + word] = two;
    words[4 * size + word] = one;
    words[5 * size + word] = open & ~three & ~two & ~one;
  }
  const open = setAt(1);
  return {
    ...{ eligible, open },
    byUrgency: levels ? [setAt(2), setAt(3), setAt(4), setAt(5)] : [open],
    withoutCredit: credit && { bits: setAt(0), count },
  };
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
