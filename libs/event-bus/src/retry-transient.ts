import { Problem } from '@longwave/problems';
import { sleep } from '@longwave/worker-kit';

/**
 * Failures that another try cannot repair: the input's (zod, range, a problem of the client's) and SQLSTATE classes
 * 22 data, 23 constraint, 42 statement.
 */
function isPermanent(error: unknown): boolean {
  if (error instanceof Problem) return error.status < 500 && error.status !== 409;
  if (error instanceof RangeError || error instanceof TypeError) return true;
  if (error instanceof Error && error.name === 'ZodError') return true;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^(22|23|42)[0-9A-Z]{3}$/.test(code);
}

/**
 * Runs `work` until it succeeds, waiting longer each time (0.1 s to 5 s), so that an absent database or a lost lock delays
 * messages and loses none. Throws permanent failures at once, and the last failure when `signal` is aborted.
 */
export async function retryTransient<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
  onRetry: (error: unknown) => void,
): Promise<T> {
  for (let delayMs = 100; ; delayMs = Math.min(delayMs * 2, 5_000)) {
    try {
      return await work();
    } catch (error) {
      if (isPermanent(error) || signal.aborted) throw error;
      onRetry(error);
      await sleep(delayMs, signal);
      if (signal.aborted) throw error;
    }
  }
}
