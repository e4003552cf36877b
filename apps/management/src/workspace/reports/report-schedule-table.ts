import type { Due } from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';

/** Sets when the next run of an active report is due; undefined: it has no schedule. */
export async function setNextRun(
  tx: Transaction,
  definition: { readonly id: string; readonly workspaceId: string },
  at: Date | undefined,
): Promise<void> {
  if (at === undefined)
    await tx.query({
      name: 'remove_report_schedule',
      text: 'delete from report_schedule where definition_id = $1',
      values: [definition.id],
    });
  else
    await tx.query({
      name: 'set_report_schedule',
      text: `insert into report_schedule (definition_id, workspace_id, next_at) values ($1, $2, $3)
             on conflict (definition_id) do update set next_at = excluded.next_at`,
      values: [definition.id, definition.workspaceId, at],
    });
}

/** Whether a run of the report is due at exactly this time: one that was made already, or whose schedule has changed, is not. */
export async function isDueAt(tx: Transaction, definitionId: string, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'lock_report_schedule',
    text: 'select from report_schedule where definition_id = $1 and next_at = $2 for update',
    values: [definitionId, at],
  });
  return rowCount === 1;
}

/** Reports whose next run is due, the longest due first. */
export async function listDueReports(pool: Pool, now: Date, limit: number): Promise<readonly Due[]> {
  const { rows } = await pool.query<Due>({
    name: 'list_due_reports',
    text: `select definition_id as id, workspace_id, to_char(next_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as occurrence
           from report_schedule where next_at <= $1 order by next_at limit $2`,
    values: [now, limit],
  });
  return rows;
}
