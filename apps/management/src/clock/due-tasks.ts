import type { ChangesInput } from '@longwave/command-catalog';
import type { Due } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { supersededBreakPlans } from '../break-plans/superseded-break-plans.ts';
import { listDueEpisodes } from '../episodes/episode-table.ts';
import { flightTasks } from '../line-items/flight-tasks.ts';
import type { ProductCommand } from '../execute-as-management.ts';
import { expireReviews } from '../reviews/expire-reviews.ts';
import { supersededServingPlans } from '../serving-plans/superseded-serving-plans.ts';
import { uploadTasks } from '../uploads/expire-uploads.ts';

/** Something that happens when its time comes. */
export interface DueTask<C extends ProductCommand = ProductCommand> {
  /** Of letters and dashes; part of idempotency keys. */
  readonly name: string;
  /** What is due, the oldest first, at most `limit`. Must use an index: it is asked all the time. */
  readonly findDue: (pool: Pool, now: Date, limit: number) => Promise<readonly Due[]>;
  /** What it sends to the resource that is due. */
  readonly command: C;
  readonly changes: (due: Due) => ChangesInput<C>;
}

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
