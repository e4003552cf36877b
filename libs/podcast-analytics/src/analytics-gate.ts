import type { ProductResource, Resource } from '@longwave/command-catalog';
import { accessTo, decideFor, type Access, type Asker } from '@longwave/hosting-client';
import { analyticsRoles, type AccessTarget } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { AnalyticsDeps } from './question.ts';

const isViewer = (caller: Asker, target: AccessTarget): boolean =>
  decideFor(caller, target, { roles: analyticsRoles }).outcome === 'permitted';

const withoutPlan = () =>
  new Problem('analytics_unavailable', "You don't have the required permissions to use the Analytics API.");
const withoutRight = () =>
  new Problem('analytics_unavailable', "You don't have the permission to use the Analytics API on this podcast.");

interface CheckedCall {
  readonly caller: Asker;
  /** Undefined when the request names none, and `access` with it. */
  readonly object: Resource<ProductResource> | undefined;
  readonly access: Access | undefined;
}

/** Throws unless the plan includes analytics. */
export function permitPlan({ access }: Pick<CheckedCall, 'access'>): void {
  if (!access?.plan.includesAnalytics) throw withoutPlan();
}

/** Throws unless the podcast is published and the caller may see analytics of it. */
export function permitPublished({ caller, access, object }: CheckedCall): void {
  if (object?.lifecycle_state !== 'published' || !access || !isViewer(caller, access)) throw withoutRight();
}

/** Both checks for a podcast: plan, then publication and right. */
export function permitPodcastAnalytics(call: CheckedCall): void {
  permitPlan(call);
  permitPublished(call);
}

/** Both checks for an episode: its plan, then publication of and right to its podcast. */
export async function permitEpisodeAnalytics(
  call: CheckedCall,
  { management }: Pick<AnalyticsDeps, 'management'>,
): Promise<void> {
  permitPlan(call);
  const podcastId = call.access?.podcastId;
  if (podcastId === undefined) throw withoutRight();
  const { resource: podcast } = await management.find(call.caller, 'podcasts', podcastId);
  permitPublished({ ...call, object: podcast });
}

/** When an episode was published. Throws unless it is. */
export function requirePublished(episode: Resource<'episodes'>): Date {
  const publishedAt = episode.attributes.published_at;
  if (episode.lifecycle_state !== 'published' || publishedAt === undefined)
    throw new Problem('state_not_allowed', 'Only a published episode has analytics.');
  return new Date(publishedAt);
}

/** Rule 7 where no podcast is named: some workspace of the caller must have analytics, and the caller the right to see them. */
export function permitSomeAnalytics({ caller }: Pick<CheckedCall, 'caller'>): void {
  const everywhere = [{ ...caller, podcastId: '' }, ...caller.grants];
  const measured = everywhere.filter(({ plan }) => plan?.includesAnalytics);
  if (measured.length === 0) throw withoutPlan();
  const targets = measured.map(({ workspaceId, podcastId }) => ({ workspaceId, podcastId: podcastId || undefined }));
  if (!targets.some((target) => isViewer(caller, target))) throw withoutRight();
}

/** A published podcast, and what the caller may do with it. */
export interface MeasuredPodcast {
  readonly podcast: Resource<'podcasts'>;
  readonly access: Access;
}

/** Every podcast whose analytics the caller may see. */
export async function listMeasuredPodcasts(
  caller: Asker,
  { management }: Pick<AnalyticsDeps, 'management'>,
): Promise<MeasuredPodcast[]> {
  const published = await management.list(caller, 'podcasts', { states: ['published'] });
  return published.flatMap((podcast) => {
    const access = accessTo(caller, podcast.workspace_id, podcast.id);
    return access?.plan.includesAnalytics && isViewer(caller, access) ? [{ podcast, access }] : [];
  });
}
