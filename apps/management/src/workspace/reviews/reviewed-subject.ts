import type { Actor, ResourceReader } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { holdsRole, type Access, type VisibleResource } from '../access/access.ts';
import { shownTo } from '../access/shown-to.ts';
import { rolesOfReview, type ReviewTask } from './review-task.ts';

/** Members that name stored files. */
const fileMembers = new Set(['storage_key', 'sha256']);

/** The same value without the members that name stored files, at any depth. */
function withoutFiles(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFiles);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !fileMembers.has(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutFiles(inner)]));
}

/** The content of a review's subject. */
interface ReviewedSubject {
  readonly lifecycle_state: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The legal name of the advertiser that the attributes name; absent where they name none. */
  readonly advertiser_name?: string;
}

/**
 * The subject of a review as an actor who sees the review may see it: in full when the actor sees the subject by itself, without the names of
 * stored files when the actor only holds a role that decides, and undefined for everybody else.
 */
export async function reviewedSubject(
  { access, reader }: { readonly access: Access; readonly reader: Pick<ResourceReader, 'listResources'> },
  actor: Actor,
  review: VisibleResource & { readonly task: ReviewTask },
  subject: ResourceView,
): Promise<ReviewedSubject | undefined> {
  const { workspace_id: workspaceId, resource_type: type, id, lifecycle_state: state } = subject;
  const isSeen = await access.sees(actor, workspaceId, type, id);
  if (!isSeen && !holdsRole(actor, { workspaceId, podcastId: review.podcastId }, rolesOfReview(review.task)))
    return undefined;
  const { attributes } = shownTo(actor).resource(subject);
  const { advertiser_id: advertiserId } = attributes;
  const { resources } =
    typeof advertiserId === 'string'
      ? await reader.listResources({ scopes: [{ workspaceId }], resourceType: 'advertisers', ids: [advertiserId] })
      : { resources: [] };
  const { legal_name: name } = resources[0]?.attributes ?? {};
  return {
    lifecycle_state: state,
    attributes: isSeen ? attributes : (withoutFiles(attributes) as typeof attributes),
    ...(typeof name === 'string' && { advertiser_name: name }),
  };
}
