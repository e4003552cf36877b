import { createEventBus } from '@longwave/event-bus';
import { topics, type DomainEvent } from '@longwave/events';
import { newId } from '@longwave/ids';

/** A revision of a podcast. */
export interface SaidPodcast {
  readonly id: string;
  readonly workspaceId: string;
  readonly version: number;
  readonly collaborators: readonly object[];
  readonly state?: string;
  /** When; absent: now. */
  readonly at?: string;
}

/** Revisions of podcasts, as management publishes them. */
export async function publishPodcasts(redisUrl: string, podcasts: readonly SaidPodcast[]): Promise<void> {
  await using bus = await createEventBus({ kind: 'redis', redisUrl, clientName: 'test' });
  await bus.publish(
    podcasts.map((podcast) => {
      const event = revised(podcast);
      return { topic: topics.product, key: podcast.id, id: event.id, type: event.type, payload: event };
    }),
  );
}

/** A revision of an authority grant, as management publishes it. */
export async function publishAuthorityGrant(
  redisUrl: string,
  grant: {
    readonly id: string;
    readonly workspaceId: string;
    readonly version: number;
    readonly state: string;
    readonly attributes: Readonly<Record<string, unknown>>;
  },
): Promise<void> {
  await using bus = await createEventBus({ kind: 'redis', redisUrl, clientName: 'test' });
  const { id, workspaceId, version, state, attributes } = grant;
  const said = revised({ id, workspaceId, version, collaborators: [], state });
  const event: DomainEvent = {
    ...said,
    ...{ type: 'authority_grant.revised', subject: { type: 'authority_grants', id, version } },
    after: { ...said.after, resource_type: 'authority_grants', attributes },
  };
  await bus.publish([{ topic: topics.product, key: id, id: event.id, type: event.type, payload: event }]);
}

function revised({ version, collaborators, state = 'published', ...podcast }: SaidPodcast): DomainEvent {
  const { at = new Date().toISOString() } = podcast;
  return {
    id: newId('evt'),
    type: 'podcast.revised',
    workspace_id: podcast.workspaceId,
    subject: { type: 'podcasts', id: podcast.id, version },
    operation_id: newId('op'),
    occurred_at: at,
    after: {
      resource_type: 'podcasts',
      id: podcast.id,
      workspace_id: podcast.workspaceId,
      version,
      lifecycle_state: state,
      attributes: { title: 'Harbour Light', collaborators },
      links: {},
      digest: 'd',
      created_at: at,
      updated_at: at,
      updated_by: { operation_id: newId('op') },
    },
  };
}
