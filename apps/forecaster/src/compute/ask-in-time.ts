import type { Check } from '../server.ts';
import type { ComputeThread } from './thread.ts';

/** The longest that one question may hold the thread. */
const maxMs = 60_000;
/** The longest that the past of a workspace may take to be read. */
const readMs = 55_000;

/**
 * Answers sellers on one thread. Who leaves before the answer does not end the work: the next question about the workspace finds what was
 * read for it. A question whose caller has left before its turn is not begun.
 */
export const createCheck =
  (thread: Pick<ComputeThread, 'ask'>): Check =>
  async (question, left) => {
    const gone = new Promise<never>((_, reject) => {
      left.addEventListener('abort', () => reject(new Error('the caller has left')), { once: true });
    });
    const answered = thread.ask({ ...question, deadlineMs: readMs }, AbortSignal.timeout(maxMs), left);
    // It may fail when nobody listens any more.
    answered.catch(() => undefined);
    return Promise.race([answered, gone]);
  };
