import { listDue } from '@longwave/command-pipeline';
import type { DueTask } from '../../background/due-task.ts';

/** Ends reviews that nobody decided in time. */
export const expireReviews: DueTask<'review.expire'> = {
  name: 'expire-review',
  findDue: (pool, now, limit) =>
    listDue(pool, { type: 'review_tasks', states: ['open', 'changes_requested'], at: ['due_at'] }, now, limit),
  command: 'review.expire',
  changes: () => ({}),
};
