import { isProblem, Problem, type ProblemCode } from '@longwave/problems';

/** Problems of one item; any other ends this attempt at the job. */
const itemProblems: readonly ProblemCode[] = [
  'validation_failed',
  'state_not_allowed',
  'not_found',
  'link_not_found',
  'value_taken',
  'idempotency_conflict',
  'upload_not_received',
  'media_not_fetchable',
];

/** The problem of the item for which the work was refused, or undefined when it was done. Throws any other error. */
export async function findItemProblem(work: () => Promise<unknown>): Promise<Problem | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (isProblem(error, ...itemProblems)) return error;
    throw error;
  }
}
