import type { AudienceLists } from '@longwave/audience';
import type { EventBus, Subscription } from '@longwave/event-bus';
import { deliveryFactSchema, topics } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { createCountingMemory, recordFacts } from './record-facts.ts';
import { retryTransient } from './retry-transient.ts';

/** Reads delivery facts from the bus into the counts. A fact that cannot be parsed becomes a dead letter. */
export async function consumeFacts(options: {
  readonly bus: EventBus;
  readonly pool: Pool;
  readonly lists: AudienceLists;
  readonly logger: Logger;
  readonly batchSize?: number;
}): Promise<Subscription> {
  const { bus, pool, lists, logger, batchSize = 500 } = options;
  const memory = createCountingMemory();
  const stopping = new AbortController();
  const subscription = await bus.subscribe({
    topic: topics.deliveryFacts,
    group: 'analytics-sink',
    batchSize,
    retry: { attempts: 3 },
    handle: async (messages) => {
      const facts = messages.map((message) => deliveryFactSchema.parse(message.payload));
      await retryTransient(
        () => recordFacts(pool, facts, lists, memory),
        stopping.signal,
        (error) => logger.warn({ err: error, facts: facts.length }, 'facts.retried'),
      );
      logger.debug({ facts: facts.length }, 'facts.recorded');
    },
  });
  const close = async () => {
    stopping.abort();
    await subscription.close();
  };
  return { close, [Symbol.asyncDispose]: close };
}
