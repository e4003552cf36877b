/** What a line item will have at its end by a forecast, with what it has had; units of its counting basis. */
interface ExpectedEnd {
  readonly goal: number;
  readonly p10: number;
  readonly p50: number;
  /** Units that one simulated unit stands for. */
  readonly scale: number;
}

/** Less than these shares of the goal, in the middle of a forecast and at its lower end, put a line item at risk. */
const [leastP50, leastP10] = [0.98, 0.9];

/**
 * Units that a line item at risk will miss: those of the middle where that is short, else those of the lower end. Undefined for one that is
 * not at risk, or misses no more than the chance of a simulation, whose units each stand for several.
 */
export function missingAtEnd({ goal, p10, p50, scale }: ExpectedEnd): number | undefined {
  const chance = Math.sqrt(goal * Math.max(1, scale));
  const isShort = (expected: number, least: number) => expected < least * goal && goal - expected > chance;
  if (isShort(p50, leastP50)) return goal - p50;
  return isShort(p10, leastP10) ? goal - p10 : undefined;
}

/** What a day of a line item is to be given, and what it will be by a forecast: in the middle, and at the upper end. */
interface ExpectedDay {
  readonly wanted: number;
  readonly expected: number;
  readonly most: number;
  /** Units that one simulated unit stands for. */
  readonly scale: number;
}

/** Units that a day will miss of its least; undefined where the upper end of the forecast reaches it, or what is missing is chance. */
export function missingOfDay({ wanted, expected, most, scale }: ExpectedDay): number | undefined {
  const missing = wanted - expected;
  return most < wanted && missing > Math.sqrt(wanted * Math.max(1, scale)) ? missing : undefined;
}

/** Slots of a podcast in a time. */
export interface FilledSlots {
  readonly opportunities: number;
  readonly unfilled: number;
}

/** Shares of fewer slots are chance. */
const leastSlots = 100;
const unfilledShare = 0.3;
const timesUsual = 1.5;

/**
 * Whether more of a podcast's slots stayed empty in a week than 30 % and than one and a half times the share of the four weeks before.
 * @returns both shares, in per cent; undefined where it is not so, or where one of the times has fewer than 100 slots
 */
export function unusuallyUnfilled(
  week: FilledSlots,
  before: FilledSlots,
): { readonly percent: number; readonly usualPercent: number } | undefined {
  if (Math.min(week.opportunities, before.opportunities) < leastSlots) return undefined;
  const [share, usual] = [week.unfilled / week.opportunities, before.unfilled / before.opportunities];
  return share > unfilledShare && share > timesUsual * usual
    ? { percent: 100 * share, usualPercent: 100 * usual }
    : undefined;
}
