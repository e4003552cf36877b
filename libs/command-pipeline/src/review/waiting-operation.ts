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
