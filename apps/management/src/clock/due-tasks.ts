import type { ChangesInput } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import { supersededBreakPlans } from '../break-plans/superseded-break-plans.ts';
import { flightTasks } from '../line-items/flight-tasks.ts';
import type { ProductCommand } from '../execute-as-management.ts';
import { expireReviews } from '../reviews/expire-reviews.ts';
import { supersededServingPlans } from '../serving-plans/superseded-serving-plans.ts';
import { uploadTasks } from '../uploads/expire-uploads.ts';

/** A resource whose time has come. */
export interface Due {
  readonly id: string;
  readonly workspace_id: string;
  /** The time it was due at; a new time is a new task. */
  readonly due_at: string;
}

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
  findDue: async (pool, now, limit) => {
    const { rows } = await pool.query<Due>({
      name: 'find_due_episodes',
      text: `select id, workspace_id, attributes ->> 'publish_at' as due_at from resource
             where resource_type = 'episodes' and lifecycle_state = 'scheduled'
               and (attributes ->> 'publish_at') collate "C" <= $1
             order by (attributes ->> 'publish_at') collate "C" limit $2`,
      values: [now.toISOString(), limit],
    });
    return rows;
  },
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
