import { sendStatement, type Pool, type Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import { chainStart, receiptHash } from '../receipts/chain.ts';
import { changeColumns, insertChanges, type RevisionChange } from './change-table.ts';
import type { IdempotencyScope } from './idempotency-table.ts';
import {
  isTransition,
  operationStates,
  type OperationState,
  type OperationView,
  type ProviderOutcome,
  type RunningWork,
} from './operation.ts';
import type { ReceiptStatement, SignReceipt } from './receipt.ts';

/** The next receipt of a workspace, signed. The chain's row is locked until commit: call it last. */
async function nextReceipt(
  tx: Transaction,
  statement: Omit<ReceiptStatement, 'chain'>,
  sign: SignReceipt,
): Promise<{ readonly seq: number; readonly jws: string }> {
  const { rows } = await tx.query<Columns<'receipt_chain', 'seq' | 'head'>>({
    name: 'lock_receipt_chain',
    text: `insert into receipt_chain (workspace_id, seq, head) values ($1, 1, $2)
           on conflict (workspace_id) do update set seq = receipt_chain.seq + 1 returning seq, head`,
    values: [statement.workspace_id, chainStart],
  });
  const { seq, head } = rows[0]!;
  return { seq, jws: await sign({ ...statement, chain: { seq, prev: head } }) };
}

const operationChanges = insertChanges({
  workspaceId: '$2',
  seq: '$12',
  operationId: '$1',
  occurredAt: '$10::timestamptz',
  columns: 20,
});

/**
 * Records the operation, its chained receipt, its changes and the first answer. The workspace's chain row is locked until commit: call it
 * last.
 * @param changes every revision of the transaction: the subject's first, or the review task's
 */
export async function saveOperation(
  tx: Transaction,
  operation: OperationView,
  { scope, requestedBy }: { readonly scope: IdempotencyScope; readonly requestedBy: string },
  statement: Omit<ReceiptStatement, 'chain'>,
  changes: readonly RevisionChange[],
  answer: { readonly status: number; readonly text: string },
  sign: SignReceipt,
): Promise<void> {
  const { seq, jws } = await nextReceipt(tx, statement, sign);
  sendStatement(tx, {
    name: 'save_operation',
    text: `with chained as (update receipt_chain set head = $14 where workspace_id = $2),
           proof as (insert into receipt (id, workspace_id, seq, operation_id, jws, kind) values ($9, $2, $12, $1, $13, $24)),
           ${operationChanges},
           answered as (
             update idempotency_record set status = $15, answer = $16
             where client_id = $3 and workspace_id = $2 and command_type = $4 and key = $17
           )
           insert into operation (id, workspace_id, client_id, command_type, state, subject_type, subject_id, subject_version, receipt_id, created_at, updated_at, review_task_id, consequences, requested_by, review)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $18, $19, $25, $26)`,
    values: [
      operation.id,
      operation.workspace_id,
      scope.clientId,
      operation.command_type,
      operation.state,
      operation.subject.type,
      operation.subject.id,
      operation.subject.version,
      operation.receipt_id,
      operation.created_at,
      operation.updated_at,
      seq,
      jws,
      receiptHash(jws),
      answer.status,
      answer.text,
      scope.key,
      operation.review_task_id,
      operation.consequences && JSON.stringify(operation.consequences),
      ...changeColumns(changes),
      statement.kind,
      requestedBy,
      operation.review,
    ],
  });
}

const receiptChanges = insertChanges({
  workspaceId: '$2',
  seq: '$4',
  operationId: '$3',
  occurredAt: '$8::timestamptz',
  columns: 9,
});

/**
 * Adds a receipt, with the changes that it proves, to an operation that has one already. The workspace's chain row is locked until commit:
 * call it last.
 */
export async function saveReceipt(
  tx: Transaction,
  statement: Omit<ReceiptStatement, 'chain'>,
  changes: readonly RevisionChange[],
  sign: SignReceipt,
): Promise<void> {
  const { seq, jws } = await nextReceipt(tx, statement, sign);
  sendStatement(tx, {
    name: 'save_receipt',
    text: `with chained as (update receipt_chain set head = $6 where workspace_id = $2),
           ${receiptChanges}
           insert into receipt (id, workspace_id, operation_id, seq, jws, kind) values ($1, $2, $3, $4, $5, $7)`,
    values: [
      statement.id,
      statement.workspace_id,
      statement.operation_id,
      seq,
      jws,
      receiptHash(jws),
      statement.kind,
      statement.accepted_at,
      ...changeColumns(changes),
    ],
  });
}

/** The states from which an operation may come to this one. */
const statesBefore = (state: OperationState, work: RunningWork): OperationState[] =>
  operationStates.filter((before) => isTransition(before, state, work));

/**
 * Ends the operations of a subject whose work is queued or running. One that waits for a review goes on waiting, and one whose provider was
 * asked is not cancelled.
 */
export async function settleOperation(
  tx: Transaction,
  subjectId: string,
  settled: {
    readonly state: 'succeeded' | 'failed' | 'cancelled';
    /** Only operations of these commands; undefined: of any. */
    readonly of: readonly string[] | undefined;
    readonly version: number;
    readonly problem: unknown;
    /** What the work made, where that is not its subject. */
    readonly result: { readonly type: string; readonly id: string } | undefined;
    readonly now: Date;
  },
): Promise<void> {
  const before = (isSentOutside: boolean) =>
    statesBefore(settled.state, { isCancellable: true, isSentOutside }).filter((state) => state !== 'waiting_review');
  await tx.query({
    name: 'settle_operation',
    text: `update operation set state = $2, version = version + 1, subject_version = $3, problem = $4, updated_at = $5, result = $9
           where subject_id = $1 and state = any(case when provider is null then $7::text[] else $8::text[] end)
             and ($6::text[] is null or command_type = any($6))`,
    values: [
      subjectId,
      settled.state,
      settled.version,
      settled.problem ?? null,
      settled.now,
      settled.of ?? null,
      before(false),
      before(true),
      settled.result ?? null,
    ],
  });
}

/** Shows what a provider outside has said in the operations of a subject whose work is queued or running. */
export async function recordProvider(
  tx: Transaction,
  subjectId: string,
  provider: ProviderOutcome,
  now: Date,
): Promise<void> {
  await tx.query({
    name: 'record_provider',
    text: `update operation set provider = $2, version = version + 1, updated_at = $3
           where subject_id = $1 and state in ('accepted', 'running')`,
    values: [subjectId, provider, now],
  });
}

/**
 * Marks the operation as running that made this version of its subject: its work begins. Stays as it is when it does not wait to begin.
 */
export async function beginOperation(
  pool: Pool,
  subject: { readonly id: string; readonly version: number },
): Promise<void> {
  await pool.query({
    name: 'begin_operation',
    text: `update operation o set state = 'running', version = o.version + 1, updated_at = now()
           from revision v where v.resource_id = $1 and v.version = $2 and o.id = v.operation_id and o.state = 'accepted'`,
    values: [subject.id, subject.version],
  });
}
