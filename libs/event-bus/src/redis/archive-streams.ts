import { randomUUID } from 'node:crypto';
import { openRedis } from '@longwave/service-kit';
import { pollLoop } from '@longwave/worker-kit';
import { Redis } from 'ioredis';
import type { BusLogger } from '../bus-logger.ts';
import { parseBusName } from '../bus-name.ts';
import { isDoneWith, readGroupPlaces } from './redis-groups.ts';
import { archiverLockKey, redisKeys } from './redis-keys.ts';
import { trimScript } from './redis-scripts.ts';
import { refillGroup } from './refill-group.ts';
import { type ArchiveStore, streamArchive } from './stream-archive.ts';
import { idAfter, isBefore } from './stream-id.ts';

const lockMs = 30_000;
const expireEveryMs = 3_600_000;
const dayMs = 86_400_000;

const warningKey = (topic: string, partition: number, group: string) => `${topic}/${partition}/${group}`;

interface ArchivedTopic {
  readonly topic: string;
  /** Days that messages stay in the archive; for ever when not given. */
  readonly keepDays?: number;
}

export interface StreamArchiverOptions {
  /** A function is asked for the password at each connection. */
  readonly redisUrl: string | (() => string);
  readonly clientName: string;
  readonly store: ArchiveStore;
  readonly topics: readonly ArchivedTopic[];
  /** Messages that leave a stream together, once every group is done with them. Default 2,000. */
  readonly chunk?: number;
  /** Messages that one stream keeps in Redis while a group is away or slow; older ones leave all the same. Default 25,000. */
  readonly maxEntries?: number;
  /** Default 1,000. */
  readonly everyMs?: number;
  readonly logger?: BusLogger;
  readonly now?: () => Date;
}

/**
 * Keeps the streams of the bus short, in one process at a time: messages that every group is done with move from Redis to the
 * object store. When a group is away and a stream has more than `maxEntries`, older messages move too, and a warning names the
 * group. A group whose place is before the first message in Redis (it was away, or it is new) gets the archived messages first,
 * in order, through its redrive stream; so every group still sees every message. Nothing leaves Redis before it is stored.
 */
export function archiveStreams(options: StreamArchiverOptions): AsyncDisposable {
  const { store, topics, chunk = 2_000, maxEntries = 25_000, everyMs = 1_000, logger } = options;
  const now = options.now ?? (() => new Date());
  const redis = openRedis(
    options.redisUrl,
    (url) =>
      new Redis(url, {
        lazyConnect: true,
        connectionName: `${options.clientName}-archiver`,
        connectTimeout: 2_000,
        commandTimeout: 10_000,
        // A connection that stays silent is a broken one, which only a new one replaces.
        socketTimeout: 12_000,
        maxRetriesPerRequest: 0,
        retryStrategy: (times) => Math.min(times * 100, 2_000),
      }),
  );
  redis.on('error', (error) => logger?.warn({ reason: error.message }, 'The connection to Redis failed'));
  const token = randomUUID();
  const warned = new Set<string>();
  let expiredAtMs = 0;

  async function hasLock(): Promise<boolean> {
    if ((await redis.get(archiverLockKey)) === token) return (await redis.pexpire(archiverLockKey, lockMs)) === 1;
    return (await redis.set(archiverLockKey, token, 'PX', lockMs, 'NX')) === 'OK';
  }

  async function archivePartition(topic: string, partition: number, signal: AbortSignal): Promise<void> {
    const keys = redisKeys(topic);
    const stream = keys.stream(partition);
    const archived = await redis.get(keys.archived(partition));
    if (archived === null && (await redis.xlen(stream)) < chunk) return;
    const groups = await readGroupPlaces(redis, stream);
    for (const group of groups) {
      if (archived === null || !isBefore(group.delivered, archived)) continue;
      const isCaughtUp = await refillGroup({ redis, store, topic, partition, logger }, group, archived, signal);
      if (isCaughtUp) warned.delete(warningKey(topic, partition, group.name));
    }

    while (!signal.aborted) {
      const length = await redis.xlen(stream);
      const entries = length < chunk ? [] : await redis.xrange(stream, '-', '+', 'COUNT', chunk);
      const last = entries[chunk - 1]?.[0];
      if (last === undefined) return;
      const behind = groups.filter((group) => !isDoneWith(group, last));
      if (length <= maxEntries && (behind.length > 0 || groups.length === 0)) return;
      for (const { name } of behind) warnOnce(topic, partition, name);
      await streamArchive(store, topic, partition).write(entries);
      const names = groups.map(({ name }) => name);
      const trimKeys = [stream, keys.archived(partition), ...names.map((name) => keys.redrive(name, partition))];
      await redis.eval(trimScript, trimKeys.length, ...trimKeys, last, idAfter(last), ...names);
    }
  }

  function warnOnce(topic: string, partition: number, group: string): void {
    const key = warningKey(topic, partition, group);
    if (warned.has(key)) return;
    warned.add(key);
    const text = 'A group is far behind its stream; older messages wait for it in the object store';
    logger?.warn({ topic, partition, group }, text);
  }

  async function expire(): Promise<void> {
    if (now().getTime() - expiredAtMs < expireEveryMs) return;
    expiredAtMs = now().getTime();
    for (const { topic, keepDays } of topics) {
      if (keepDays === undefined) continue;
      const before = new Date(now().getTime() - keepDays * dayMs);
      for (const partition of await partitionsOf(redis, topic))
        await streamArchive(store, topic, partition).removeBefore(before);
    }
  }

  const archiving = pollLoop({
    everyMs,
    run: async (signal) => {
      if (!(await hasLock())) return;
      for (const { topic } of topics)
        for (const partition of await partitionsOf(redis, topic)) {
          if (signal.aborted || !(await hasLock())) break;
          await archivePartition(topic, partition, signal);
        }
      await expire();
    },
    onError: (error) => {
      const reason = error instanceof Error ? error.message : 'unknown';
      logger?.warn({ reason }, 'Streams of the bus could not be archived');
    },
  });
  return {
    async [Symbol.asyncDispose]() {
      await archiving[Symbol.asyncDispose]();
      if ((await redis.get(archiverLockKey).catch(() => null)) === token)
        await redis.del(archiverLockKey).catch(() => 0);
      redis.disconnect();
    },
  };
}

/** Partitions of a topic that was used already, from 0. */
async function partitionsOf(redis: Redis, topic: string): Promise<number[]> {
  const stored = Number((await redis.get(redisKeys(parseBusName(topic)).partitions)) ?? 0);
  return Array.from({ length: stored }, (_, partition) => partition);
}
