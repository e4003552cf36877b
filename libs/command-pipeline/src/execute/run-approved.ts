import type { Attributes, Catalog, CommandDefinition, ResourceDefinition } from '@longwave/command-catalog';
import { newId } from '@longwave/ids';
import { transaction, type Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { applyCommand, lockSubject } from './accept-command.ts';
import type { CommandContext } from './command-context.ts';
import { receiptStatement } from './record-operation.ts';
import type { ExecutorOptions } from './execute-command.ts';
import { prepareRule, ruleOf } from './prepare-rule.ts';
import type { ResourceRow } from '../store/resource-row.ts';
import { findResource } from '../read/find-resources.ts';
import { saveReceipt } from '../store/operation-table.ts';
import { beginWaiting, endWaiting, lockWaiting, type WaitingOperation } from '../review/waiting-operation.ts';

/** A review task's record of its command. */
type Task = Attributes<'review_tasks'>;

/**
 * Executes the command of an approved review task under its waiting operation: against the version that it was requested for, or, where the command
 * changes a part of its subject, against that part as it was then. A refusal, also
 * of a requester who has lost the permission since, fails the operation. An operation that no longer waits stays as it is, so a repetition does nothing.
 */
export type RunApproved = (workspaceId: string, reviewTaskId: string) => Promise<void>;

/** The command as it was accepted: its payload is parsed already. */
export function contextOfTask(catalog: Catalog, workspaceId: string, task: Task): Omit<CommandContext, 'rule'> {
  const { command_type: commandType, subject, request } = task;
  const definition: CommandDefinition = catalog.commands[commandType]!;
  const resource: ResourceDefinition = catalog.resources[definition.subject]!;
  const { reason, payload_digest: payloadDigest, client_id: clientId } = request;
  const changes = request.changes as Record<string, unknown>;
  const { version: reviewedVersion, ...named } = subject;
  return {
    definition,
    resource,
    resources: catalog.resources,
    request: {
      ...{ workspaceId, commandType, idempotencyKey: '', changes, reason },
      subject: definition.changesPart ? named : subject,
    },
    parsed: { changes, reason, ifMatch: undefined, payloadDigest, unversionedDigest: '' },
    actor: { kind: 'service', name: 'management', requestedBy: task.requested_by },
    scope: { clientId, workspaceId, commandType, key: '' },
    subjectId: subject.id,
    ...(task.shown && { approved: task.shown }),
    reviewedVersion,
  };
}

export function createApprovedRunner<K extends Catalog>(options: ExecutorOptions<K>): RunApproved {
  const { pool, catalog, clock, signReceipt, checkWorkspace, checkRequester } = options;

  async function carryOut(
    tx: Transaction,
    context: CommandContext,
    waiting: WaitingOperation,
    task: Task,
  ): Promise<void> {
    const { decisions, mode, declared_mode: declared = mode, policy_versions: demanding = [] } = task;
    const now = clock();
    const { definition, request } = context;
    const { workspaceId, changes } = request;
    const subjectId = definition.from === null ? null : context.subjectId;
    const requester = { requestedBy: task.requested_by, now };
    await checkRequester?.(tx, { definition, workspaceId, subjectId, changes, ...requester });
    const current: ResourceRow | undefined = await lockSubject(tx, context);
    await checkWorkspace?.(tx, context);
    const applied = await applyCommand(tx, context, { operationId: waiting.id, current, now });
    const { row } = applied;
    const receiptId = newId('rcp');
    const operation = { id: waiting.id, workspace_id: row.workspace_id, receipt_id: receiptId };
    const isDone = context.definition.mode === 'sync';
    await beginWaiting(tx, waiting.id, { version: row.version, receiptId, isDone, now });
    const statement = receiptStatement(context, operation, applied, row.version - 1, now);
    await saveReceipt(
      tx,
      {
        ...statement,
        policy_versions: [...applied.policyVersions, ...demanding],
        review: { declared, applied: mode },
        review_decisions: decisions,
      },
      applied.changes,
      signReceipt,
    );
  }

  return async (workspaceId, reviewTaskId) => {
    const found = await findResource(pool, workspaceId, 'review_tasks', reviewTaskId);
    if (found?.lifecycle_state !== 'approved') return;
    const task = found.attributes;
    const context = contextOfTask(catalog, workspaceId, task);
    try {
      const rule = await prepareRule(pool, context, ruleOf(options.rules, context.definition.type));
      const done = await transaction(pool, async (tx) => {
        const waiting = await lockWaiting(tx, task.operation_id);
        if (waiting) await carryOut(tx, { ...context, rule }, waiting, task);
        return waiting !== undefined;
      });
      if (done) options.onCommitted?.(context.definition, context.subjectId);
    } catch (error) {
      if (!(error instanceof Problem) || error.code === 'temporarily_unavailable') throw error;
      const { code, message: detail } = error;
      await transaction(pool, (tx) =>
        endWaiting(tx, task.operation_id, { state: 'failed', problem: { code, detail }, now: clock() }),
      );
    }
  };
}
