import type { Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import type { OperationState } from '../store/operation.ts';

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

/** Ends a waiting operation; one that no longer waits stays as it is. */
export async function endWaiting(
  tx: Transaction,
  operationId: string,
  ended: {
    readonly state: OperationState;
    /** The subject's version after the command was executed. */
    readonly version?: number;
    /** The receipt of the executed command. */
    readonly receiptId?: string;
    readonly problem?: { readonly code: string; readonly detail: string };
    readonly now: Date;
  },
): Promise<void> {
  await tx.query({
    name: 'end_waiting_operation',
    text: `update operation set state = $2, subject_version = coalesce($3, subject_version), receipt_id = coalesce($4, receipt_id),
             problem = $5, updated_at = $6
           where id = $1 and state = 'waiting_review'`,
    values: [operationId, ended.state, ended.version, ended.receiptId, ended.problem ?? null, ended.now],
  });
}
