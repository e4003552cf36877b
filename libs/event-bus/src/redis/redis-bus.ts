import { openRedis } from '@longwave/service-kit';
import { Redis } from 'ioredis';
import type { BusLogger } from '../bus-logger.ts';
import { parseBusName } from '../bus-name.ts';
import { defaultBatchSize, defaultRetry } from '../deliver-in-order.ts';
import type { EventBus, Subscription } from '../port.ts';
import { appendScript, entryValues, parseDeadLetter, type RawEntry } from './redis-entry.ts';
import { countWaiting } from './redis-groups.ts';
import { partitionOfKey, redisKeys } from './redis-keys.ts';
import { redriveScript } from './redis-scripts.ts';
import { subscribeRedis } from './redis-subscription.ts';

const pageSize = 500;

export interface RedisBusConfig {
  /** A function is asked for the password at each connection. */
  readonly redisUrl: string | (() => string);
  /** Shown in Redis's client list and in the names of group members. */
  readonly clientName: string;
  /** Streams of a new topic; an existing topic keeps its number. Default 8. */
  readonly partitions?: number;
  /** A dead consumer's partitions are taken over after this time. Default 3000. */
  readonly leaseMs?: number;
  readonly logger?: BusLogger;
  readonly now?: () => Date;
}

/**
 * The bus on Redis Streams: P streams per topic, each with one leased owner per group, which keeps the order per key.
 * Durability is the server's configuration (`appendonly yes`). Rejects with the engine's error while Redis does not answer.
 */
export function createRedisBus(config: RedisBusConfig): EventBus {
  const { clientName, partitions = 8, leaseMs = 3_000, logger, now = () => new Date() } = config;
  const redis = openRedis(
    config.redisUrl,
    (url) =>
      new Redis(url, {
        lazyConnect: true,
        connectionName: clientName,
        connectTimeout: 2_000,
        commandTimeout: 5_000,
        // A connection that stays silent is a broken one, which only a new one replaces.
        socketTimeout: 6_000,
        // Ends commands in flight when the connection ends: a fetch sent twice would skip what the first one took.
        maxRetriesPerRequest: 0,
        autoResendUnfulfilledCommands: false,
        retryStrategy: (times) => Math.min(times * 50, 1_000),
      }),
  );
  redis.on('error', (error) => logger?.warn({ reason: error.message }, 'The connection to Redis failed'));
  const subscriptions = new Set<Subscription>();
  const partitionsByTopic = new Map<string, number>();

  async function partitionsOf(topic: string): Promise<number> {
    const known = partitionsByTopic.get(topic);
    if (known !== undefined) return known;
    const key = redisKeys(parseBusName(topic)).partitions;
    await redis.setnx(key, partitions);
    const stored = Number(await redis.get(key));
    if (!Number.isInteger(stored) || stored < 1)
      throw new Error(`The number of partitions of topic ${topic} is unreadable.`);
    partitionsByTopic.set(topic, stored);
    return stored;
  }

  async function readDeadLetters(
    topic: string,
    group: string,
    visit: (page: RawEntry[]) => Promise<void>,
  ): Promise<void> {
    const dead = redisKeys(parseBusName(topic)).dead(parseBusName(group));
    const last = (await redis.xrevrange(dead, '+', '-', 'COUNT', 1))[0]?.[0];
    for (let start = '-'; last !== undefined;) {
      const page = await redis.xrange(dead, start, last, 'COUNT', pageSize);
      const end = page.at(-1)?.[0];
      if (end === undefined) return;
      await visit(page);
      start = `(${end}`;
    }
  }

  /** Appends all of them or none. */
  async function append(placed: readonly (readonly [stream: string, values: readonly string[]])[]): Promise<void> {
    const streams = [...new Set(placed.map(([stream]) => stream))];
    const places = new Map(streams.map((stream, index) => [stream, String(index + 1)]));
    const values = placed.flatMap(([stream, of]) => [places.get(stream)!, ...of]);
    await redis.eval(appendScript, streams.length, ...streams, ...values);
  }

  return {
    async publish(messages) {
      if (messages.length === 0) return;
      for (const topic of new Set(messages.map((message) => message.topic))) await partitionsOf(topic);
      const at = now();
      await append(
        messages.map((message) => {
          const partition = partitionOfKey(message.key, partitionsByTopic.get(message.topic)!);
          return [redisKeys(message.topic).stream(partition), entryValues(message, at)] as const;
        }),
      );
    },

    async publishToAll(topic, messageOf) {
      const found = await partitionsOf(topic);
      await append(
        Array.from({ length: found }, (_, partition) => [
          redisKeys(topic).stream(partition),
          entryValues({ topic, ...messageOf(partition, found) }, now()),
        ]),
      );
    },

    async subscribe({ topic, group, handle, batchSize = defaultBatchSize, retry }) {
      parseBusName(group);
      const rules = { handle, batchSize, retry: { ...defaultRetry, ...retry } };
      const found = await partitionsOf(topic);
      const subscription = await subscribeRedis({
        redis,
        topic,
        group,
        partitions: found,
        rules,
        clientName,
        leaseMs,
        now,
        logger,
      });
      subscriptions.add(subscription);
      return subscription;
    },

    async countWaiting(topic, group) {
      parseBusName(group);
      const partitions = Array.from({ length: await partitionsOf(topic) }, (_, partition) => partition);
      const waiting = await Promise.all(partitions.map((partition) => countWaiting(redis, topic, group, partition)));
      return waiting.reduce((sum, each) => sum + each, 0);
    },

    async listDeadLetters(topic, group) {
      const letters: ReturnType<typeof parseDeadLetter>[] = [];
      await readDeadLetters(topic, group, async (page) => {
        letters.push(...page.map((entry) => parseDeadLetter(topic, group, entry)));
      });
      return letters;
    },

    async redriveDeadLetters(topic, group) {
      const keys = redisKeys(parseBusName(topic));
      const found = await partitionsOf(topic);
      const streams = Array.from({ length: found }, (_, p) => keys.redrive(parseBusName(group), p));
      let moved = 0;
      await readDeadLetters(topic, group, async (page) => {
        const targets = page.flatMap((entry) => [
          entry[0],
          partitionOfKey(parseDeadLetter(topic, group, entry).message.key, found),
        ]);
        moved += Number(await redis.eval(redriveScript, 1 + found, keys.dead(group), ...streams, ...targets));
      });
      return moved;
    },

    async ping() {
      return redis.ping().then(
        (answer) => answer === 'PONG',
        () => false,
      );
    },

    async [Symbol.asyncDispose]() {
      await Promise.all([...subscriptions].map((subscription) => subscription.close()));
      await redis.quit().catch(() => undefined);
      redis.disconnect();
    },
  };
}
