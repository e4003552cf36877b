import { tryParseTick, type ProgressTick } from '@longwave/events';
import { progressKeyOf } from '@longwave/services';
import type { Redis } from 'ioredis';

/** The last tick of an encoding; undefined when there is none or Redis is away. */
export const findLastTick = async (redis: Redis, productionId: string): Promise<ProgressTick | undefined> =>
  tryParseTick(await redis.get(progressKeyOf(productionId)).catch(() => null));
