/** Milestones of one kind: which are reached, and how far it is to the next. */
export interface Achievements {
  readonly value: number;
  readonly next: { readonly threshold: number; readonly remaining: number } | null;
  readonly objects: readonly { readonly threshold: number; readonly reached: boolean }[];
}

/** @param thresholds ascending */
export function judgeAchievements(thresholds: readonly number[], value: number): Achievements {
  const next = thresholds.find((threshold) => threshold > value);
  return {
    value,
    next: next === undefined ? null : { threshold: next, remaining: next - value },
    objects: thresholds.map((threshold) => ({ threshold, reached: value >= threshold })),
  };
}
