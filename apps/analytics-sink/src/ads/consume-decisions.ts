import { subscribeWhenReachable, type EventBus } from '@longwave/event-bus';
import { decisionMadeSchema, topics } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { recordDecisions } from './ad-ledger.ts';

/** Enters decisions from the bus into the ad ledger. A decision that cannot be parsed becomes a dead letter. */
export function consumeDecisions(options: {
  readonly bus: EventBus;
  readonly pool: Pool;
  readonly listsVersion: string;
  readonly logger: Logger;
}): AsyncDisposable {
  const { bus, pool, listsVersion, logger } = options;
  return subscribeWhenReachable(bus, {
    topic: topics.decisions,
    group: 'analytics-sink',
    batchSize: 500,
    handle: async (messages) => {
      const decisions = messages.map((message) => decisionMadeSchema.parse(message.payload));
      await recordDecisions(pool, decisions, listsVersion);
      logger.debug({ decisions: decisions.length }, 'decisions.recorded');
    },
    onRetry: (error) => logger.warn({ err: error }, 'decisions.retried'),
  });
}
