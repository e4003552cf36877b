/**
 * Answers as `work`, or rejects with the signal's reason as soon as it aborts. The work itself goes on: `onLate` gets its answer then,
 * to release it.
 */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  onLate: (value: T) => void = () => undefined,
): Promise<T> {
  const ended = Promise.withResolvers<never>();
  const abort = () => ended.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  void work.then(
    (value) => signal.aborted && onLate(value),
    () => undefined,
  );
  try {
    return await Promise.race([ended.promise, work]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
