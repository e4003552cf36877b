import { progressTickSchema, type ProgressTick } from '@longwave/events';
import { progressKeyOf } from '@longwave/services';
import type { Redis } from 'ioredis';

/** A tick as Redis has it; undefined for no text and for any other. */
export function tryParseTick(text: string | null): ProgressTick | undefined {
  if (text === null) return undefined;
  try {
    return progressTickSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The last tick of an encoding; undefined when there is none or Redis is away. */
export const findLastTick = async (redis: Redis, productionId: string): Promise<ProgressTick | undefined> =>
  tryParseTick(await redis.get(progressKeyOf(productionId)).catch(() => null));
