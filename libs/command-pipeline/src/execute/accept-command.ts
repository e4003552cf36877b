import type { CommandDefinition, ResourceDefinition } from '@longwave/command-catalog';
import { newId } from '@longwave/ids';
import { tryOut, type Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { ReviewVerdict } from '../review/review-verdict.ts';
import { claimKey } from '../store/idempotency-table.ts';
import { recordProvider, settleOperation } from '../store/operation-table.ts';
import { notFoundProblem, type ResourceRow } from '../store/resource-row.ts';
import { lockResource } from '../store/resource-table.ts';
import { saveVersion } from '../store/save-version.ts';
import { applyConsequences } from './apply-consequences.ts';
import { checkVersion } from './check-request.ts';
import type { AcceptDeps, AnyAttributes, Applied, CommandContext } from './command-context.ts';
import type { CommandOutcome } from './command-request.ts';
import type { Decision, Rule } from './command-rule.ts';
import { recordOperation } from './record-operation.ts';
import { openReview, reviewOf, withdrawOf } from './review-command.ts';

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
    approved: context.approved,
    now,
    reviewedVersion: context.reviewedVersion,
  });

/** Decides and saves; `current` is the locked subject. */
export async function applyCommand(
  tx: Transaction,
  context: CommandContext,
  at: { readonly operationId: string; readonly current: ResourceRow | undefined; readonly now: Date },
): Promise<Applied & { readonly row: ResourceRow }> {
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
  if (decision.provider) await recordProvider(tx, subjectId, decision.provider, now);
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
  return { row: saved.row, consequences, changes, policyVersions, decidedBy };
}

/** The revisions and the state of a command that waits, or that is carried out now. */
async function waitOrApply(
  tx: Transaction,
  context: CommandContext,
  verdict: ReviewVerdict | undefined,
  at: { readonly operationId: string; readonly current: ResourceRow | undefined } & AcceptDeps,
): Promise<{ readonly applied: Applied; readonly taskId?: string }> {
  const { current, now } = at;
  if (verdict === undefined || verdict.applied === 'none') return { applied: await applyCommand(tx, context, at) };
  // A command that its rule refuses is refused now, not after a review. Nothing that the rule writes stays: it decides again when it runs.
  const { policyVersions = [], decidedBy = [], shown } = await tryOut(tx, () => decide(tx, context, current, now));
  const { row, change } = await openReview(tx, context, verdict, { ...at, shown });
  return { applied: { row: current, consequences: [], changes: [change], policyVersions, decidedBy }, taskId: row.id };
}

/**
 * Executes a permitted command inside its transaction, or lets it wait for a review. Throws `IdempotencyKeyTaken`, or the problem for
 * which it is refused.
 */
export async function acceptCommand(
  tx: Transaction,
  context: CommandContext,
  deps: AcceptDeps,
): Promise<CommandOutcome> {
  const { definition, parsed, scope } = context;
  const { now, signReceipt } = deps;
  const operationId = newId('op');
  if (!(await claimKey(tx, scope, parsed, operationId, now))) throw new IdempotencyKeyTaken();
  const current = await lockSubject(tx, context);
  await deps.checkWorkspace?.(tx, context);
  const withdrawn = await withdrawOf(tx, context, operationId, deps);
  const verdict = await reviewOf(tx, context, current, deps);
  const { applied, taskId } = await waitOrApply(tx, context, verdict, { ...deps, operationId, current });
  const all = {
    row: applied.row,
    consequences: [...withdrawn, ...applied.consequences],
    changes: [...applied.changes, ...withdrawn.map(({ change }) => change)],
    policyVersions: [...applied.policyVersions, ...(verdict?.policyVersions ?? [])],
    decidedBy: applied.decidedBy ?? [],
  };
  return await recordOperation(tx, context, all, {
    operationId,
    state: taskId !== undefined ? 'waiting_review' : definition.mode === 'async' ? 'accepted' : 'succeeded',
    versionBefore: current?.version ?? 0,
    review: verdict && { declared: verdict.declared, applied: verdict.applied },
    reviewTaskId: taskId,
    now,
    signReceipt,
  });
}
