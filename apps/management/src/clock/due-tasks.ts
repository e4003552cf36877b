import { supersededBreakPlans } from '../break-plans/superseded-break-plans.ts';
import { listDueEpisodes } from '../episodes/episode-table.ts';
import { flightTasks } from '../line-items/flight-tasks.ts';
import { expireReviews } from '../reviews/expire-reviews.ts';
import { supersededServingPlans } from '../serving-plans/superseded-serving-plans.ts';
import { uploadTasks } from '../uploads/expire-uploads.ts';
import type { DueTask } from './due-task.ts';

const publishScheduledEpisode: DueTask<'episode.publish_due'> = {
  name: 'publish-episode',
  findDue: listDueEpisodes,
  command: 'episode.publish_due',
  changes: () => ({}),
};

/** Everything the clock does; a task more is an entry more. */
export const dueTasks: readonly DueTask[] = [
  publishScheduledEpisode,
  ...uploadTasks,
  ...flightTasks,
  supersededBreakPlans.task,
  supersededServingPlans.task,
  expireReviews,
];
