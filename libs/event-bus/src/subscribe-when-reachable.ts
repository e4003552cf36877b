import { sleep } from '@longwave/worker-kit';
import type { EventBus, SubscribeOptions, Subscription } from './port.ts';
import { retryTransient } from './retry-transient.ts';

const subscribeEveryMs = 1_000;

export interface FollowerOptions extends SubscribeOptions {
  /** Receives every failure that is tried again: of the bus, which did not take the subscription, or of the handler. */
  readonly onRetry: (error: unknown, during: 'subscribe' | 'handle') => void;
}

/**
 * Subscribes a follower as soon as the bus can be reached, without making its caller wait: a service starts while the bus is away,
 * and follows when it comes. The failures of the handler are mostly those of an engine that it needs: while a database or store is
 * away it is tried again without end, still holding its messages. Permanent failures use up the attempts and end in the dead letters.
 */
export function subscribeWhenReachable(
  bus: Pick<EventBus, 'subscribe'>,
  { handle, onRetry, ...options }: FollowerOptions,
): AsyncDisposable {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function subscribe(): Promise<Subscription | undefined> {
    while (!signal.aborted) {
      try {
        return await bus.subscribe({
          retry: { attempts: 3 },
          ...options,
          handle: (messages) =>
            retryTransient(
              () => handle(messages),
              signal,
              (error) => onRetry(error, 'handle'),
            ),
        });
      } catch (error) {
        if (signal.aborted) break;
        onRetry(error, 'subscribe');
        await sleep(subscribeEveryMs, signal);
      }
    }
    return undefined;
  }

  const subscribing = subscribe();
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await (await subscribing)?.close();
    },
  };
}
