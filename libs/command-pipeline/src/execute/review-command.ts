import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { requestReview } from '../review/request-review.ts';
import type { ReviewVerdict } from '../review/review-verdict.ts';
import { findSameWaiting } from '../review/waiting-operation.ts';
import type { ResourceRow } from '../store/resource-row.ts';
import type { SavedVersion } from '../store/save-version.ts';
import type { AppliedConsequence } from './apply-consequences.ts';
import type { AcceptDeps, CommandContext } from './command-context.ts';
import { actorId } from './command-request.ts';
import { withdrawCorrected } from './withdraw-review.ts';

/** The review of a person's command; undefined when its definition declares none, and for commands of services. */
export async function reviewOf(
  tx: Transaction,
  { definition, actor, request, parsed }: CommandContext,
  current: ResourceRow | undefined,
  { decideReview, now }: Pick<AcceptDeps, 'decideReview' | 'now'>,
): Promise<ReviewVerdict | undefined> {
  if (actor.kind !== 'principal' || definition.review === 'none') return undefined;
  if (!decideReview) throw new Error(`${definition.type} declares a review, and nothing decides about it`);
  const { workspaceId } = request;
  const { changes } = parsed;
  const { id: subjectId, attributes } = current ?? {};
  return decideReview(tx, { definition, workspaceId, actor, subjectId, current: attributes, changes, now });
}

/** The earlier request that the reason names as corrected by this one. */
const correctedBy = (reason: unknown): string | undefined =>
  typeof reason === 'object' && reason !== null && 'corrects' in reason && typeof reason.corrects === 'string'
    ? reason.corrects
    : undefined;

/**
 * Throws `review_waiting`, with the review and its operation, where the same command waits for the subject already: of two that are approved only one
 * can be carried out. A command that creates its subject makes another one each time.
 */
async function refuseSameWaiting(
  tx: Transaction,
  { definition, request, parsed, subjectId }: CommandContext,
  current: ResourceRow | undefined,
): Promise<void> {
  if (!current) return;
  const same = await findSameWaiting(tx, {
    ...{ workspaceId: request.workspaceId, commandType: definition.type, subjectId, changes: parsed.changes },
    version: definition.changesPart ? undefined : current.version,
  });
  if (!same) return;
  throw new Problem('review_waiting', `The review ${same.id} decides about the same command. Wait for it.`, {
    subject: { type: 'review_tasks', id: same.id, version: same.version },
    operationId: same.operation_id,
  });
}

/** Opens the review of a command that its rule has found acceptable. Throws `review_waiting`. */
export async function openReview(
  tx: Transaction,
  context: CommandContext,
  verdict: ReviewVerdict,
  at: {
    readonly operationId: string;
    readonly current: ResourceRow | undefined;
    /** What the rule found, for the reviewers. */
    readonly shown: Readonly<Record<string, unknown>> | undefined;
  } & AcceptDeps,
): Promise<SavedVersion> {
  const { definition, resource, request, parsed, actor, scope, subjectId } = context;
  const { operationId, current, shown, now, reviewTasks } = at;
  await refuseSameWaiting(tx, context, current);
  const { changes, reason, payloadDigest } = parsed;
  return requestReview(
    tx,
    reviewTasks!,
    {
      ...{ operationId, workspaceId: request.workspaceId, commandType: definition.type, verdict },
      subject: { type: resource.type, id: subjectId, version: current?.version ?? 0 },
      ...{ corrects: correctedBy(reason), changes, reason, shown, payloadDigest },
      ...{ clientId: scope.clientId, requestedBy: actorId(actor) },
    },
    now,
  );
}

/** Withdraws the request that this command corrects, if it names one. */
export async function withdrawOf(
  tx: Transaction,
  { definition, request, parsed, actor, subjectId }: CommandContext,
  operationId: string,
  { reviewTasks, now }: AcceptDeps,
): Promise<AppliedConsequence[]> {
  const taskId = correctedBy(parsed.reason);
  if (taskId === undefined || !reviewTasks) return [];
  const { workspaceId } = request;
  const of = { commandType: definition.type, subjectId: definition.from === null ? undefined : subjectId };
  const corrected = { taskId, workspaceId, ...of, requestedBy: actorId(actor) };
  return [await withdrawCorrected(tx, reviewTasks, corrected, { operationId, now })];
}
