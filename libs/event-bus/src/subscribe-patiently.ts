import type { EventBus, SubscribeOptions, Subscription } from './port.ts';
import { retryTransient } from './retry-transient.ts';

/**
 * Subscribes a handler whose failures are mostly those of an engine it needs: while a database or store is away it is tried
 * again without end, still holding its messages. Permanent failures use up the attempts and end in the dead letters.
 */
export async function subscribePatiently(
  bus: EventBus,
  options: SubscribeOptions & { readonly onRetry: (error: unknown) => void },
): Promise<Subscription> {
  const stopping = new AbortController();
  const { handle, onRetry, ...rest } = options;
  const subscription = await bus.subscribe({
    retry: { attempts: 3 },
    ...rest,
    handle: (messages) => retryTransient(() => handle(messages), stopping.signal, onRetry),
  });
  const close = async () => {
    stopping.abort();
    await subscription.close();
  };
  return { close, [Symbol.asyncDispose]: close };
}
