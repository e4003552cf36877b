import type { Bits, Decision, PlanIndex, Urgency } from '@longwave/ad-decision';

/**
 * What this node knows of the goals of a plan at once, beside `remaining` of each line item. Sets are in the ordinals of the index.
 * A set is read until the decision that asked for it is made, without a pause: it may be changed in place between two decisions.
 */
export interface GoalCredit {
  /** Line items with a goal that may be given a slot now. */
  creditOf(index: PlanIndex): Bits;
  /** Slots that a line item with a goal may take now, by its ordinal: of the same instant as `creditOf`, which is asked first. */
  remainingOf(index: PlanIndex): (ordinal: number) => number;
  /** Line items with a goal that are behind their plans; undefined when it is not known of any. */
  urgencyOf(index: PlanIndex): Urgency | undefined;
  /** Takes note of what a decision asked of the goals of its plan. */
  addAsked(index: PlanIndex, decisionId: string, decision: Pick<Decision, 'verdicts'>): void;
}
