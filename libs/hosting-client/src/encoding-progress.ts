import { tryParseTick, type ProgressTick } from '@longwave/events';
import { progressKeyOf } from '@longwave/services';
import type { Redis } from 'ioredis';

/** The last tick of an encoding, or of that of a track of HLS; undefined when there is none or Redis is away. */
export const findLastTick = async (
  redis: Redis,
  productionId: string,
  track?: string,
): Promise<ProgressTick | undefined> =>
  tryParseTick(await redis.get(progressKeyOf(productionId, track)).catch(() => null));
