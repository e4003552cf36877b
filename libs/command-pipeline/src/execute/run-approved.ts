import type { Attributes, Catalog, CommandDefinition, ResourceDefinition } from '@longwave/command-catalog';
import { newId } from '@longwave/ids';
import { transaction, type Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { applyCommand, lockSubject, receiptStatement, type CommandContext } from './accept-command.ts';
import type { OperationView } from '../store/operation.ts';
import type { ExecutorOptions } from './execute-command.ts';
import { prepareRule, ruleOf } from './prepare-rule.ts';
import type { ResourceRow } from '../store/resource-row.ts';
import { findResource } from '../read/find-resources.ts';
import { saveReceipt } from '../store/operation-table.ts';
import { endWaiting, lockWaiting, type WaitingOperation } from '../review/waiting-operation.ts';

/** What a review task remembers of its command. */
type Task = Attributes<'review_tasks'>;

/**
 * Carries out the command that an approved review task is about, against the version it was asked for, in the name of its operation.
 * What is refused now fails the operation. An operation that no longer waits is left alone, so a repetition does nothing.
 */
export type RunApproved = (workspaceId: string, reviewTaskId: string) => Promise<void>;

/** Permission was checked, and the payload parsed as an object, when the command was accepted. */
function stepOf(catalog: Catalog, workspaceId: string, task: Task): Omit<CommandContext, 'rule'> {
  const { command_type: commandType, subject, request } = task;
  const definition: CommandDefinition = catalog.commands[commandType]!;
  const resource: ResourceDefinition = catalog.resources[definition.subject]!;
  const { reason, payload_digest: payloadDigest, client_id: clientId } = request;
  const changes = request.changes as Record<string, unknown>;
  return {
    definition,
    resource,
    resources: catalog.resources,
    request: { workspaceId, commandType, idempotencyKey: '', subject, changes, reason },
    parsed: { changes, reason, ifMatch: undefined, payloadDigest },
    actor: { kind: 'service', name: 'management' },
    scope: { clientId, workspaceId, commandType, key: '' },
    subjectId: subject.id,
  };
}

export function createApprovedRunner<K extends Catalog>(options: ExecutorOptions<K>): RunApproved {
  const { pool, catalog, clock, signReceipt } = options;

  async function carryOut(
    tx: Transaction,
    step: CommandContext,
    waiting: WaitingOperation,
    { decisions }: Task,
  ): Promise<void> {
    const now = clock();
    const current: ResourceRow | undefined = await lockSubject(tx, step);
    const applied = await applyCommand(tx, step, { operationId: waiting.id, current, now });
    const { row } = applied;
    const receiptId = newId('rcp');
    const operation = { id: waiting.id, workspace_id: row.workspace_id, receipt_id: receiptId };
    const state: OperationView['state'] = step.definition.mode === 'async' ? 'running' : 'succeeded';
    await endWaiting(tx, waiting.id, { state, version: row.version, receiptId, now });
    const statement = receiptStatement(step, operation, applied, row.version - 1, now);
    await saveReceipt(tx, { ...statement, review_decisions: decisions }, signReceipt);
  }

  return async (workspaceId, reviewTaskId) => {
    const found = await findResource(pool, workspaceId, 'review_tasks', reviewTaskId);
    if (found?.lifecycle_state !== 'approved') return;
    const task = found.attributes;
    const step = stepOf(catalog, workspaceId, task);
    try {
      const rule = await prepareRule(pool, step, ruleOf(options.rules, step.definition.type));
      const done = await transaction(pool, async (tx) => {
        const waiting = await lockWaiting(tx, task.operation_id);
        if (waiting) await carryOut(tx, { ...step, rule }, waiting, task);
        return waiting !== undefined;
      });
      if (done) options.onCommitted?.(step.definition);
    } catch (error) {
      if (!(error instanceof Problem) || error.code === 'temporarily_unavailable') throw error;
      const { code, message: detail } = error;
      await transaction(pool, (tx) =>
        endWaiting(tx, task.operation_id, { state: 'failed', problem: { code, detail }, now: clock() }),
      );
    }
  };
}
