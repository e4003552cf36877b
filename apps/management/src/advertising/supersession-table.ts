import type { Due } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';

/** A type of plans with the condition by which one replaces another. */
export interface SupersedingPlans {
  /** Noun of the commands. */
  readonly noun: 'break_plan' | 'serving_plan';
  /** The attribute that says when a plan is in effect. */
  readonly effectiveFrom: string;
  /** SQL: whether the published plan `newer`, once in effect, replaces the published plan `older`. */
  readonly replaces: string;
}

/**
 * Published plans that others in effect replace, in the order of their replacement.
 * @param workspaceId undefined: all workspaces
 */
export async function listSuperseded(
  pool: Pool,
  { noun, effectiveFrom, replaces }: SupersedingPlans,
  workspaceId: string | undefined,
  now: Date,
  limit: number,
): Promise<readonly Due[]> {
  const type = `${noun}s`;
  const { rows } = await pool.query<Due>({
    name: `list_superseded_${type}`,
    text: `select older.id, older.workspace_id, min(newer.attributes ->> '${effectiveFrom}') as occurrence
           from resource newer join resource older
             on older.workspace_id = newer.workspace_id and older.resource_type = '${type}' and older.lifecycle_state = 'published'
               and ${replaces}
           where newer.resource_type = '${type}' and newer.lifecycle_state = 'published'
             and instant_of(newer.attributes ->> '${effectiveFrom}') <= $1 and ($2::text is null or newer.workspace_id = $2)
           group by older.id order by occurrence limit $3`,
    values: [now, workspaceId ?? null, limit],
  });
  return rows;
}
