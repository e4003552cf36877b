import { subscribeWhenReachable, type EventBus } from '@longwave/event-bus';
import { opportunitiesCountedSchema, topics } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { saveOpportunities } from './opportunity-table.ts';

/** Stores counted opportunities from the bus. A message that cannot be parsed becomes a dead letter. */
export const consumeOpportunities = (options: {
  readonly bus: EventBus;
  readonly pool: Pool;
  readonly logger: Logger;
}): AsyncDisposable => {
  const { bus, pool, logger } = options;
  return subscribeWhenReachable(bus, {
    topic: topics.opportunities,
    group: 'analytics-sink',
    batchSize: 20,
    handle: (messages) =>
      saveOpportunities(
        pool,
        messages.map((message) => opportunitiesCountedSchema.parse(message.payload)),
      ),
    onRetry: (error) => logger.warn({ err: error }, 'opportunities.retried'),
  });
};
