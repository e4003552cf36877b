import { createHash } from 'node:crypto';
import { namesOf, type Manifest, type RedisRights } from '@longwave/services';
import { Redis } from 'ioredis';
import type { ServiceSecrets } from './secrets.ts';

/** No administration, and no names of others' keys (tracking names keys that change). Clients read INFO to learn that Redis is ready. */
const commands =
  '+@all -@admin -@dangerous -@scripting +eval +evalsha +script|load +info -scan -randomkey -dbsize -client|tracking';
/** Everything that a follower does with the stream of a topic and its group's keys. Adding to the stream is not among it. */
const followerCommands =
  '+eval +evalsha +exists +get +setnx +xack +xclaim +xgroup|create +xinfo +xlen +xpending +xrange +xread +xreadgroup';

/** `user` line of redis.conf (Redis ACL, with selectors of Redis 7); keys of the bus are in `libs/event-bus/src/redis/redis-keys.ts`. */
export function redisUserLine(service: string, rights: RedisRights, password: string): string {
  const { keys = [], channels = [], publishes = [], follows = [] } = rights;
  const stream = (topic: string) => [`bus:${topic}:partitions`, `bus:${topic}:[0-9]*`];
  const group = (topic: string, name: string) => [`bus:${topic}:*:${name}`, `bus:${topic}:*:${name}:*`];
  const patterns = (list: readonly string[]) => list.map((pattern) => `~${pattern}`).join(' ');
  const own = [...keys, ...publishes.flatMap(stream), ...follows.flatMap(([topic, name]) => group(topic, name))];
  const selectors = follows.map(([topic, name]) => {
    const followed = [...stream(topic), `bus:${topic}:archived:*`, ...group(topic, name)];
    return `(-@all ${followerCommands} ${patterns(followed)})`;
  });
  const digest = createHash('sha256').update(password).digest('hex');
  return [
    `user ${service} on #${digest} resetchannels ${commands} ${patterns(own)}`.trimEnd(),
    ...channels.map((channel) => `&${channel}`),
    ...selectors,
  ].join(' ');
}

/** The `user` lines of all services that have rights there. */
export const redisUserLines = <S extends string>(
  manifest: Manifest<S>,
  secrets: Readonly<Record<S, ServiceSecrets>>,
): readonly string[] =>
  namesOf(manifest).flatMap((service) => {
    const { redis } = manifest[service];
    return redis ? [redisUserLine(service, redis, secrets[service].redisPassword)] : [];
  });

/**
 * Makes users of a Redis that runs elsewhere, or gives them the rights of their lines.
 * @param url of a user who may
 * @param lines of `redisUserLine`
 */
export async function addRedisUsers(url: string, lines: readonly string[]): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  try {
    await redis.connect();
    for (const line of lines) {
      const [, name = '', ...rules] = line.split(' ');
      await redis.acl('SETUSER', name, 'reset', ...rules);
    }
  } finally {
    redis.disconnect();
  }
}
