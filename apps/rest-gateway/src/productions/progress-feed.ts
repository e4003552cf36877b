import type { Redis } from 'ioredis';
import { z } from 'zod';

const tickSchema = z.object({ production_id: z.string(), progress: z.number().min(0).max(1), stage: z.string() });

/** How far an encoding is, 0 to 1; ephemeral, published by the encoder. */
export type ProgressTick = z.output<typeof tickSchema>;

function tryParseTick(text: string | null): ProgressTick | undefined {
  if (text === null) return undefined;
  try {
    return tickSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

const channelOf = (productionId: string) => `progress:${productionId}`;

/** The ticks of encodings. All listeners share one subscriber connection. */
export interface ProgressFeed extends AsyncDisposable {
  /** The last tick; undefined when there is none or Redis is away. */
  last(productionId: string): Promise<ProgressTick | undefined>;
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
    last: async (productionId) => tryParseTick(await redis.get(channelOf(productionId)).catch(() => null)),
    follow: (productionId, onTick) => {
      const channel = channelOf(productionId);
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
