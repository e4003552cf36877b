import type { Redis } from 'ioredis';
import { z } from 'zod';

const tickSchema = z.object({ production_id: z.string(), progress: z.number().min(0).max(1), stage: z.string() });

/** How far an encoding is, 0 to 1; ephemeral, published by the encoder. */
export type ProgressTick = z.output<typeof tickSchema>;

/** A tick as Redis has it; undefined for no text and for any other. */
export function tryParseTick(text: string | null): ProgressTick | undefined {
  if (text === null) return undefined;
  try {
    return tickSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Key of the last tick of an encoding, and channel of all. */
export const progressKeyOf = (productionId: string): string => `progress:${productionId}`;

/** The last tick of an encoding; undefined when there is none or Redis is away. */
export const findLastTick = async (redis: Redis, productionId: string): Promise<ProgressTick | undefined> =>
  tryParseTick(await redis.get(progressKeyOf(productionId)).catch(() => null));
