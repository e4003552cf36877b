import { operations } from '@longwave/command-catalog';
import type { DomainEvent } from '@longwave/events';
import { newId } from '@longwave/ids';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { tracePosition } from '@longwave/service-kit';
import type { Columns } from '../generated/rows.ts';
import type { OperationState } from './operation.ts';
import { resourceView, revisionDigest, type ResourceRow } from './resource-row.ts';

/** An operation as the subject of a command. */
export type OperationRow = Readonly<
  Columns<
    'operation',
    | 'id'
    | 'workspace_id'
    | 'client_id'
    | 'requested_by'
    | 'command_type'
    | 'state'
    | 'state_reason'
    | 'version'
    | 'subject_type'
    | 'subject_id'
    | 'subject_version'
    | 'review_task_id'
    | 'created_at'
    | 'updated_at',
    { state: OperationState }
  >
>;

const operationColumns = `id, workspace_id, client_id, requested_by, command_type, state, state_reason, version, subject_type, subject_id,
  subject_version, review_task_id, created_at, updated_at`;

/** An operation of a workspace, or undefined when there is none. */
export async function findOperation(
  db: Pool | Transaction,
  workspaceId: string,
  id: string,
): Promise<OperationRow | undefined> {
  const { rows } = await db.query<OperationRow>({
    name: 'find_operation',
    text: `select ${operationColumns} from operation where id = $1 and workspace_id = $2`,
    values: [id, workspaceId],
  });
  return rows[0];
}

/** Locks an operation of a workspace for this transaction. Lock its subject or its review task before it, as commands on those do. */
export async function lockOperation(
  tx: Transaction,
  workspaceId: string,
  id: string,
): Promise<OperationRow | undefined> {
  const { rows } = await tx.query<OperationRow>({
    name: 'lock_operation',
    text: `select ${operationColumns} from operation where id = $1 and workspace_id = $2 for update`,
    values: [id, workspaceId],
  });
  return rows[0];
}

type OperationSubject = Columns<'operation', 'workspace_id' | 'subject_type' | 'subject_id' | 'subject_version'>;

/** Where an operation's subject is; in any workspace when none is named. */
export async function findOperationSubject(
  pool: Pool,
  workspaceId: string | undefined,
  id: string,
): Promise<OperationSubject | undefined> {
  const { rows } = await pool.query<OperationSubject>({
    name: 'find_operation_subject',
    text: 'select workspace_id, subject_type, subject_id, subject_version from operation where id = $1 and ($2::text is null or workspace_id = $2)',
    values: [id, workspaceId ?? null],
  });
  return rows[0];
}

/** The operation in the form of a resource: what commands check, receipts prove and events carry. */
export function operationRow(row: OperationRow): ResourceRow {
  const draft = {
    id: row.id,
    workspace_id: row.workspace_id,
    resource_type: operations.type,
    version: row.version,
    lifecycle_state: row.state,
    attributes: {
      command_type: row.command_type,
      subject: { type: row.subject_type, id: row.subject_id, version: row.subject_version },
      ...(row.state_reason !== null && { state_reason: row.state_reason }),
    },
    operation_id: row.id,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
  return { ...draft, digest: revisionDigest(draft) };
}

/**
 * Marks an operation as cancelled and saves the event about it. The command that ended its work may have done the former already. Throws
 * `state_not_allowed` when its work goes on, because a provider outside was asked.
 */
export async function cancelOperation(
  tx: Transaction,
  { id, workspace_id: workspaceId }: OperationRow,
  cancelled: { readonly cause: string; readonly operationId: string; readonly event: string; readonly now: Date },
): Promise<OperationRow> {
  const { cause, operationId, event: type, now } = cancelled;
  const { rows } = await tx.query<OperationRow>({
    name: 'cancel_operation',
    text: `update operation set state = 'cancelled', state_reason = $2, updated_at = $3,
             version = case when state = 'cancelled' then version else version + 1 end
           where id = $1 and state in ('waiting_review', 'cancelled') returning ${operationColumns}`,
    values: [id, cause, now],
  });
  const after = rows[0];
  if (!after)
    throw new Problem('state_not_allowed', 'A provider was asked already, so the work can no longer be cancelled.');
  const view = resourceView(operations, operationRow(after));
  const event: DomainEvent = {
    id: newId('evt'),
    type,
    workspace_id: workspaceId,
    subject: { type: operations.type, id, version: after.version },
    operation_id: operationId,
    occurred_at: now.toISOString(),
    after: view,
  };
  await tx.query({
    name: 'save_operation_event',
    text: 'insert into outbox (key, event_id, type, payload, traceparent) values ($1, $2, $3, $4, $5)',
    values: [id, event.id, type, event, tracePosition() ?? null],
  });
  return after;
}
