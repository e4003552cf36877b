import type { ResourceType, StateOf } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

/** A resource that is due. */
export type Due = Readonly<Columns<'resource', 'id' | 'workspace_id'>> & {
  /** The due time with whatever else makes the task a new one, such as the version. Each occurrence is one task. */
  readonly occurrence: string;
};

/** The resources of a type that become due, and the attribute with their time. The query runs all the time, so it needs an index. */
export interface DueQuestion<T extends ResourceType> {
  readonly type: T;
  readonly states: readonly StateOf<T>[];
  /** Path of the attribute that holds the time, in RFC 3339. */
  readonly at: readonly string[];
  /** Whether each version of the resource is due anew at its time. */
  readonly eachVersion?: boolean;
}

/** Lists due resources, the oldest first. Type, states and path stand in the text of the statement, so that it uses a partial index. */
export async function listDue<T extends ResourceType>(
  pool: Pool,
  question: DueQuestion<T>,
  now: Date,
  limit: number,
): Promise<readonly Due[]> {
  const { type, states, at, eachVersion = false } = question;
  const time = at.length === 1 ? `attributes ->> '${at[0]}'` : `attributes #>> '{${at.join(',')}}'`;
  const { rows } = await pool.query<Due>({
    name: `list_due_${type}_${at.join('_')}`,
    text: `select id, workspace_id, ${eachVersion ? `${time} || ':' || version` : time} as occurrence from resource
           where resource_type = '${type}' and lifecycle_state in (${states.map((state) => `'${state}'`).join(', ')})
             and instant_of(${time}) <= $1
           order by instant_of(${time}) limit $2`,
    values: [now, limit],
  });
  return rows;
}
