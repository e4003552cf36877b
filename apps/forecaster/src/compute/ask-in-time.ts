import type { AnswerTo, ShortQuestion } from './question.ts';
import { TookTooLong, type ComputeThread } from './thread.ts';

/** The longest that the past of a workspace may take to be read. */
export const readMs = 55_000;

/** Answers a question. @param signal aborted when the caller has left */
export type Check = <Q extends ShortQuestion>(question: Q, signal: AbortSignal) => Promise<AnswerTo<Q>>;

/**
 * Answers people on one thread, workspaces in turns: one question of each is before the thread at a time, so nobody waits for the queue of
 * somebody else. Who leaves before the answer does not end the reading: the next question about the workspace finds what was read for it. A
 * question whose caller has left before its turn is not begun, and nothing is computed for it. A workspace whose last question outlasted its
 * caller lets all others that wait go first, so what takes long is computed while nobody else asks.
 */
export function createCheck(thread: Pick<ComputeThread, 'ask'>): Check {
  const lastOf = new Map<string, Promise<unknown>>();
  /** Nobody waits for one of these, so they never wait for each other. */
  const slow = new Set<string>();
  const ofOthers = () => [...lastOf].flatMap(([workspaceId, last]) => (slow.has(workspaceId) ? [] : [last]));
  return async <Q extends ShortQuestion>(question: Q, left: AbortSignal): Promise<AnswerTo<Q>> => {
    const gone = new Promise<never>((_, reject) => {
      left.addEventListener('abort', () => reject(new Error('the caller has left')), { once: true });
    });
    const { workspaceId } = question;
    const ask = async () => {
      left.throwIfAborted();
      if (slow.has(workspaceId)) await Promise.allSettled(ofOthers());
      left.throwIfAborted();
      try {
        const answer = await thread.ask(question, { left });
        if (left.aborted) slow.add(workspaceId);
        else slow.delete(workspaceId);
        return answer;
      } catch (error) {
        if (error instanceof TookTooLong) slow.add(workspaceId);
        throw error;
      }
    };
    const answered = (lastOf.get(workspaceId) ?? Promise.resolve()).then(ask, ask);
    lastOf.set(workspaceId, answered);
    const forget = () => {
      if (lastOf.get(workspaceId) === answered) lastOf.delete(workspaceId);
    };
    // It may fail when nobody listens any more.
    answered.then(forget, forget);
    return Promise.race([answered, gone]);
  };
}
