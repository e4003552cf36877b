import { reviewRequested, type CommandDefinition, type ResourceDefinition } from '@longwave/command-catalog';
import { newId } from '@longwave/ids';
import type { Transaction } from '@longwave/postgres';
import type { ResourceRow } from '../store/resource-row.ts';
import { saveVersion, type SavedVersion } from '../store/save-version.ts';

/** How long reviewers have. */
const reviewMs = 7 * 86_400_000;

/** A command that was found acceptable and must be reviewed. */
interface ReviewedCommand {
  readonly operationId: string;
  /** The subject as it is; the command is asked of this version. */
  readonly current: ResourceRow;
  readonly changes: unknown;
  readonly reason: unknown;
  readonly payloadDigest: string;
  readonly clientId: string;
  /** Account, or service, that sent it. */
  readonly requestedBy: string;
}

/** Opens the review task of a command. The task's first event is `review.requested`. */
export async function requestReview(
  tx: Transaction,
  definition: CommandDefinition,
  reviewTasks: ResourceDefinition,
  command: ReviewedCommand,
  now: Date,
): Promise<SavedVersion> {
  const { operationId, current, changes, reason, payloadDigest, clientId, requestedBy } = command;
  return await saveVersion(tx, reviewTasks, {
    id: newId(reviewTasks.prefix),
    workspaceId: current.workspace_id,
    current: undefined,
    attributes: {
      operation_id: operationId,
      command_type: definition.type,
      subject: { type: current.resource_type, id: current.id, version: current.version },
      request: {
        changes,
        ...(reason !== undefined && { reason }),
        payload_digest: payloadDigest,
        client_id: clientId,
      },
      requested_by: requestedBy,
      mode: definition.review,
      required_roles: definition.reviewers ?? [],
      due_at: new Date(now.getTime() + reviewMs).toISOString(),
      decisions: [],
    },
    state: reviewTasks.states[0]!,
    event: reviewRequested,
    operationId,
    now,
  });
}
