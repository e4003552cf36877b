const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/**
 * Start of the first UTC day that facts in time may still change, milliseconds since the epoch: a session grows for 24 h from its start,
 * and rule 16 holds whole days.
 */
export const provisionalFromMs = (completeUntilMs: number): number =>
  Math.max(0, Math.floor((completeUntilMs - dayMs) / dayMs) * dayMs);

/** The first hour from a time on that lacks facts: the one in which counting is complete up to now. */
export const incompleteFromMs = (fromMs: number, completeUntilMs: number): number =>
  Math.max(fromMs, Math.floor(completeUntilMs / hourMs) * hourMs);
