import type { Redis } from 'ioredis';
import type { BusLogger } from '../bus-logger.ts';
import type { RawEntry } from './redis-entry.ts';
import type { GroupPlace } from './redis-groups.ts';
import { redisKeys } from './redis-keys.ts';
import { refillScript } from './redis-scripts.ts';
import { type ArchiveStore, streamArchive } from './stream-archive.ts';
import { isBefore } from './stream-id.ts';

/** Archived messages that wait in a group's redrive stream, at most about this many. */
const refillBelow = 500;
const refillChunk = 500;

/**
 * Brings archived messages to a group, in order, until enough wait in its redrive stream or its place is where the stream begins;
 * answers whether it is. Messages that are no longer in the archive are skipped with a warning.
 * @param archived the last id that left the stream
 */
export async function refillGroup(
  target: {
    readonly redis: Redis;
    readonly store: ArchiveStore;
    readonly topic: string;
    readonly partition: number;
    readonly logger: BusLogger | undefined;
  },
  group: GroupPlace,
  archived: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { redis, store, topic, partition, logger } = target;
  const { name } = group;
  const keys = redisKeys(topic);
  const [stream, redrive] = [keys.stream(partition), keys.redrive(name, partition)];
  const takesMore = async () => !signal.aborted && (await redis.xlen(redrive)) < refillBelow;
  let place = group.delivered;
  const moveTo = async (next: string, entries: readonly RawEntry[]) => {
    const fields = entries.map(([, flat]) => JSON.stringify(flat));
    if ((await redis.eval(refillScript, 2, stream, redrive, name, place, next, ...fields)) !== 1)
      throw new Error(`The place of group ${name} was moved meanwhile.`);
    place = next;
  };
  if (!(await takesMore())) return false;
  for await (const found of streamArchive(store, topic, partition).readAfter(place)) {
    for (let at = 0; at < found.length; at += refillChunk) {
      const part = found.slice(at, at + refillChunk);
      await moveTo(part.at(-1)?.[0] ?? place, part);
    }
    if (!(await takesMore())) return false;
  }
  if (isBefore(place, archived)) {
    logger?.warn({ topic, partition, group: name }, 'Messages that a group has not seen are no longer in the archive');
    await moveTo(archived, []);
  }
  return true;
}
