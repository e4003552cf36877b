import { subscribePatiently, type EventBus, type Subscription } from '@longwave/event-bus';
import { domainEventSchema, topics } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { applyEvent, type ApplyOptions } from './apply-event.ts';

export interface FollowOptions extends ApplyOptions {
  /** Told after each event that was applied. */
  readonly onApplied: () => void;
}

export interface Follower extends AsyncDisposable {
  /** True once the bus delivers events. */
  readonly following: boolean;
}

const retryMs = 1_000;

/** Applies every product event. A bus that does not answer is tried again for ever: what is known can be served meanwhile. */
export function followEvents(
  bus: EventBus,
  group: string,
  pool: Pool,
  options: FollowOptions,
  logger: Logger,
): Follower {
  const stopping = new AbortController();
  let subscription: Subscription | undefined;

  const subscribe = async () => {
    while (!stopping.signal.aborted && !subscription) {
      try {
        subscription = await subscribePatiently(bus, {
          topic: topics.product,
          group,
          handle: async (messages) => {
            for (const message of messages) {
              await applyEvent(pool, domainEventSchema.parse(message.payload), options);
              options.onApplied();
            }
          },
          onRetry: (error) => logger.warn({ err: error }, 'projection.retried'),
        });
      } catch (error) {
        logger.warn({ err: error }, 'projection.bus_unavailable');
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, retryMs);
          stopping.signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
        });
      }
    }
  };
  const subscribed = subscribe();
  return {
    get following() {
      return subscription !== undefined;
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await subscribed;
      await subscription?.close();
    },
  };
}
