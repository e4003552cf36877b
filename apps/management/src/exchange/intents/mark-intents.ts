import { isResource, type EventOf, type EventType, type Reactions } from '@longwave/command-catalog';
import { findResource } from '@longwave/command-pipeline';
import type { DomainEvent } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { listAliasOwners } from '../addresses/alias-table.ts';
import { markIntents } from './intent-table.ts';

/** Events about what one platform has sent. */
const ofAuthority = [
  'delivery_alias.registered',
  'delivery_alias.revised',
  'content_snapshot.accepted',
  'content_snapshot.retried',
  'content_snapshot.prepared',
  'content_snapshot.failed',
  'content_snapshot.lapsed',
  'content_snapshot.superseded',
  'content_snapshot.revoked',
] as const satisfies readonly EventType[];

/** Events of the episode that serves a version. */
const ofEpisode = [
  'episode.version_hosted',
  'episode.published',
  'episode.unpublished',
  'episode.archived',
] as const satisfies readonly EventType[];

/** Events of the podcast in which that episode is. */
const ofPodcast = [
  'podcast.published',
  'podcast.unpublished',
  'podcast.archived',
] as const satisfies readonly EventType[];

/** Events about the advertising of a workspace. */
const ofWorkspace = [
  'break_plan.published',
  'break_plan.superseded',
  'break_plan.retired',
  'inventory_unit.revised',
  'inventory_unit.activated',
  'inventory_unit.paused',
  'inventory_unit.archived',
  'serving.halted',
  'serving.released',
  'serving_plan.published',
  'serving_plan.republished',
  'serving_plan.policies_renewed',
  'serving_plan.superseded',
  'serving_plan.rolled_back',
] as const satisfies readonly EventType[];

/** The time at which a published plan takes effect; now for everything else. */
function effectAt({ after }: DomainEvent, now: Date): Date {
  const time = isResource(after, 'break_plans')
    ? after.attributes.effective_at
    : isResource(after, 'serving_plans')
      ? after.attributes.effective_from
      : undefined;
  return time === undefined || Date.parse(time) <= now.getTime() ? now : new Date(time);
}

/** One reaction to several types of events. */
const forAll = <E extends EventType>(types: readonly E[], react: (event: EventOf<E>) => Promise<void>) =>
  Object.fromEntries(types.map((type) => [type, react])) as Record<E, typeof react>;

/** Reactions to what may change what should serve at the addresses of a platform. */
export function intentReactions({
  pool,
  clock,
}: {
  readonly pool: Pool;
  readonly clock: () => Date;
}): Reactions<Promise<void>> {
  const mark = (event: DomainEvent, authorityIds: readonly string[], at = clock()) =>
    markIntents(pool, event.workspace_id, authorityIds, at);

  const markAuthority = (event: EventOf<(typeof ofAuthority)[number]>) =>
    mark(event, [event.after.attributes.authority_id]);

  async function markHost(event: EventOf<(typeof ofEpisode)[number]>): Promise<void> {
    const { snapshot_id: id } = event.after.attributes;
    const snapshot =
      id === undefined ? undefined : await findResource(pool, event.workspace_id, 'content_snapshots', id);
    if (snapshot) await mark(event, [snapshot.attributes.authority_id]);
  }

  async function markShow(event: EventOf<(typeof ofPodcast)[number]>): Promise<void> {
    const { hosted_by: host } = event.after.attributes;
    if (host) await mark(event, [host.authority_id]);
  }

  async function markWorkspace(event: DomainEvent): Promise<void> {
    const owners = await listAliasOwners(pool, event.workspace_id);
    await mark(event, owners);
    const at = effectAt(event, clock());
    if (at > clock()) await mark(event, owners, at);
  }

  return {
    ...forAll(ofAuthority, markAuthority),
    ...forAll(ofEpisode, markHost),
    ...forAll(ofPodcast, markShow),
    ...forAll(ofWorkspace, markWorkspace),
  };
}
