import type { Actor, PatchStep } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { roles } from '@longwave/principal';
import { z } from 'zod';
import { holdsRole, isUnreadable } from '../access/access.ts';
import { rolesOfReview } from './review-task.ts';

type Attributes = ResourceView['attributes'];

const reviewRoles = z.array(z.enum(roles));
const review = z.looseObject({
  subject: z.looseObject({ type: z.string() }),
  request: z.looseObject({ changes: z.unknown() }),
  required_roles: reviewRoles,
  first_approval_roles: reviewRoles.optional(),
  podcast_id: z.string().optional(),
});

/**
 * Whether a review is about something that the actor, who sees the review, may not read: its type names its readers, and the actor is none
 * of them and does not decide the review. Of such a review the actor is shown that there is one, and not what it is about.
 */
export function isClosedReview(
  actor: Actor,
  workspaceId: string,
  { type, attributes }: { readonly type: string; readonly attributes: Attributes },
): boolean {
  const task = type === 'review_tasks' ? review.safeParse(attributes).data : undefined;
  if (!task || !isUnreadable(actor, workspaceId, task.subject.type)) return false;
  return !holdsRole(actor, { workspaceId, podcastId: task.podcast_id }, rolesOfReview(task));
}

/**
 * The attributes of a review without what its command says, what its rule found, and what was said about it; without the client that sent it; and
 * without the digest of its payload, by which somebody who guesses what it says could prove it.
 */
export function withoutRequest(attributes: Attributes): Attributes {
  const { request, shown: _found, ...rest } = review.parse(attributes);
  const { reason: _reason, ...open } = request;
  return { ...rest, request: { ...open, changes: {}, payload_digest: '', client_id: '' }, decisions: [] };
}

/** Whether a step between two versions of a review says what was decided. */
export const isOfDecisions = ({ path }: PatchStep): boolean => /^\/attributes\/decisions(\/|$)/.test(path);
