import { randomUUID } from 'node:crypto';
import { sleep } from '@longwave/worker-kit';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { BusLogger } from '../bus-logger.ts';
import type { DeliveryRules } from '../deliver-in-order.ts';
import type { Subscription } from '../port.ts';
import { redisKeys } from './redis-keys.ts';
import { runPartition } from './redis-partition.ts';
import { releaseScript, renewScript } from './redis-scripts.ts';

const renewReply = z.tuple([z.number()]).rest(z.union([z.number(), z.string()]));

export interface RedisSubscriptionOptions {
  readonly redis: Redis;
  readonly topic: string;
  readonly group: string;
  readonly partitions: number;
  readonly rules: DeliveryRules;
  readonly clientName: string;
  /** Life of a lease: a dead member's partitions are taken over after this time. */
  readonly leaseMs: number;
  readonly now: () => Date;
  readonly logger: BusLogger | undefined;
}

interface Ownership {
  readonly token: string;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

/** Joins the group and works on its fair share of the partitions until closed. Rejects when Redis does not answer at first. */
export async function subscribeRedis(options: RedisSubscriptionOptions): Promise<Subscription> {
  const { redis, topic, group, partitions, leaseMs, logger } = options;
  const keys = redisKeys(topic);
  const member = `${options.clientName.replaceAll('/', '-')}:${randomUUID()}`;
  const leases = Array.from({ length: partitions }, (_, p) => keys.lease(group, p));
  const owned = new Map<number, Ownership>();
  const closing = new AbortController();

  function own(partition: number, token: string): void {
    const stop = new AbortController();
    const { rules, now } = options;
    const done = runPartition({
      redis,
      topic,
      group,
      partition,
      token,
      rules,
      now,
      logger,
      signal: stop.signal,
    }).finally(async () => {
      owned.delete(partition);
      await redis.eval(releaseScript, 1, keys.lease(group, partition), token).catch(() => undefined);
    });
    owned.set(partition, { token, stop, done });
  }

  /** Answers how long to wait for the next renewal. */
  async function renew(): Promise<number> {
    const keysOfAll = [keys.members(group), keys.fence(group), ...leases];
    const leaving = closing.signal.aborted;
    const reply = await redis.eval(
      renewScript,
      keysOfAll.length,
      ...keysOfAll,
      member,
      leaseMs,
      leaving ? 'leave' : 'stay',
    );
    const [share, ...pairs] = renewReply.parse(reply);
    const tokens = new Map<number, string>();
    for (let i = 0; i < pairs.length; i += 2) tokens.set(Number(pairs[i]), String(pairs[i + 1]));
    for (const [partition, { token, stop }] of owned) if (tokens.get(partition) !== token) stop.abort();
    for (const { stop } of [...owned.values()].slice(share)) stop.abort();
    if (!leaving) for (const [partition, token] of tokens) if (!owned.has(partition)) own(partition, token);
    return tokens.size < share ? Math.min(200, leaseMs / 3) : leaseMs / 3;
  }

  /** Goes on while a message is in hand, so that nobody takes its partition over. */
  async function keepRenewing(firstDelayMs: number, until: AbortSignal): Promise<void> {
    let delayMs = firstDelayMs;
    while (!until.aborted) {
      await sleep(delayMs, until);
      if (until.aborted) return;
      try {
        delayMs = await renew();
      } catch (error) {
        delayMs = leaseMs / 10;
        logger?.warn(
          { topic, group, reason: error instanceof Error ? error.message : 'unknown' },
          'Leases of the bus could not be renewed',
        );
      }
    }
  }

  const finished = new AbortController();
  const renewing = keepRenewing(await renew(), finished.signal);

  async function close(): Promise<void> {
    closing.abort();
    for (const { stop } of owned.values()) stop.abort();
    while (owned.size > 0) await Promise.all([...owned.values()].map(({ done }) => done));
    finished.abort();
    await renewing;
    await redis.zrem(keys.members(group), member).catch(() => undefined);
  }
  let closed: Promise<void> | undefined;
  const closeOnce = () => (closed ??= close());
  return { close: closeOnce, [Symbol.asyncDispose]: closeOnce };
}
