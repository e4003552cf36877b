import { reviewRequested, type ResourceDefinition } from '@longwave/command-catalog';
import { newId } from '@longwave/ids';
import type { Transaction } from '@longwave/postgres';
import { saveVersion, type SavedVersion } from '../store/save-version.ts';
import type { ReviewVerdict } from './review-verdict.ts';

const hourMs = 3_600_000;
/** How long reviewers have where no policy says it. */
const defaultReviewHours = 7 * 24;

/** A command that was found acceptable and must be reviewed. */
interface ReviewedCommand {
  readonly operationId: string;
  readonly workspaceId: string;
  readonly commandType: string;
  /** The subject at the version that the command is requested for; version 0 when the command creates it. */
  readonly subject: { readonly type: string; readonly id: string; readonly version: number };
  readonly verdict: ReviewVerdict;
  /** The earlier request that this one corrects. */
  readonly corrects?: string | undefined;
  readonly changes: unknown;
  readonly reason: unknown;
  /** What its rule found, which the approval is bound to. */
  readonly shown?: Readonly<Record<string, unknown>> | undefined;
  readonly payloadDigest: string;
  readonly clientId: string;
  /** Account, or service, that sent it. */
  readonly requestedBy: string;
}

/** Opens the review task of a command. The task's first event is `review.requested`. */
export async function requestReview(
  tx: Transaction,
  reviewTasks: ResourceDefinition,
  command: ReviewedCommand,
  now: Date,
): Promise<SavedVersion> {
  const { operationId, workspaceId, subject, verdict, changes, reason, shown, payloadDigest, clientId, requestedBy } =
    command;
  return await saveVersion(tx, reviewTasks, {
    id: newId(reviewTasks.prefix),
    workspaceId,
    current: undefined,
    attributes: {
      operation_id: operationId,
      command_type: command.commandType,
      subject,
      request: {
        changes,
        ...(reason !== undefined && { reason }),
        payload_digest: payloadDigest,
        client_id: clientId,
      },
      ...(shown && { shown }),
      requested_by: requestedBy,
      mode: verdict.applied,
      declared_mode: verdict.declared,
      required_roles: [...verdict.requiredRoles],
      ...(verdict.firstApprovalRoles && { first_approval_roles: verdict.firstApprovalRoles }),
      ...(verdict.policyVersions && { policy_versions: verdict.policyVersions }),
      ...(verdict.podcastId !== undefined && { podcast_id: verdict.podcastId }),
      ...(command.corrects !== undefined && { corrects: command.corrects }),
      due_at: new Date(now.getTime() + (verdict.dueHours ?? defaultReviewHours) * hourMs).toISOString(),
      decisions: [],
    },
    state: reviewTasks.states[0]!,
    event: reviewRequested,
    operationId,
    now,
  });
}
