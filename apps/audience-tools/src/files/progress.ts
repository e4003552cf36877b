export interface Progress {
  /** So many more are done. */
  readonly add: (count: number) => void;
  /** Writes the last line. */
  readonly end: () => void;
}

const everyMs = 2_000;

/**
 * Says now and then how far a long work is: "recount: 1,200,000 facts, 51,000/s". Short works say it once, at their end.
 * @param write gets whole lines
 */
export function createProgress(
  what: { readonly work: string; readonly unit: string },
  write: (line: string) => void,
  nowMs: () => number,
): Progress {
  const startedMs = nowMs();
  let done = 0;
  let saidMs = startedMs;
  const say = () => {
    saidMs = nowMs();
    const perSecond = Math.round(done / Math.max(0.001, (saidMs - startedMs) / 1000));
    write(`${what.work}: ${done.toLocaleString('en')} ${what.unit}, ${perSecond.toLocaleString('en')}/s\n`);
  };
  return {
    add: (count) => {
      done += count;
      if (nowMs() - saidMs >= everyMs) say();
    },
    end: say,
  };
}
