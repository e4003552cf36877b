import type { Catalog, CommandDefinition, ResourceDefinition } from '@longwave/command-catalog';
import { newId } from '@longwave/ids';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { applyConsequences, type AppliedConsequence } from './apply-consequences.ts';
import { checkVersion, type ParsedRequest } from './check-request.ts';
import { operationView, type OperationView } from '../store/operation.ts';
import { actorId, type Actor, type CommandOutcome, type CommandRequest } from './command-request.ts';
import type { CommandRule, Decision, Rule } from './command-rule.ts';
import type { RevisionChange } from '../store/change-table.ts';
import {
  authorityTypes,
  type DecisionBasis,
  type PolicyVersion,
  type ReceiptStatement,
  type SignReceipt,
} from '../store/receipt.ts';
import { requestReview } from '../review/request-review.ts';
import { notFoundProblem, resourceView, type ResourceRow } from '../store/resource-row.ts';
import { saveVersion, type SavedVersion } from '../store/save-version.ts';
import { claimKey, type IdempotencyScope } from '../store/idempotency-table.ts';
import { lockResource } from '../store/resource-table.ts';
import { saveOperation, settleOperation } from '../store/operation-table.ts';

export type AnyAttributes = Record<string, unknown>;
export type AnyRule = CommandRule<AnyAttributes, AnyAttributes>;

/** A parsed command with what the catalog says about it. */
export interface CommandContext {
  readonly definition: CommandDefinition;
  readonly resource: ResourceDefinition;
  /** Every type of the catalog: a command may change other resources with its subject. */
  readonly resources: Catalog['resources'];
  readonly request: CommandRequest;
  readonly parsed: ParsedRequest;
  readonly actor: Actor;
  readonly scope: IdempotencyScope;
  readonly subjectId: string;
  readonly rule: Rule<AnyAttributes, AnyAttributes>;
}

/** The rule of a command without one of its own: the changed fields replace the present ones. */
export const mergeChanges: Rule<AnyAttributes, AnyAttributes> = ({
  current,
  changes: { cause: _cause, ...changes },
}) => ({
  attributes: { ...current, ...changes },
});

/** A committed command holds the key. */
export class IdempotencyKeyTaken extends Error {}

/** Throws unless the caller saw the current version and the command may start from the current state. */
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
function nextState(definition: CommandDefinition, decision: Decision<AnyAttributes>, current: string): string {
  const { to } = definition;
  if (to === null) return current;
  if (typeof to === 'string') return to;
  if (decision.state === undefined || !to.includes(decision.state))
    throw new Error(`${definition.type}: undeclared state`);
  return decision.state;
}

/** Keeps the cause that a command states for a new state, and drops the cause of the state before. */
function withStateReason(
  { attributes: { shape } }: ResourceDefinition,
  attributes: AnyAttributes,
  cause: unknown,
  isNewState: boolean,
): AnyAttributes {
  if (!('state_reason' in shape) || !isNewState) return attributes;
  const { state_reason: _before, ...kept } = attributes;
  return cause === undefined ? kept : { ...kept, state_reason: cause };
}

/** Locks and checks the subject; undefined when the command creates it. */
export async function lockSubject(
  tx: Transaction,
  context: Omit<CommandContext, 'rule'>,
): Promise<ResourceRow | undefined> {
  const { definition, resource, request, subjectId } = context;
  if (definition.from === null && request.subject.id === null) return undefined;
  const current = await lockResource(tx, request.workspaceId, resource.type, subjectId);
  if (definition.from === null) {
    if (current)
      throw new Problem('value_taken', `The ${resource.noun.replaceAll('_', ' ')} ${subjectId} exists already.`);
    return undefined;
  }
  if (!current) throw notFoundProblem(resource, subjectId);
  checkSubject(context, current);
  return current;
}

/** The saved effect of a command: the subject's revision and the resources that changed with it. */
export interface Applied extends Pick<SavedVersion, 'row' | 'view'> {
  readonly consequences: readonly AppliedConsequence[];
  /** Every revision that was saved. */
  readonly changes: readonly RevisionChange[];
  /** The policies that the rule obeyed. */
  readonly policyVersions: readonly PolicyVersion[];
  /** What else it decided by. */
  readonly decidedBy?: readonly DecisionBasis[];
}

const decide = (tx: Transaction, context: CommandContext, current: ResourceRow | undefined, now: Date) =>
  context.rule({
    tx,
    workspaceId: context.request.workspaceId,
    subjectId: context.subjectId,
    current: current?.attributes ?? {},
    state: current?.lifecycle_state ?? '',
    actor: context.actor,
    changes: context.parsed.changes,
    reason: context.parsed.reason,
    now,
  });

