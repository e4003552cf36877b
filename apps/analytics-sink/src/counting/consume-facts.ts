import type { AudienceLists } from '@longwave/audience';
import { subscribeWhenReachable, type EventBus } from '@longwave/event-bus';
import { factMessageSchema, topics, type DeliveryFact, type FactsPublished } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { joinChunks } from './join-chunks.ts';
import { saveProducerMarks } from './producer-mark-table.ts';
import { createCountingMemory, recordFacts } from './record-facts.ts';

/** Counts the delivery facts of the bus. A fact that cannot be parsed becomes a dead letter. */
export function consumeFacts(options: {
  readonly bus: EventBus;
  readonly pool: Pool;
  readonly lists: AudienceLists;
  readonly logger: Logger;
  readonly batchSize?: number;
  /** Called with facts after they were recorded. */
  readonly note?: (facts: readonly DeliveryFact[]) => Promise<void>;
}): AsyncDisposable {
  const { bus, pool, lists, logger, batchSize = 500, note } = options;
  const memory = createCountingMemory();
  const count = joinChunks(async (facts: readonly DeliveryFact[]) => {
    await recordFacts(pool, facts, lists, memory);
    await note?.(facts);
    logger.debug({ facts: facts.length }, 'facts.recorded');
  });
  return subscribeWhenReachable(bus, {
    topic: topics.deliveryFacts,
    group: 'analytics-sink',
    batchSize,
    handle: async (messages) => {
      const read = messages.map((message) => factMessageSchema.parse(message.payload));
      const facts = read.filter((one): one is DeliveryFact => one.kind !== 'facts_published');
      const marks = read.filter((one): one is FactsPublished => one.kind === 'facts_published');
      if (facts.length > 0) await count(facts);
      // A mark says that earlier facts are published, so it is stored after them.
      if (marks.length > 0) await saveProducerMarks(pool, marks);
    },
    onRetry: (error) => logger.warn({ err: error }, 'facts.retried'),
  });
}
