/** Longer than an engine that works needs, and short enough for somebody who waits. */
const longestMs = 10_000;

/** What `work` answers. Rejects when it has not after 10 s, as of an engine that takes connections and does nothing; the work goes on. */
export function within<T>(work: () => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${longestMs / 1_000} s`)), longestMs);
  return Promise.race([Promise.try(work), late.promise]).finally(() => clearTimeout(timer));
}
