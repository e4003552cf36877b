/**
 * What `work` answers, or the signal's reason at once when it aborts first. The work itself goes on; `late` gets what it still
 * answers then, to let go of it.
 */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  late: (value: T) => void = () => undefined,
): Promise<T> {
  const ended = Promise.withResolvers<never>();
  const abort = () => ended.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  void work.then(
    (value) => signal.aborted && late(value),
    () => undefined,
  );
  try {
    return await Promise.race([ended.promise, work]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
