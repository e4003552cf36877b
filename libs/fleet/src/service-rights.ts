import { createHash } from 'node:crypto';
import type { Permissions } from '@longwave/s3-server';
import type { FleetService } from './service-names.ts';

/** What a service does on the Redis of the installation, besides what every client may. */
interface RedisRights {
  /** Key patterns of its own (Redis globs). */
  readonly keys?: readonly string[];
  /** Channels of PUBLISH and SUBSCRIBE. */
  readonly channels?: readonly string[];
  readonly publishes?: readonly string[];
  /** Topics and the group by which they are followed. */
  readonly follows?: readonly (readonly [topic: string, group: string])[];
}

/** A row of docs/engines.md for each service; keys of the bus are in `libs/event-bus/src/redis/redis-keys.ts`. */
const redisRights: Readonly<Record<FleetService, RedisRights>> = {
  'auth-server': { publishes: ['identity.events'], follows: [['product.events', 'auth-server']] },
  // It archives and trims the streams of every topic.
  management: { keys: ['bus:*'], channels: ['longwave:jobs'] },
  encoder: { keys: ['progress:*'], channels: ['progress:*', 'longwave:jobs'] },
  'internal-serving': {
    keys: ['goal:*', 'listener:*', 'share:*'],
    publishes: ['serving.decisions'],
    follows: [
      ['product.events', 'internal-serving'],
      ['product.events', 'internal-serving.states'],
    ],
  },
  'analytics-sink': {
    follows: [
      ['serving.decisions', 'analytics-sink'],
      ['delivery.facts', 'analytics-sink'],
      ['identity.events', 'analytics-sink'],
    ],
  },
  'public-delivery': { publishes: ['delivery.facts'], follows: [['product.events', 'public-delivery']] },
  'rest-gateway': { keys: ['progress:*', 'rate:*', 'upload_url:*'], channels: ['progress:*'] },
};

/** No administration, no names of others' keys, which tracking tells as they change; INFO is how a client learns that Redis is ready. */
const commands =
  '+@all -@admin -@dangerous -@scripting +eval +evalsha +script|load +info -scan -randomkey -dbsize -client|tracking';
/** All that a follower does with the stream of a topic and its group's keys in one command; adding to the stream is not among it. */
const followerCommands =
  '+eval +evalsha +exists +get +setnx +xack +xclaim +xgroup|create +xinfo +xlen +xpending +xrange +xread +xreadgroup';

/** `user` line of redis.conf (Redis ACL, with selectors of Redis 7). */
export function redisUserLine(service: FleetService, password: string): string {
  const { keys = [], channels = [], publishes = [], follows = [] } = redisRights[service];
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

/** Reads whatever is not the business of other services alone. */
const reader = {
  '': ['read'],
  'bindings/': [],
  'bus/': [],
  'decisions/': [],
  'exports/': [],
  'imports/': [],
  'plans/': [],
} as const;

/** What a service may do with objects, by the beginning of their names; services without an entry have no key. */
export const objectRights: Readonly<Partial<Record<FleetService, Permissions>>> = {
  // Every object is management's but what the encoder makes and what decided and delivered plays leave behind.
  management: {
    '': ['read', 'write', 'list'],
    'media/': ['read', 'list'],
    'artwork/': ['read', 'list'],
    'bindings/': [],
    'decisions/': [],
  },
  encoder: { ...reader, 'media/': ['read', 'write'], 'artwork/': ['read', 'write'] },
  'internal-serving': { 'plans/': ['read'], 'decisions/': ['read', 'write'] },
  'public-delivery': { ...reader, 'bindings/': ['write'] },
};
