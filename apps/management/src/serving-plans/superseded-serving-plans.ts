import type { Pool } from '@longwave/postgres';
import type { Due, DueTask } from '../clock/due-tasks.ts';

/**
 * Published serving plans that are no longer in force: one that was published after them is in effect. Decisions use the one that was
 * published last, of those in effect.
 * @param workspaceId of one workspace; undefined: of all
 */
export async function listSupersededServingPlans(
  pool: Pool,
  workspaceId: string | undefined,
  now: Date,
  limit: number,
): Promise<readonly Due[]> {
  const { rows } = await pool.query<Due>({
    name: 'list_superseded_serving_plans',
    text: `select older.id, older.workspace_id, min(newer.attributes ->> 'effective_from') as due_at
           from resource newer join resource older
             on older.workspace_id = newer.workspace_id and older.resource_type = 'serving_plans' and older.lifecycle_state = 'published'
               and (older.updated_at, older.id) < (newer.updated_at, newer.id)
           where newer.resource_type = 'serving_plans' and newer.lifecycle_state = 'published'
             and instant_of(newer.attributes ->> 'effective_from') <= $1 and ($2::text is null or newer.workspace_id = $2)
           group by older.id order by due_at limit $3`,
    values: [now, workspaceId ?? null, limit],
  });
  return rows;
}

/** The command that ends a superseded serving plan. */
export const supersedeServingPlan = (id: string) => ({
  commandType: 'serving_plan.supersede' as const,
  subject: { type: 'serving_plans', id },
  changes: {},
});

/** Ends the plans whose successor was published for a later time, when that time has come. */
export const supersedeServingPlans: DueTask = {
  name: 'supersede-serving-plan',
  findDue: (pool, now, limit) => listSupersededServingPlans(pool, undefined, now, limit),
  command: ({ id }) => supersedeServingPlan(id),
};
