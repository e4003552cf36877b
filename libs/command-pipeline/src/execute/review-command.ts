import type { Transaction } from '@longwave/postgres';
import { requestReview } from '../review/request-review.ts';
import type { ReviewVerdict } from '../review/review-verdict.ts';
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

/** Opens the review of a command that its rule has found acceptable. */
export async function openReview(
  tx: Transaction,
  { definition, resource, request, parsed, actor, scope, subjectId }: CommandContext,
  verdict: ReviewVerdict,
  at: {
    readonly operationId: string;
    readonly current: ResourceRow | undefined;
    /** What the rule found, for the reviewers. */
    readonly shown: Readonly<Record<string, unknown>> | undefined;
  } & AcceptDeps,
): Promise<SavedVersion> {
  const { operationId, current, shown, now, reviewTasks } = at;
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
