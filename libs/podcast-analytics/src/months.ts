/** One UTC calendar month. */
export interface Month {
  /** "2026-10". */
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The month of a time, or the one that lies `offset` months after it. */
export function monthAt(at: Date, offset = 0): Month {
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth() + offset];
  const fromMs = Date.UTC(year, month);
  return { name: new Date(fromMs).toISOString().slice(0, 7), fromMs, toMs: Date.UTC(year, month + 1) };
}

/** Months that are over, the newest first, down to the one that holds `since`. */
export function finishedMonths(since: Date, now: Date): Month[] {
  const months: Month[] = [];
  for (let month = monthAt(now, -1); month.toMs > since.getTime(); month = monthAt(new Date(month.fromMs), -1))
    months.push(month);
  return months;
}
