import { tryParseTick, type ProgressTick } from '@longwave/events';
import { findLastTick } from '@longwave/hosting-client';
import { progressKeyOf } from '@longwave/services';
import type { Redis } from 'ioredis';

/** The ticks of encodings. All listeners share one subscriber connection. */
export interface ProgressFeed extends AsyncDisposable {
  /** The last tick; undefined when there is none or Redis is away. */
  last(productionId: string, track?: string): Promise<ProgressTick | undefined>;
  /** Calls `onTick` for each tick until the returned function is called. */
  follow(productionId: string, onTick: (tick: ProgressTick) => void): () => void;
}

/** @param subscriber a connection of its own: a subscribed one takes no other commands */
export function createProgressFeed(redis: Redis, subscriber: Redis, onError: (error: unknown) => void): ProgressFeed {
  const listeners = new Map<string, Set<(tick: ProgressTick) => void>>();
  subscriber.on('message', (channel: string, text: string) => {
    const tick = tryParseTick(text);
    if (tick) for (const listener of listeners.get(channel) ?? []) listener(tick);
  });
  return {
    last: (productionId, track) => findLastTick(redis, productionId, track),
    follow: (productionId, onTick) => {
      const channel = progressKeyOf(productionId);
      const known = listeners.get(channel);
      if (known) known.add(onTick);
      else {
        listeners.set(channel, new Set([onTick]));
        subscriber.subscribe(channel).catch(onError);
      }
      return () => {
        const left = listeners.get(channel);
        left?.delete(onTick);
        if (left?.size !== 0) return;
        listeners.delete(channel);
        subscriber.unsubscribe(channel).catch(onError);
      };
    },
    [Symbol.asyncDispose]: async () => subscriber.disconnect(),
  };
}
