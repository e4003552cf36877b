/** Rejects when the work takes longer than `limitMs`; the work itself goes on. */
export async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => (timer = setTimeout(() => reject(new Error('too late')), limitMs)));
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
