import { subscribeWhenReachable, type EventBus } from '@longwave/event-bus';
import { decisionMadeSchema, topics, type DecisionMade } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { joinChunks } from '../counting/join-chunks.ts';
import { recordDecisions } from './ad-ledger.ts';

/** Enters decisions from the bus into the ad ledger. A decision that cannot be parsed becomes a dead letter. */
export function consumeDecisions(options: {
  readonly bus: EventBus;
  readonly pool: Pool;
  readonly listsVersion: string;
  readonly logger: Logger;
}): AsyncDisposable {
  const { bus, pool, listsVersion, logger } = options;
  const record = joinChunks(async (decisions: readonly DecisionMade[]) => {
    await recordDecisions(pool, decisions, listsVersion);
    logger.debug({ decisions: decisions.length }, 'decisions.recorded');
  });
  return subscribeWhenReachable(bus, {
    topic: topics.decisions,
    group: 'analytics-sink',
    batchSize: 500,
    handle: (messages) => record(messages.map((message) => decisionMadeSchema.parse(message.payload))),
    onRetry: (error) => logger.warn({ err: error }, 'decisions.retried'),
  });
}
