import type { ResourceType } from '@longwave/command-catalog';
import type { Due } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';

const supersedable = {
  break_plan: { type: 'break_plans', state: 'published' },
  serving_plan: { type: 'serving_plans', state: 'published' },
  policy: { type: 'policies', state: 'active' },
} as const satisfies Readonly<Record<string, { readonly type: ResourceType; readonly state: string }>>;

/** A type of plans or policies with the condition by which one replaces another. */
export interface SupersedingPlans {
  /** Noun of the commands. */
  readonly noun: keyof typeof supersedable;
  /** The attribute that says when a plan is in effect. */
  readonly effectiveFrom: string;
  /** SQL: whether `newer`, once in effect, replaces `older`; both are published, or active. */
  readonly replaces: string;
}

/**
 * Published plans and active policies that others in effect replace, in the order of their replacement.
 * @param workspaceId undefined: all workspaces
 */
export async function listSuperseded(
  pool: Pool,
  { noun, effectiveFrom, replaces }: SupersedingPlans,
  workspaceId: string | undefined,
  now: Date,
  limit: number,
): Promise<readonly Due[]> {
  const { type, state } = supersedable[noun];
  const { rows } = await pool.query<Due>({
    name: `list_superseded_${type}`,
    text: `select older.id, older.workspace_id, min(newer.attributes ->> '${effectiveFrom}') as occurrence
           from resource newer join resource older
             on older.workspace_id = newer.workspace_id and older.resource_type = '${type}' and older.lifecycle_state = '${state}'
               and ${replaces}
           where newer.resource_type = '${type}' and newer.lifecycle_state = '${state}'
             and instant_of(newer.attributes ->> '${effectiveFrom}') <= $1 and ($2::text is null or newer.workspace_id = $2)
           group by older.id order by occurrence limit $3`,
    values: [now, workspaceId ?? null, limit],
  });
  return rows;
}
