import { subscribeWhenReachable, type EventBus } from '@longwave/event-bus';
import { domainEventSchema, topics } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import type { ApplyOptions } from './apply-episode.ts';
import { applyEvent } from './apply-event.ts';

export interface FollowOptions extends ApplyOptions {
  /** Called after each event that was applied. */
  readonly onApplied: () => void;
}

/** Applies every product event. While the bus is away, the projection stays as it is. */
export const followEvents = (
  bus: EventBus,
  group: string,
  pool: Pool,
  options: FollowOptions,
  logger: Logger,
): AsyncDisposable =>
  subscribeWhenReachable(bus, {
    topic: topics.product,
    group,
    oneByOne: true,
    handle: async (messages) => {
      for (const message of messages) {
        await applyEvent(pool, domainEventSchema.parse(message.payload), options);
        options.onApplied();
      }
    },
    onRetry: (error, during) =>
      logger.warn({ err: error }, during === 'subscribe' ? 'projection.bus_unavailable' : 'projection.retried'),
  });
