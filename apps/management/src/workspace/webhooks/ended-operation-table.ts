import { isResource, operations } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import type { DomainEvent } from '@longwave/events';
import type { Columns } from '../../generated/rows.ts';

/** An operation that its first answer left open and that has ended. */
export type EndedOperation = Readonly<
  Columns<
    'operation',
    'id' | 'command_type' | 'subject_type' | 'subject_id' | 'subject_version' | 'problem',
    { problem: Readonly<Record<string, unknown>> | null }
  >
> & { readonly state: 'succeeded' | 'failed' | 'cancelled' };

/**
 * The operations that ended with an event: those that its command settled or cancelled, the reviewed one that it carried out, and the one
 * whose review it ended. An operation that ended in its first answer is none of them.
 */
export async function listEndedBy(
  pool: Pool,
  { workspace_id, operation_id, subject, after }: DomainEvent,
  asyncCommands: readonly string[],
): Promise<readonly EndedOperation[]> {
  const reviewed = isResource(after, 'review_tasks') ? after.attributes.operation_id : null;
  const cancelled = subject.type === operations.type ? subject.id : null;
  const { rows } = await pool.query<EndedOperation>({
    name: 'list_ended_by_event',
    text: `select id, command_type, state, subject_type, subject_id, subject_version, problem from operation
           where workspace_id = $1 and state in ('succeeded', 'failed', 'cancelled')
             and ((subject_id = $2 and subject_version = $3 and id <> $4 and command_type = any($5))
               or (id = $4 and review_task_id is not null) or id = $6)
           order by id`,
    values: [workspace_id, subject.id, subject.version, operation_id, asyncCommands, reviewed ?? cancelled],
  });
  return rows;
}

/** Whether the service itself sent the command of an operation, and no person. */
export async function isOwnOperation(pool: Pool, operationId: string): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'is_own_operation',
    text: `select from operation where id = $1 and client_id = 'service:management'`,
    values: [operationId],
  });
  return rowCount === 1;
}
