import type { OldRows } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

/**
 * Bindings with ads of the oldest day, begun before a time, without anything of the listener; at most so many, always in the same order.
 * Undefined when there are none.
 */
export async function readOldBindings(pool: Pool, before: Date, maxRows: number): Promise<OldRows | undefined> {
  const { rows } = await pool.query<Columns<'binding', 'decision_id'> & { day: string; line: string }>({
    name: 'read_old_bindings',
    text: `with oldest as (select date_trunc('day', started_at, 'UTC') as day from binding
                           where ads <> '{}' and started_at < $1 order by started_at limit 1)
           select decision_id, to_char(day at time zone 'UTC', 'YYYY-MM-DD') as day,
             json_build_object('decision_id', decision_id, 'episode_id', episode_id, 'arrangement_id', arrangement_id, 'ads', ads,
               'started_at', to_char(started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text as line
           from oldest, binding
           where ads <> '{}' and started_at < $1 and started_at >= day and started_at < day + interval '1 day'
           order by started_at, decision_id limit $2`,
    values: [before, maxRows],
  });
  const [first] = rows;
  return first && { day: first.day, rows: rows.map(({ decision_id: id, line }) => ({ id, line })) };
}

/** Removes bindings of these decisions. The database refuses it for those with ads whose token may still open. */
export async function removeBindings(pool: Pool, decisionIds: readonly string[]): Promise<void> {
  await pool.query({
    name: 'remove_bindings',
    text: 'delete from binding where decision_id = any($1)',
    values: [decisionIds],
  });
}
