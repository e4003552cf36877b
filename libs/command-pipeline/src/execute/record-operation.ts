import { newId } from '@longwave/ids';
import type { Transaction } from '@longwave/postgres';
import { operationView, type OperationView, type ShownReview } from '../store/operation.ts';
import { saveOperation } from '../store/operation-table.ts';
import { authorityTypes, type ReceiptStatement, type SignReceipt } from '../store/receipt.ts';
import { resourceView } from '../store/resource-row.ts';
import type { Applied, CommandContext } from './command-context.ts';
import { actorId, type CommandOutcome } from './command-request.ts';

/** The statement of a command's receipt, about its subject as it was saved. */
export const receiptStatement = (
  context: Omit<CommandContext, 'rule'>,
  operation: Pick<OperationView, 'id' | 'workspace_id' | 'receipt_id'>,
  { row, consequences, policyVersions, decidedBy = [] }: Omit<Applied, 'changes'>,
  versionBefore: number,
  now: Date,
): Omit<ReceiptStatement, 'chain' | 'review'> => ({
  id: operation.receipt_id,
  workspace_id: operation.workspace_id,
  kind: authorityTypes.has(context.resource.type) ? 'authority' : 'command',
  operation_id: operation.id,
  command_type: context.definition.type,
  subject: {
    type: context.resource.type,
    id: context.subjectId,
    version_before: versionBefore,
    version_after: row?.version ?? versionBefore,
    ...(row && { digest_after: row.digest }),
  },
  ...(consequences.length > 0 && { consequences: consequences.map(({ proof }) => proof) }),
  ...(decidedBy.length > 0 && { decided_by: decidedBy }),
  payload_digest: context.parsed.payloadDigest,
  client_id: context.scope.clientId,
  policy_versions: policyVersions,
  accepted_at: now.toISOString(),
  proves: 'acceptance',
});

/** Records the operation of an accepted command with its receipt, its changes and its first answer. It locks the workspace's chain: call it last. */
export async function recordOperation(
  tx: Transaction,
  context: Omit<CommandContext, 'rule'>,
  applied: Applied,
  accepted: {
    readonly operationId: string;
    readonly state: 'accepted' | 'waiting_review' | 'succeeded';
    readonly versionBefore: number;
    /** The review of a person's command, where its type declares one. */
    readonly review?: ShownReview | undefined;
    /** The review that the command waits for. */
    readonly reviewTaskId: string | undefined;
    readonly now: Date;
    readonly signReceipt: SignReceipt;
  },
): Promise<CommandOutcome> {
  const { definition, resource, request, actor, scope, subjectId } = context;
  const { operationId, state, versionBefore, review, reviewTaskId, now, signReceipt } = accepted;
  const { row, consequences, changes } = applied;
  const facts = {
    id: operationId,
    workspace_id: request.workspaceId,
    command_type: definition.type,
    state,
    subject: { type: resource.type, id: subjectId, version: row?.version ?? 0 },
    ...(consequences.length > 0 && { consequences: consequences.map(({ shown }) => shown) }),
    receipt_id: newId('rcp'),
    ...(review && { review }),
    ...(reviewTaskId !== undefined && { review_task_id: reviewTaskId }),
    created_at: now.toISOString(),
    updated_at: now.toISOString(),
  } as const;
  const operation = operationView(facts, definition, resource);
  const status = state === 'succeeded' ? 200 : 202;
  const operationJson = JSON.stringify(operation);
  const shownReview = review ?? { declared: definition.review, applied: 'none' };
  await saveOperation(
    tx,
    operation,
    { scope, requestedBy: actorId(actor) },
    { ...receiptStatement(context, operation, applied, versionBefore, now), review: shownReview },
    changes,
    { status, text: operationJson },
    signReceipt,
  );
  return { operationJson, resource: row && resourceView(resource, row), status, replayed: false };
}
