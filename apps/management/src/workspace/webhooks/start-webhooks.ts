import type { ExecuteCommand } from '@longwave/command-pipeline';
import type { EventBus } from '@longwave/event-bus';
import { createGuardedFetch, type GuardedFetch } from '@longwave/guarded-fetch';
import { repeatSweeps, type Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import type { PollLoop } from '@longwave/worker-kit';
import { deliverMessages, type DeliveryOptions } from './deliver-messages.ts';
import { removeDeliveries } from './delivery-table.ts';
import { createPostMessage } from './post-message.ts';
import { followForWebhooks } from './record-deliveries.ts';
import type { ApiRoots } from './webhook-message.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export interface WebhookOptions extends Pick<DeliveryOptions, 'secrets' | 'random' | 'leaseMs' | 'pollMs'> {
  readonly pool: Pool;
  readonly bus: EventBus;
  readonly execute: ExecuteCommand;
  /** Origins that may be http, on another port or private, for development. */
  readonly allowOrigins: readonly string[];
  readonly roots: ApiRoots;
  /** Days that ended deliveries are kept. */
  readonly keepDays: number;
  readonly clock: () => Date;
  readonly logger: Logger;
  /** Milliseconds that a receiver has for its answer. */
  readonly answerMs?: number;
  /** In place of the one that asks public addresses. */
  readonly fetch?: GuardedFetch;
}

/** Records what webhook endpoints have chosen, delivers it, and removes old deliveries, until it is disposed. */
export function startWebhooks(options: WebhookOptions): PollLoop {
  const { pool, bus, roots, clock, logger, allowOrigins, keepDays } = options;
  const { fetch = createGuardedFetch({ allowOrigins, userAgent: 'Longwave-Webhooks/1.0' }) } = options;
  const stack = new AsyncDisposableStack();
  const delivering = stack.use(
    deliverMessages({
      ...options,
      post: createPostMessage(fetch, clock, options.answerMs),
      onError: (err, delivery) =>
        logger.error(
          { err, delivery_id: delivery?.id, endpoint_id: delivery?.endpoint_id },
          'webhooks.delivery_failed',
        ),
    }),
  );
  stack.use(followForWebhooks({ pool, bus, roots, clock, logger, onRecorded: delivering.wake }));
  stack.use(
    repeatSweeps({
      sweeps: [
        {
          name: 'webhook_deliveries',
          remove: (maxRows) => removeDeliveries(pool, new Date(clock().getTime() - keepDays * dayMs), maxRows),
        },
      ],
      everyMs: hourMs,
      onSwept: (sweep, rows) => logger.info({ sweep, rows }, 'webhooks.swept'),
      onError: (sweep, err) => logger.warn({ err, sweep }, 'webhooks.sweep_failed'),
    }),
  );
  return { wake: delivering.wake, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
