import type { AudienceLists } from '@longwave/audience';
import { subscribeWhenReachable, type EventBus } from '@longwave/event-bus';
import { factMessageSchema, topics, type DeliveryFact, type FactsPublished } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { saveProducerMarks } from './producer-mark-table.ts';
import { createCountingMemory, recordFacts } from './record-facts.ts';

/** Reads delivery facts from the bus into the counts. A fact that cannot be parsed becomes a dead letter. */
export function consumeFacts(options: {
  readonly bus: EventBus;
  readonly pool: Pool;
  readonly lists: AudienceLists;
  readonly logger: Logger;
  readonly batchSize?: number;
  /** What else facts are told to, after they were recorded. */
  readonly note?: (facts: readonly DeliveryFact[]) => Promise<void>;
}): AsyncDisposable {
  const { bus, pool, lists, logger, batchSize = 500, note } = options;
  const memory = createCountingMemory();
  return subscribeWhenReachable(bus, {
    topic: topics.deliveryFacts,
    group: 'analytics-sink',
    batchSize,
    handle: async (messages) => {
      const read = messages.map((message) => factMessageSchema.parse(message.payload));
      const facts = read.filter((one): one is DeliveryFact => one.kind !== 'facts_published');
      const marks = read.filter((one): one is FactsPublished => one.kind === 'facts_published');
      if (facts.length > 0) {
        await recordFacts(pool, facts, lists, memory);
        await note?.(facts);
        logger.debug({ facts: facts.length }, 'facts.recorded');
      }
      // A mark is stored after the facts that it speaks of.
      if (marks.length > 0) await saveProducerMarks(pool, marks);
    },
    onRetry: (error) => logger.warn({ err: error }, 'facts.retried'),
  });
}
