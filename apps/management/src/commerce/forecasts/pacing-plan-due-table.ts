import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';
import { contendingStates } from './booked-plan.ts';

/** Whether a workspace has a line item with a right to slots and a goal of units, as SQL over two expressions. */
const hasGoals = (workspaceId: string, states: string) => `exists (
  select from resource where workspace_id = ${workspaceId} and resource_type = 'line_items' and lifecycle_state = any(${states})
    and attributes #>> '{goal,unit}' in ('impressions', 'completes'))`;

/** Makes the plans of a workspace that has goals due at this time, unless they are due before. */
export async function markPlansDue(pool: Pool, workspaceId: string, dueAt: Date): Promise<void> {
  await pool.query({
    name: 'mark_pacing_plans_due',
    text: `insert into pacing_plan_due as d (workspace_id, due_at) select $1, $2 where ${hasGoals('$1', '$3')}
           on conflict (workspace_id) do update set due_at = least(d.due_at, excluded.due_at)`,
    values: [workspaceId, dueAt, contendingStates],
  });
}

export interface DuePlans {
  readonly workspaceId: string;
  /** Otherwise its plans are to be removed. */
  readonly hasGoals: boolean;
}

/** Workspaces whose plans are due, the longest first, locked until the transaction ends; none whose plans are being made. */
export async function lockDuePlans(tx: Transaction, now: Date, limit: number): Promise<readonly DuePlans[]> {
  const { rows } = await tx.query<Columns<'pacing_plan_due', 'workspace_id'> & { readonly has_goals: boolean }>({
    name: 'lock_due_pacing_plans',
    text: `select workspace_id, ${hasGoals('d.workspace_id', '$3')} as has_goals from pacing_plan_due d
           where due_at <= $1 and not exists (
             select from job where subject_id = d.workspace_id and kind = 'make_pacing_plans' and state in ('queued', 'running'))
           order by due_at, workspace_id limit $2 for update of d skip locked`,
    values: [now, limit, contendingStates],
  });
  return rows.map(({ workspace_id: workspaceId, has_goals: has }) => ({ workspaceId, hasGoals: has }));
}

/** Says when the plans of a workspace are made next. */
export async function setPlansDue(tx: Transaction, workspaceId: string, dueAt: Date): Promise<void> {
  await tx.query({
    name: 'set_pacing_plans_due',
    text: 'update pacing_plan_due set due_at = $2 where workspace_id = $1',
    values: [workspaceId, dueAt],
  });
}

/** Forgets a workspace without goals, until it has one again. */
export async function removePlansDue(tx: Transaction, workspaceId: string): Promise<void> {
  await tx.query({
    name: 'remove_pacing_plans_due',
    text: 'delete from pacing_plan_due where workspace_id = $1',
    values: [workspaceId],
  });
}
