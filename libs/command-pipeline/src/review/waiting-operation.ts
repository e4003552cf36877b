import type { Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

/** An operation whose command waits for a review. */
export type WaitingOperation = Readonly<Columns<'operation', 'id'>>;

/** Locks an operation that waits for a review; undefined when it no longer waits. */
export async function lockWaiting(tx: Transaction, operationId: string): Promise<WaitingOperation | undefined> {
  const { rows } = await tx.query<WaitingOperation>({
    name: 'lock_waiting_operation',
    text: `select id from operation where id = $1 and state = 'waiting_review' for update`,
    values: [operationId],
  });
  return rows[0];
}

/** A review that is not over, with its operation. */
type WaitingReview = Readonly<Columns<'resource', 'id' | 'version'> & { readonly operation_id: string }>;

/**
 * The first of the reviews in which the same command waits for its subject: with the same changes, but for their cause, and for the same version.
 * Whoever asks has locked the subject.
 * @param command `version`: undefined where commands wait for a part of their subject, whatever its version
 */
export async function findSameWaiting(
  tx: Transaction,
  command: {
    readonly workspaceId: string;
    readonly commandType: string;
    readonly subjectId: string;
    readonly version: number | undefined;
    readonly changes: Readonly<Record<string, unknown>>;
  },
): Promise<WaitingReview | undefined> {
  const { rows } = await tx.query<WaitingReview>({
    name: 'find_same_waiting',
    text: `select r.id, r.version, o.id as operation_id from operation o join resource r on r.id = o.review_task_id
           where o.subject_id = $1 and o.state = 'waiting_review' and o.command_type = $2 and o.workspace_id = $3
             and ($4::int is null or (r.attributes #>> '{subject,version}')::int = $4)
             and (r.attributes #> '{request,changes}') - 'cause' = $5::jsonb - 'cause'
           order by r.created_at, r.id limit 1`,
    values: [
      ...[command.subjectId, command.commandType, command.workspaceId],
      ...[command.version ?? null, JSON.stringify(command.changes)],
    ],
  });
  return rows[0];
}

/** Begins a waiting operation: its command was approved and is carried out in this transaction. */
export async function beginWaiting(
  tx: Transaction,
  operationId: string,
  carriedOut: {
    /** The subject's version after the command. */
    readonly version: number;
    /** The receipt of the executed command. */
    readonly receiptId: string;
    /** Whether that was all: the command is synchronous. */
    readonly isDone: boolean;
    readonly now: Date;
  },
): Promise<void> {
  const { version, receiptId, isDone, now } = carriedOut;
  await tx.query({
    name: 'begin_waiting_operation',
    text: `update operation set state = 'running', version = version + 1, subject_version = $2, receipt_id = $3, updated_at = $4
           where id = $1 and state = 'waiting_review'`,
    values: [operationId, version, receiptId, now],
  });
  if (isDone)
    await tx.query({
      name: 'complete_operation',
      text: `update operation set state = 'succeeded', version = version + 1 where id = $1 and state = 'running'`,
      values: [operationId],
    });
}

/** Ends a waiting operation without its command; one that no longer waits stays as it is. */
export async function endWaiting(
  tx: Transaction,
  operationId: string,
  ended: {
    readonly state: 'failed' | 'cancelled';
    readonly problem?: { readonly code: string; readonly detail: string };
    readonly now: Date;
  },
): Promise<void> {
  await tx.query({
    name: 'end_waiting_operation',
    text: `update operation set state = $2, version = version + 1, problem = $3, updated_at = $4 where id = $1 and state = 'waiting_review'`,
    values: [operationId, ended.state, ended.problem ?? null, ended.now],
  });
}
