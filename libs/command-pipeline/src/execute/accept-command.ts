import type { Catalog, CommandDefinition, ResourceDefinition } from '@longwave/command-catalog';
import { newId } from '@longwave/ids';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { applyConsequences, type AppliedConsequence } from './apply-consequences.ts';
import { checkVersion, type ParsedRequest } from './check-request.ts';
import { nextAction, type OperationView } from '../store/operation.ts';
import { actorId, type Actor, type CommandOutcome, type CommandRequest } from './command-request.ts';
import type { CommandRule, Decision, Rule } from './command-rule.ts';
import type { ReceiptStatement, SignReceipt } from '../store/receipt.ts';
import { requestReview } from '../review/request-review.ts';
import { notFoundProblem, resourceView, type ResourceRow } from '../store/resource-row.ts';
import { saveVersion, type SavedVersion } from '../store/save-version.ts';
import { claimKey, type IdempotencyScope } from '../store/idempotency-table.ts';
import { lockResource } from '../store/resource-table.ts';
import { saveOperation, settleOperation } from '../store/operation-table.ts';

export type Attributes = Record<string, unknown>;
export type AnyRule = CommandRule<Attributes, Attributes>;

/** A command on its way through the pipeline. */
export interface CommandContext {
  readonly definition: CommandDefinition;
  readonly resource: ResourceDefinition;
  /** Every type of the catalog, for what else the command may change. */
  readonly resources: Catalog['resources'];
  readonly request: CommandRequest;
  readonly parsed: ParsedRequest;
  readonly actor: Actor;
  readonly scope: IdempotencyScope;
  readonly subjectId: string;
  readonly rule: Rule<Attributes, Attributes>;
}

/** The rule of a command that has none: these fields, that state. */
export const mergeChanges: Rule<Attributes, Attributes> = ({ current, changes: { cause: _cause, ...changes } }) => ({
  attributes: { ...current, ...changes },
});

/** The key is held by a committed command. */
export class IdempotencyKeyTaken extends Error {}

/** Throws unless the caller saw this version and the command may start from this state. */
export function checkSubject(
  { definition, resource, request, parsed }: Omit<CommandContext, 'rule'>,
  current: ResourceRow,
): void {
  const { version } = request.subject;
  checkVersion(definition, { version, ifMatch: parsed.ifMatch }, { ...current, type: resource.type });
  if (definition.from?.includes(current.lifecycle_state)) return;
  const noun = resource.noun.replaceAll('_', ' ');
  const allowed = (definition.from ?? []).map((state) => `“${state}”`).join(', ');
  const detail = `The ${noun} is “${current.lifecycle_state}”. This is possible only while it is ${allowed.replace(/, (?=[^,]*$)/, ' or ')}.`;
  throw new Problem('state_not_allowed', detail, {
    subject: { type: resource.type, id: current.id, version: current.version },
  });
}

/** The next state: the catalog's, or the rule's choice among the catalog's. */
function nextState(definition: CommandDefinition, decision: Decision<Attributes>, current: string): string {
  const { to } = definition;
  if (to === null) return current;
  if (typeof to === 'string') return to;
  if (decision.state === undefined || !to.includes(decision.state))
    throw new Error(`${definition.type}: undeclared state`);
  return decision.state;
}

/** Keeps why something is in its state: the cause that its command names. A state that was entered without a cause has none. */
function withStateReason(
  { attributes: { shape } }: ResourceDefinition,
  attributes: Attributes,
  cause: unknown,
  isNewState: boolean,
): Attributes {
  if (!('state_reason' in shape) || !isNewState) return attributes;
  const { state_reason: _before, ...kept } = attributes;
  return cause === undefined ? kept : { ...kept, state_reason: cause };
}

/** Locks the subject and checks it; undefined when the command makes it. */
export async function lockSubject(
  tx: Transaction,
  step: Omit<CommandContext, 'rule'>,
): Promise<ResourceRow | undefined> {
  const { definition, resource, request, subjectId } = step;
  if (definition.from === null && request.subject.id === null) return undefined;
  const current = await lockResource(tx, request.workspaceId, resource.type, subjectId);
  if (definition.from === null) {
    if (current)
      throw new Problem('value_taken', `The ${resource.noun.replaceAll('_', ' ')} ${subjectId} exists already.`);
    return undefined;
  }
  if (!current) throw notFoundProblem(resource, subjectId);
  checkSubject(step, current);
  return current;
}

/** What a command makes of its subject, saved: the revision, its event, and whatever its rule adds. */
export interface Applied extends SavedVersion {
  readonly consequences: readonly AppliedConsequence[];
}

const decide = (tx: Transaction, step: CommandContext, current: ResourceRow | undefined, now: Date) =>
  step.rule({
    tx,
    workspaceId: step.request.workspaceId,
    subjectId: step.subjectId,
    current: current?.attributes ?? {},
    state: current?.lifecycle_state ?? '',
    actor: step.actor,
    changes: step.parsed.changes,
    reason: step.parsed.reason,
    now,
  });

