import { reviewRequested, type CommandDefinition, type ResourceDefinition } from '@longwave/command-catalog';
import { newId } from '@longwave/ids';
import type { Transaction } from '@longwave/postgres';
import type { ParsedRequest } from './check-request.ts';
import { clientIdOf, type Actor } from './command-request.ts';
import { resourceView, revisionDigest, type ResourceRow } from './resource-row.ts';
import { saveRevision } from './versioned-store.ts';

/** How long reviewers have. */
const reviewMs = 7 * 86_400_000;

/** Whether somebody else must agree first: to what people ask, never to what services do by themselves. */
export const needsReview = ({ review }: CommandDefinition, actor: Actor): boolean =>
  actor.kind === 'principal' && (review === 'single' || review === 'dual');

/** Who acts, whatever credential is used: two credentials of one account are one person. */
export const whoIs = (actor: Actor): string =>
  actor.kind === 'principal' ? actor.principal.account_id : clientIdOf(actor);

/** Opens the review task of a command that was found acceptable, and answers its id. The task's first event is `review.requested`. */
export async function requestReview(
  tx: Transaction,
  definition: CommandDefinition,
  reviewTasks: ResourceDefinition,
  asked: {
    readonly operationId: string;
    /** The subject as it is; the command is asked of this version. */
    readonly current: ResourceRow;
    readonly parsed: ParsedRequest;
    readonly actor: Actor;
    readonly now: Date;
  },
): Promise<string> {
  const { operationId, current, parsed, actor, now } = asked;
  const draft = {
    id: newId(reviewTasks.prefix),
    workspace_id: current.workspace_id,
    resource_type: reviewTasks.type,
    version: 1,
    lifecycle_state: reviewTasks.states[0]!,
    attributes: reviewTasks.attributes.parse({
      operation_id: operationId,
      command_type: definition.type,
      subject: { type: current.resource_type, id: current.id, version: current.version },
      request: {
        changes: parsed.changes,
        ...(parsed.reason !== undefined && { reason: parsed.reason }),
        payload_digest: parsed.payloadDigest,
        client_id: clientIdOf(actor),
      },
      requested_by: whoIs(actor),
      mode: definition.review,
      required_roles: definition.reviewers ?? [],
      due_at: new Date(now.getTime() + reviewMs).toISOString(),
      decisions: [],
    }),
    operation_id: operationId,
    created_at: now,
    updated_at: now,
  };
  const row: ResourceRow = { ...draft, digest: revisionDigest(draft) };
  await saveRevision(tx, reviewTasks, row, undefined, {
    id: newId('evt'),
    type: reviewRequested,
    workspace_id: row.workspace_id,
    subject: { type: row.resource_type, id: row.id, version: 1 },
    operation_id: operationId,
    occurred_at: now.toISOString(),
    after: resourceView(reviewTasks, row),
  });
  return row.id;
}
