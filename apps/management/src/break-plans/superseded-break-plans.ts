import type { Pool } from '@longwave/postgres';
import type { Due, DueTask } from '../clock/due-tasks.ts';

/**
 * Published break plans that a later one replaces: it holds already, and covers everything that they cover. A plan for the whole
 * workspace replaces only another such plan; plans of single units stand beside it.
 * @param workspaceId of one workspace; undefined: of all
 */
export async function listSupersededBreakPlans(
  pool: Pool,
  workspaceId: string | undefined,
  now: Date,
  limit: number,
): Promise<readonly Due[]> {
  const { rows } = await pool.query<Due>({
    name: 'list_superseded_break_plans',
    text: `select older.id, older.workspace_id, min(newer.attributes ->> 'effective_at') as due_at
           from resource newer join resource older
             on older.workspace_id = newer.workspace_id and older.resource_type = 'break_plans' and older.lifecycle_state = 'published'
               and (instant_of(older.attributes ->> 'effective_at'), older.id) < (instant_of(newer.attributes ->> 'effective_at'), newer.id)
               and newer.attributes -> 'inventory_unit_ids' @> (older.attributes -> 'inventory_unit_ids')
               and (newer.attributes -> 'inventory_unit_ids' = '[]') = (older.attributes -> 'inventory_unit_ids' = '[]')
           where newer.resource_type = 'break_plans' and newer.lifecycle_state = 'published'
             and instant_of(newer.attributes ->> 'effective_at') <= $1 and ($2::text is null or newer.workspace_id = $2)
           group by older.id order by due_at limit $3`,
    values: [now, workspaceId ?? null, limit],
  });
  return rows;
}

/** The command that ends a superseded break plan. */
export const supersedeBreakPlan = (id: string) => ({
  commandType: 'break_plan.supersede' as const,
  subject: { type: 'break_plans', id },
  changes: {},
});

/** Ends the plans whose successor was published for a later time, when that time has come. */
export const supersedeBreakPlans: DueTask = {
  name: 'supersede-break-plan',
  findDue: (pool, now, limit) => listSupersededBreakPlans(pool, undefined, now, limit),
  command: ({ id }) => supersedeBreakPlan(id),
};
