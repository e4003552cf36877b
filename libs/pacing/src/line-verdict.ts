/** How far a line item is behind its plan, as the order between equals sees it. */
export type Urgency = 0 | 1 | 2 | 3;

const percentsBehind = [0.5, 1.5, 4] as const;

/** 0 to 3: behind plan by more than 0.5, 1.5 and 4 per cent of the goal. */
export function urgencyOf(goal: number, target: number, committed: number): Urgency {
  const behind = ((target - committed) / goal) * 100;
  return percentsBehind.filter((percent) => behind > percent).length as Urgency;
}

/** Why no more was granted; undefined where nothing held the line item back. */
export type ShortBy = 'plan' | 'day' | 'goal' | 'budget';

export interface Bounds {
  readonly goal: number;
  /** Infinite without one. */
  readonly budget: number;
  /** Units by which a day may still grow; infinite without a bound. */
  readonly dayLeft: number;
  readonly committed: number;
  readonly isReleased: boolean;
}

/** The bound that is nearest: less than one unit is left of it. Else the plan, unless everything is released. */
export function shortByOf({ goal, budget, dayLeft, committed, isReleased }: Bounds): ShortBy | undefined {
  if (goal - committed < 1) return 'goal';
  if (budget - committed < 1) return 'budget';
  if (dayLeft < 1) return 'day';
  return isReleased ? undefined : 'plan';
}

export type PacingState = 'learning' | 'on_plan' | 'behind' | 'committed' | 'ended';

/** The word for where a line item stands; the first that fits. */
export function pacingState(line: {
  readonly hasEnded: boolean;
  readonly isCommitted: boolean;
  readonly urgency: Urgency;
  readonly isLearning: boolean;
}): PacingState {
  if (line.hasEnded) return 'ended';
  if (line.isCommitted) return 'committed';
  if (line.urgency > 0) return 'behind';
  return line.isLearning ? 'learning' : 'on_plan';
}

/** What is to be committed by now, moved on by the part of the plan that passed since it was known last. */
export function moveTarget(target: number, goal: number, passedShare: number): number {
  return target + Math.max(0, goal - target) * Math.min(1, Math.max(0, passedShare));
}
