import type { Pool } from '@longwave/postgres';
import type { Due, DueTask } from './due-tasks.ts';

/** Published plans of one type that others replaced, and what ends them. */
type SupersedeCommand = 'break_plan.supersede' | 'serving_plan.supersede';

export interface Supersession {
  /** @param workspaceId of one workspace; undefined: of all */
  readonly list: (pool: Pool, workspaceId: string | undefined, now: Date, limit: number) => Promise<readonly Due[]>;
  readonly command: SupersedeCommand;
  /** Ends the plans whose successor was published for a later time, when that time has come. */
  readonly task: DueTask<SupersedeCommand>;
}

/**
 * @param plans.noun of the commands: "serving_plan"
 * @param plans.effectiveFrom the attribute that says when a plan is in effect
 * @param plans.replaces SQL: whether the published plan `newer`, once in effect, replaces the published plan `older`
 */
export function createSupersession(plans: {
  readonly noun: 'break_plan' | 'serving_plan';
  readonly effectiveFrom: string;
  readonly replaces: string;
}): Supersession {
  const { noun, effectiveFrom, replaces } = plans;
  const type = `${noun}s`;
  const text = `
    select older.id, older.workspace_id, min(newer.attributes ->> '${effectiveFrom}') as due_at
    from resource newer join resource older
      on older.workspace_id = newer.workspace_id and older.resource_type = '${type}' and older.lifecycle_state = 'published'
        and ${replaces}
    where newer.resource_type = '${type}' and newer.lifecycle_state = 'published'
      and instant_of(newer.attributes ->> '${effectiveFrom}') <= $1 and ($2::text is null or newer.workspace_id = $2)
    group by older.id order by due_at limit $3`;
  const list: Supersession['list'] = async (pool, workspaceId, now, limit) => {
    const values = [now, workspaceId ?? null, limit];
    const { rows } = await pool.query<Due>({ name: `list_superseded_${type}`, text, values });
    return rows;
  };
  const command = `${noun}.supersede` as const;
  return {
    list,
    command,
    task: {
      name: `supersede-${noun.replace('_', '-')}`,
      findDue: (pool, now, limit) => list(pool, undefined, now, limit),
      command,
      changes: () => ({}),
    },
  };
}