/** Decides and saves; `current` is the locked subject. */
export async function applyCommand(
  tx: Transaction,
  context: CommandContext,
  at: { readonly operationId: string; readonly current: ResourceRow | undefined; readonly now: Date },
): Promise<Applied> {
  const { definition, resource, request, parsed, subjectId } = context;
  const { operationId, current, now } = at;
  const decision = await decide(tx, context, current, now);
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
      result: definition.result && {
        type: definition.result.type,
        id: String(parsed.changes[definition.result.field]),
      },
      now,
    });
  const consequences = await applyConsequences(tx, context, decision.consequences ?? [], { operationId, now });
  const changes = [saved.change, ...consequences.map(({ change }) => change)];
  const { policyVersions = [], decidedBy = [] } = decision;
  return { row: saved.row, view: saved.view, consequences, changes, policyVersions, decidedBy };
}

/** Whether another person must approve the command; commands of services need no approval. */
const needsReview = ({ review }: CommandDefinition, actor: Actor): boolean =>
  actor.kind === 'principal' && (review === 'single' || review === 'dual');

/** The statement of a command's receipt, about its subject as it was saved. */
export const receiptStatement = (
  context: Omit<CommandContext, 'rule'>,
  operation: Pick<OperationView, 'id' | 'workspace_id' | 'receipt_id'>,
  { row: after, consequences, policyVersions, decidedBy = [] }: Omit<Applied, 'view' | 'changes'>,
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
    id: after.id,
    version_before: versionBefore,
    version_after: after.version,
    digest_after: after.digest,
  },
  ...(consequences.length > 0 && { consequences: consequences.map(({ proof }) => proof) }),
  ...(decidedBy.length > 0 && { decided_by: decidedBy }),
  payload_digest: context.parsed.payloadDigest,
  client_id: context.scope.clientId,
  policy_versions: policyVersions,
  accepted_at: now.toISOString(),
  proves: 'acceptance',
});

/**
 * Executes a permitted command inside its transaction, or lets it wait for a review. Throws `IdempotencyKeyTaken`, or the problem for
 * which it is refused.
 */
export async function acceptCommand(
  tx: Transaction,
  context: CommandContext,
  deps: {
    readonly now: Date;
    readonly signReceipt: SignReceipt;
    readonly reviewTasks: ResourceDefinition | undefined;
  },
): Promise<CommandOutcome> {
  const { definition, resource, parsed, actor, scope } = context;
  const { now, signReceipt, reviewTasks } = deps;
  const operationId = newId('op');
  if (!(await claimKey(tx, scope, parsed, operationId, now))) throw new IdempotencyKeyTaken();
  const current = await lockSubject(tx, context);
  const waits = needsReview(definition, actor);
  let task: string | undefined;
  let applied: Applied;
  if (waits) {
    // A command that its rule refuses is refused now, not after a review.
    const { policyVersions = [] } = await decide(tx, context, current, now);
    const { changes, reason, payloadDigest } = parsed;
    const sender = { clientId: scope.clientId, requestedBy: actorId(actor) };
    const command = { operationId, current: current!, changes, reason, payloadDigest, ...sender };
    const opened = await requestReview(tx, definition, reviewTasks!, command, now);
    task = opened.row.id;
    const view = resourceView(resource, current!);
    applied = { row: current!, view, consequences: [], changes: [opened.change], policyVersions };
  } else applied = await applyCommand(tx, context, { operationId, current, now });
  return await recordOperation(tx, context, applied, {
    operationId,
    state: waits ? 'waiting_review' : definition.mode === 'async' ? 'accepted' : 'succeeded',
    versionBefore: current?.version ?? 0,
    reviewTaskId: task,
    now,
    signReceipt,
  });
}

/** Records the operation of an accepted command with its receipt, its changes and its first answer. It locks the workspace's chain: call it last. */
export async function recordOperation(
  tx: Transaction,
  context: Omit<CommandContext, 'rule'>,
  applied: Applied,
  accepted: {
    readonly operationId: string;
    readonly state: 'accepted' | 'waiting_review' | 'succeeded';
    readonly versionBefore: number;
    /** The review that the command waits for. */
    readonly reviewTaskId: string | undefined;
    readonly now: Date;
    readonly signReceipt: SignReceipt;
  },
): Promise<CommandOutcome> {
  const { definition, resource, request, actor, scope } = context;
  const { operationId, state, versionBefore, reviewTaskId, now, signReceipt } = accepted;
  const { row, view, consequences, changes } = applied;
  const facts = {
    id: operationId,
    workspace_id: request.workspaceId,
    command_type: definition.type,
    state,
    subject: { type: resource.type, id: row.id, version: row.version },
    ...(consequences.length > 0 && { consequences: consequences.map(({ shown }) => shown) }),
    receipt_id: newId('rcp'),
    ...(reviewTaskId !== undefined && { review_task_id: reviewTaskId }),
    created_at: now.toISOString(),
    updated_at: now.toISOString(),
  } as const;
  const operation = operationView(facts, definition, resource);
  const status = state === 'succeeded' ? 200 : 202;
  const operationJson = JSON.stringify(operation);
  const review = { declared: definition.review, applied: state === 'waiting_review' ? definition.review : 'none' };
  await saveOperation(
    tx,
    operation,
    { scope, requestedBy: actorId(actor) },
    { ...receiptStatement(context, operation, applied, versionBefore, now), review },
    changes,
    { status, text: operationJson },
    signReceipt,
  );
  return { operationJson, resource: view, status, replayed: false };
}