/** Decides and saves; `current` is the locked subject. */
export async function applyCommand(
  tx: Transaction,
  step: CommandContext,
  at: { readonly operationId: string; readonly current: ResourceRow | undefined; readonly now: Date },
): Promise<Applied> {
  const { definition, resource, request, parsed, subjectId } = step;
  const { operationId, current, now } = at;
  const decision = await decide(tx, step, current, now);
  const state = nextState(definition, decision, current?.lifecycle_state ?? '');
  const isNewState = state !== current?.lifecycle_state;
  const attributes = withStateReason(resource, decision.attributes, parsed.changes['cause'], isNewState);
  const saved = await saveVersion(tx, resource, {
    id: subjectId,
    workspaceId: request.workspaceId,
    current,
    attributes,
    state,
    event: definition.event,
    operationId,
    now,
  });
  await decision.also?.(tx, { operationId, version: saved.row.version });
  if (definition.settles)
    await settleOperation(tx, subjectId, {
      state: definition.settles,
      of: definition.settlesOf,
      version: saved.row.version,
      problem: parsed.changes['problem'],
      now,
    });
  const consequences = await applyConsequences(tx, step, decision.consequences ?? [], { operationId, now });
  return { ...saved, consequences };
}

/** Whether somebody else must agree first: to what people ask, never to what services do by themselves. */
const needsReview = ({ review }: CommandDefinition, actor: Actor): boolean =>
  actor.kind === 'principal' && (review === 'single' || review === 'dual');

/** What the receipt of a command states of its subject as it came out. */
export const receiptStatement = (
  step: Omit<CommandContext, 'rule'>,
  operation: Pick<OperationView, 'id' | 'workspace_id' | 'receipt_id'>,
  { row: after, consequences }: Pick<Applied, 'row' | 'consequences'>,
  versionBefore: number,
  now: Date,
): Omit<ReceiptStatement, 'chain'> => ({
  id: operation.receipt_id,
  workspace_id: operation.workspace_id,
  kind: 'command',
  operation_id: operation.id,
  command_type: step.definition.type,
  subject: {
    type: step.resource.type,
    id: after.id,
    version_before: versionBefore,
    version_after: after.version,
    digest_after: after.digest,
  },
  ...(consequences.length > 0 && { consequences: consequences.map(({ proof }) => proof) }),
  payload_digest: step.parsed.payloadDigest,
  client_id: step.scope.clientId,
  accepted_at: now.toISOString(),
  proves: 'acceptance',
});

/** Accepts a command that its actor may send, inside its transaction: it is carried out, or waits for a review. Throws `KeyTaken`, or why it is refused. */
export async function acceptCommand(
  tx: Transaction,
  step: CommandContext,
  means: {
    readonly now: Date;
    readonly signReceipt: SignReceipt;
    readonly reviewTasks: ResourceDefinition | undefined;
  },
): Promise<CommandOutcome> {
  const { definition, resource, request, parsed, actor, scope } = step;
  const { now, signReceipt, reviewTasks } = means;
  const operationId = newId('op');
  if (!(await claimKey(tx, scope, parsed.payloadDigest, operationId, now))) throw new IdempotencyKeyTaken();
  const current = await lockSubject(tx, step);
  const waits = needsReview(definition, actor);
  let task: string | undefined;
  let applied: Applied;
  if (waits) {
    // Whatever would be refused is refused before anyone is bothered with it.
    await decide(tx, step, current, now);
    const { changes, reason, payloadDigest } = parsed;
    const sender = { clientId: scope.clientId, requestedBy: actorId(actor) };
    const command = { operationId, current: current!, changes, reason, payloadDigest, ...sender };
    task = await requestReview(tx, definition, reviewTasks!, command, now);
    applied = { row: current!, view: resourceView(resource, current!), consequences: [] };
  } else applied = await applyCommand(tx, step, { operationId, current, now });
  const { row, view, consequences } = applied;
  const state = waits ? 'waiting_review' : definition.mode === 'async' ? 'running' : 'succeeded';
  const operation: OperationView = {
    id: operationId,
    workspace_id: request.workspaceId,
    command_type: definition.type,
    state,
    subject: { type: resource.type, id: row.id, version: row.version },
    ...(consequences.length > 0 && { consequences: consequences.map(({ shown }) => shown) }),
    receipt_id: newId('rcp'),
    ...(task !== undefined && { review_task_id: task }),
    next_safe_action: nextAction[state],
    created_at: now.toISOString(),
    updated_at: now.toISOString(),
  };
  const status = state === 'succeeded' ? 200 : 202;
  const operationJson = JSON.stringify(operation);
  await saveOperation(
    tx,
    operation,
    scope,
    receiptStatement(step, operation, applied, current?.version ?? 0, now),
    { status, text: operationJson },
    signReceipt,
  );
  return { operationJson, resource: view, status, replayed: false };
}
