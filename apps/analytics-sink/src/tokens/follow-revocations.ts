import { isEvent } from '@longwave/command-catalog';
import { subscribeWhenReachable, type EventBus } from '@longwave/event-bus';
import { domainEventSchema, topics } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { z } from 'zod';
import { insertRevokedTokens } from './revoked-token-table.ts';

const machineToken = z.object({ expires_at: z.iso.datetime() });

/** Stores the machine tokens that auth-server's events revoke. */
export const followRevocations = (options: {
  readonly bus: EventBus;
  readonly pool: Pool;
  readonly logger: Logger;
  readonly clock: () => Date;
}): AsyncDisposable =>
  subscribeWhenReachable(options.bus, {
    topic: topics.identity,
    group: 'analytics-sink',
    handle: async (messages) => {
      const revoked = messages
        .map(({ payload }) => domainEventSchema.parse(payload))
        .filter((event) => isEvent(event, 'machine_token.revoked'))
        .map(({ subject, after }) => ({
          id: subject.id,
          expiresAt: machineToken.parse(after.attributes).expires_at,
        }));
      if (revoked.length > 0) await insertRevokedTokens(options.pool, revoked, options.clock());
    },
    onRetry: (error) => options.logger.warn({ err: error, topic: topics.identity }, 'follower.retried'),
  });
