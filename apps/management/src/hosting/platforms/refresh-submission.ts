import { listDue } from '@longwave/command-pipeline';
import type { DueTask } from '../../background/due-task.ts';

/** Asks platforms for the state of what was submitted, and of what is ambiguous. */
export const refreshSubmission: DueTask<'platform_submission.refresh'> = {
  name: 'refresh-submission',
  findDue: (pool, now, limit) =>
    listDue(pool, { type: 'platform_submissions', states: ['submitted', 'ambiguous'], at: ['refresh_at'] }, now, limit),
  command: 'platform_submission.refresh',
  changes: () => ({}),
};
