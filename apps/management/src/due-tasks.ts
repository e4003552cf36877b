import { supersededBreakPlans } from './advertising/break-plans/superseded-break-plans.ts';
import { listDueEpisodes } from './hosting/episodes/episode-table.ts';
import { refreshSubmission } from './hosting/platforms/refresh-submission.ts';
import { expireForecast } from './commerce/forecasts/forecast-tasks.ts';
import { exchangeTasks } from './exchange/exchange-tasks.ts';
import { flightTasks } from './advertising/line-items/flight-tasks.ts';
import { authorityTasks } from './workspace/authority/expire-authority.ts';
import { expireReviews } from './workspace/reviews/expire-reviews.ts';
import { supersededServingPlans } from './advertising/serving-plans/superseded-serving-plans.ts';
import { activatePolicies, supersededPolicies } from './workspace/policies/policy-tasks.ts';
import { reportTasks } from './workspace/reports/report-tasks.ts';
import { uploadTasks } from './workspace/uploads/expire-uploads.ts';
import type { DueTask } from './background/due-task.ts';

const publishScheduledEpisode: DueTask<'episode.publish_due'> = {
  name: 'publish-episode',
  findDue: listDueEpisodes,
  command: 'episode.publish_due',
  changes: () => ({}),
};

/** The clock's tasks. */
export const dueTasks: readonly DueTask[] = [
  publishScheduledEpisode,
  refreshSubmission,
  ...uploadTasks,
  ...reportTasks,
  expireForecast,
  ...flightTasks,
  supersededBreakPlans.task,
  supersededServingPlans.task,
  activatePolicies,
  supersededPolicies.task,
  expireReviews,
  ...authorityTasks,
  ...exchangeTasks,
];
