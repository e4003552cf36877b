import type { Due, DueTask } from '../clock/due-tasks.ts';

/** Ends reviews that nobody decided in time. */
export const expireReviews: DueTask<'review.expire'> = {
  name: 'expire-review',
  findDue: async (pool, now, limit) => {
    const { rows } = await pool.query<Due>({
      name: 'find_due_reviews',
      text: `select id, workspace_id, attributes ->> 'due_at' as due_at from resource
             where resource_type = 'review_tasks' and lifecycle_state in ('open', 'changes_requested')
               and instant_of(attributes ->> 'due_at') <= $1
             order by instant_of(attributes ->> 'due_at') limit $2`,
      values: [now, limit],
    });
    return rows;
  },
  command: 'review.expire',
  changes: () => ({}),
};
