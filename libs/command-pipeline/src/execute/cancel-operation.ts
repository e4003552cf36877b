import { operations, type Catalog, type CommandDefinition } from '@longwave/command-catalog';
import { newId } from '@longwave/ids';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { consequenceOf } from './apply-consequences.ts';
import type { Rules } from './command-rule.ts';
import { applyCommand, checkSubject, IdempotencyKeyTaken, lockSubject } from './accept-command.ts';
import type { AcceptDeps, Applied, CommandContext } from './command-context.ts';
import { recordOperation } from './record-operation.ts';
import { withdrawReview } from './withdraw-review.ts';
import { accessOf, actorId, clientIdOf, type Actor, type CommandOutcome } from './command-request.ts';
import { prepareRule, ruleOf } from './prepare-rule.ts';
import {
  cancelOperation,
  findOperation,
  lockOperation,
  operationRow,
  type OperationRow,
} from '../store/cancel-table.ts';
import { claimKey } from '../store/idempotency-table.ts';
import { notFoundProblem, type ResourceRow } from '../store/resource-row.ts';
import { lockResource } from '../store/resource-table.ts';

/** Whether a command's subject is an operation. */
export const isAboutOperation = ({ subject }: Pick<CommandDefinition, 'subject'>): boolean =>
  subject === operations.type;

/** Throws `permission_denied` unless the actor requested the operation, is an admin, or is a service. */
function assertMayCancel(actor: Actor, row: OperationRow): void {
  if (actor.kind === 'service') return;
  const isRequester =
    row.requested_by === null ? row.client_id === clientIdOf(actor) : row.requested_by === actorId(actor);
  if (isRequester) return;
  if (accessOf(actor, row.workspace_id, { roles: ['admin'], isWrite: true }).outcome === 'permitted') return;
  throw new Problem('permission_denied', 'Only the person who requested an operation, or an admin, may cancel it.');
}

/** The command that ends the work of an operation, as the canceller sends it. Throws `state_not_allowed` when there is none. */
function endingCommand(
  catalog: Catalog,
  context: Omit<CommandContext, 'rule'>,
  row: OperationRow,
): Omit<CommandContext, 'rule'> {
  const { endedBy } = catalog.commands[row.command_type] ?? {};
  const definition = endedBy === undefined ? undefined : catalog.commands[endedBy];
  if (!definition)
    throw new Problem('state_not_allowed', `The work of ${row.command_type} cannot be cancelled once it is accepted.`);
  const cause = context.parsed.changes['cause'];
  const changes = 'cause' in definition.changes.shape ? { cause } : {};
  const subject = { type: row.subject_type, id: row.subject_id };
  return {
    ...context,
    definition,
    resource: catalog.resources[definition.subject]!,
    request: { ...context.request, commandType: definition.type, subject, changes },
    parsed: { ...context.parsed, changes, ifMatch: undefined },
    subjectId: row.subject_id,
  };
}

/**
 * What ends the work of an operation, prepared outside the transaction; undefined when its command still waits for a review. Throws
 * `not_found`, `permission_denied`, `version_conflict` or `state_not_allowed`.
 */
export async function prepareCancellation<K extends Catalog>(
  { pool, catalog, rules }: { readonly pool: Pool; readonly catalog: K; readonly rules: Rules<K> },
  context: Omit<CommandContext, 'rule'>,
): Promise<CommandContext | undefined> {
  const { actor, request, subjectId } = context;
  const row = await findOperation(pool, request.workspaceId, subjectId);
  if (!row) throw notFoundProblem(operations, subjectId);
  assertMayCancel(actor, row);
  checkSubject(context, operationRow(row));
  if (row.state === 'waiting_review') return undefined;
  const ending = endingCommand(catalog, context, row);
  return { ...ending, rule: await prepareRule(pool, ending, ruleOf(rules, ending.definition.type)) };
}

/** Whether a review task still waits for its decision. An approved one stands while its command is about to be carried out. */
const isUndecided = ({ resources }: Pick<CommandContext, 'resources'>, task: ResourceRow): boolean =>
  !resources['review_tasks']!.terminalStates.includes(task.lifecycle_state);

/** Withdraws the undecided review task that an operation waits for; the lock comes first, as in every command on the task. */
async function withdrawTask(
  tx: Transaction,
  context: Omit<CommandContext, 'rule'>,
  task: ResourceRow,
  at: { readonly operationId: string; readonly now: Date },
): Promise<Pick<Applied, 'consequences' | 'changes'>> {
  const withdrawn = await withdrawReview(tx, context.resources['review_tasks']!, task, at);
  return { consequences: [withdrawn], changes: [withdrawn.change] };
}

/** Carries out the command that ends the work, under the cancelling operation. */
async function endWork(
  tx: Transaction,
  ending: CommandContext,
  at: { readonly operationId: string; readonly current: ResourceRow; readonly now: Date },
): Promise<Pick<Applied, 'consequences' | 'changes'>> {
  const { row, changes, consequences } = await applyCommand(tx, ending, at);
  const ended = consequenceOf({ row, change: changes[0]! }, at.current.version);
  return { consequences: [ended, ...consequences], changes };
}

/**
 * Cancels an operation inside its transaction: withdraws its review, or carries out the command that ends its work. Throws
 * `IdempotencyKeyTaken`, or the problem for which it is refused.
 * @param ending from `prepareCancellation`
 */
export async function acceptCancellation(
  tx: Transaction,
  context: Omit<CommandContext, 'rule'>,
  ending: CommandContext | undefined,
  { now, signReceipt, checkWorkspace }: Pick<AcceptDeps, 'now' | 'signReceipt' | 'checkWorkspace'>,
): Promise<CommandOutcome> {
  const { actor, request, scope, parsed, subjectId } = context;
  const operationId = newId('op');
  if (!(await claimKey(tx, scope, parsed, operationId, now))) throw new IdempotencyKeyTaken();
  const seen = await findOperation(tx, request.workspaceId, subjectId);
  if (!seen) throw notFoundProblem(operations, subjectId);
  assertMayCancel(actor, seen);
  checkSubject(context, operationRow(seen));
  await checkWorkspace?.(tx, context);
  const task =
    seen.state === 'waiting_review' && seen.review_task_id !== null
      ? await lockResource(tx, request.workspaceId, 'review_tasks', seen.review_task_id)
      : undefined;
  const current = ending && (await lockSubject(tx, ending));
  const row = (await lockOperation(tx, request.workspaceId, subjectId))!;
  checkSubject(context, operationRow(row));
  // Its review was decided, or it began to wait, since this command looked; an approved command is carried out after the approval.
  const isOutdated =
    (row.state === 'waiting_review') !== (task !== undefined) ||
    (task === undefined ? current === undefined : !isUndecided(context, task));
  if (isOutdated)
    throw new Problem('idempotency_in_progress', 'The operation changes at this moment. Try again.', {
      retryAfterSeconds: 1,
    });
  const ended = task
    ? await withdrawTask(tx, context, task, { operationId, now })
    : await endWork(tx, ending!, { operationId, current: current!, now });
  const cause = String(parsed.changes['cause']);
  const after = await cancelOperation(tx, row, { cause, operationId, event: context.definition.event, now });
  const saved = operationRow(after);
  const applied = { row: saved, policyVersions: [], ...ended };
  return await recordOperation(tx, context, applied, {
    operationId,
    state: 'succeeded',
    versionBefore: row.version,
    reviewTaskId: undefined,
    now,
    signReceipt,
  });
}
