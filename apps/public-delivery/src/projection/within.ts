/** The work's result, or undefined when it takes longer. */
export async function within<T>(timeMs: number, work: Promise<T>): Promise<{ readonly result: T } | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, timeMs, undefined);
  return Promise.race([work.then((result) => ({ result })), late]).finally(() => clearTimeout(timer));
}
