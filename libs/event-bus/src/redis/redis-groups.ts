import type { Redis } from 'ioredis';
import { z } from 'zod';
import { pairs } from './redis-entry.ts';
import { redisKeys } from './redis-keys.ts';
import { isBefore } from './stream-id.ts';

const pendingSummary = z.tuple([z.number(), z.string().nullable()]).rest(z.unknown());

const groupSchema = z.object({
  name: z.string(),
  'last-delivered-id': z.string(),
  /** Handed over and not acknowledged. */
  pending: z.number(),
  /** Not handed over yet; null when Redis cannot tell, because messages between were removed or the group was moved. */
  lag: z.number().nullable(),
});
const groupsReply = z.array(z.array(z.unknown()).transform((flat) => groupSchema.parse(pairs(flat))));

/** The groups of a stream; none when there is no stream. */
async function listGroups(redis: Redis, stream: string): Promise<z.output<typeof groupsReply>> {
  if ((await redis.exists(stream)) === 0) return [];
  return groupsReply.parse(await redis.xinfo('GROUPS', stream));
}

/** Messages of a partition that a group has not finished. Where Redis cannot tell, all that are in the stream. */
export async function countWaiting(redis: Redis, topic: string, group: string, partition: number): Promise<number> {
  const keys = redisKeys(topic);
  const stream = keys.stream(partition);
  const [groups, length, redriven] = await Promise.all([
    listGroups(redis, stream),
    redis.xlen(stream),
    redis.xlen(keys.redrive(group, partition)),
  ]);
  const { pending = 0, lag = null } = groups.find(({ name }) => name === group) ?? {};
  return redriven + (lag === null ? length : pending + lag);
}

/** How far a group is in a stream. */
export interface GroupPlace {
  readonly name: string;
  /** The last id that was handed to the group. */
  readonly delivered: string;
  /** The first id that was handed over and is not acknowledged. */
  readonly oldestPending: string | undefined;
}

/** Whether the group has acknowledged every message up to `id`. */
export function isDoneWith({ delivered, oldestPending }: GroupPlace, id: string): boolean {
  return !isBefore(delivered, id) && (oldestPending === undefined || isBefore(id, oldestPending));
}

/** The groups of a stream and their places; none when there is no stream. */
export async function readGroupPlaces(redis: Redis, stream: string): Promise<GroupPlace[]> {
  const groups = await listGroups(redis, stream);
  return Promise.all(
    groups.map(async ({ name, pending, 'last-delivered-id': delivered }) => {
      if (pending === 0) return { name, delivered, oldestPending: undefined };
      const [, oldest] = pendingSummary.parse(await redis.xpending(stream, name));
      return { name, delivered, oldestPending: oldest ?? undefined };
    }),
  );
}
