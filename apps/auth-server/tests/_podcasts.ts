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
  await using bus = createEventBus({ kind: 'redis', redisUrl, clientName: 'test' });
  await bus.publish(
    podcasts.map((podcast) => {
      const event = revised(podcast);
      return { topic: topics.product, key: podcast.id, id: event.id, type: event.type, payload: event };
    }),
  );
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
