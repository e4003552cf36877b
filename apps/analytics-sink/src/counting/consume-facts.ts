import type { AudienceLists } from '@longwave/audience';
import { subscribeWhenReachable, type EventBus } from '@longwave/event-bus';
import { factMessageSchema, topics, type DeliveryFact, type FactsPublished } from '@longwave/events';
import { inBatches, type Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { saveProducerMarks } from './producer-mark-table.ts';
import { createCountingMemory, recordFacts } from './record-facts.ts';

/** Chunks that are counted together, at most; each is of one part of the topic. */
const maxChunks = 4;

/**
 * Counts chunks of facts in natural batches, one transaction at a time: while one is under way the chunks of other parts of the topic collect.
 * Parts that count side by side wait for each other's rows (hours, servings) and pay for every statement themselves.
 * When a batch fails, each of its chunks is tried alone, so that it fails by its own fault only.
 */
function countInBatches(
  count: (facts: readonly DeliveryFact[]) => Promise<void>,
): (facts: readonly DeliveryFact[]) => Promise<void> {
  const attempt = async (facts: readonly DeliveryFact[]) => {
    try {
      await count(facts);
      return undefined;
    } catch (error) {
      return { error };
    }
  };
  const failureOf = inBatches(
    async (chunks: readonly (readonly DeliveryFact[])[]) => {
      const failure = await attempt(chunks.flat());
      if (failure === undefined || chunks.length === 1) return chunks.map(() => failure);
      const failures: (typeof failure | undefined)[] = [];
      for (const chunk of chunks) failures.push(await attempt(chunk));
      return failures;
    },
    { maxItems: maxChunks, patienceMs: 60_000 },
  );
  return async (facts) => {
    const failure = await failureOf(facts);
    if (failure !== undefined) throw failure.error;
  };
}

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
  const count = countInBatches(async (facts) => {
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
