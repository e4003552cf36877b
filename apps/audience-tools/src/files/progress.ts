export interface Progress {
  /** Adds to the number that is done. */
  readonly add: (count: number) => void;
  /** Writes the last line. */
  readonly end: () => void;
}

const everyMs = 2_000;

/**
 * Reports every 2 s how far a long work is: "recount: 1,200,000 facts, 51,000/s". A short work reports once, at its end.
 * @param write takes whole lines
 */
export function createProgress(
  what: { readonly work: string; readonly unit: string },
  write: (line: string) => void,
  nowMs: () => number,
): Progress {
  const startedMs = nowMs();
  let done = 0;
  let reportedMs = startedMs;
  const report = () => {
    reportedMs = nowMs();
    const perSecond = Math.round(done / Math.max(0.001, (reportedMs - startedMs) / 1000));
    write(`${what.work}: ${done.toLocaleString('en')} ${what.unit}, ${perSecond.toLocaleString('en')}/s\n`);
  };
  return {
    add: (count) => {
      done += count;
      if (nowMs() - reportedMs >= everyMs) report();
    },
    end: report,
  };
}
