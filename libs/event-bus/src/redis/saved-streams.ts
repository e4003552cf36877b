import { Redis } from 'ioredis';
import { z } from 'zod';
import { rawEntry } from './redis-entry.ts';
import { readGroupPlaces } from './redis-groups.ts';
import { redisKeys } from './redis-keys.ts';
import { idAfter, idBefore, isBefore, sortableId } from './stream-id.ts';

/** What one Redis key of the bus held, as a line of a backup. */
export const savedLine = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('value'), key: z.string(), value: z.string() }),
  /** Entries of one stream come in the order of their ids. */
  z.strictObject({ kind: z.literal('entry'), key: z.string(), id: z.string(), fields: z.array(z.string()) }),
  /** Comes after the entries of its stream. */
  z.strictObject({ kind: z.literal('group'), key: z.string(), group: z.string(), place: z.string() }),
]);
export type SavedLine = z.infer<typeof savedLine>;

interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly group: string;
  /** Everything up to this id is done. */
  readonly place: string;
}

/** How far every group was at a moment. */
export interface NotedPlaces {
  readonly places: readonly Place[];
  /** The moment, by the clock of Redis, in milliseconds. */
  readonly atMs: number;
}

const pageSize = 1_000;

function connect(url: string): Redis {
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: 5_000, retryStrategy: () => null });
  redis.on('error', () => undefined);
  return redis;
}

async function partitionsOf(redis: Redis, topic: string): Promise<readonly number[]> {
  const stored = Number((await redis.get(redisKeys(topic).partitions)) ?? 0);
  return Array.from({ length: stored }, (_, partition) => partition);
}

/** Notes how far every group is. What a group has done later is not noted, so it sees those messages again after `loadStreams`. */
export async function notePlaces(redisUrl: string, topics: readonly string[]): Promise<NotedPlaces> {
  const redis = connect(redisUrl);
  try {
    const places: Place[] = [];
    for (const topic of topics)
      for (const partition of await partitionsOf(redis, topic))
        for (const { name, delivered, oldestPending } of await readGroupPlaces(
          redis,
          redisKeys(topic).stream(partition),
        ))
          places.push({
            topic,
            partition,
            group: name,
            place: oldestPending === undefined ? delivered : idBefore(oldestPending),
          });
    const [seconds, micros] = await redis.time();
    return { places, atMs: Number(seconds) * 1_000 + Number(micros) / 1_000 };
  } finally {
    redis.disconnect();
  }
}

/** The entries of a stream up to a time, in the order of their ids. */
async function* entriesOf(redis: Redis, key: string, untilMs: number): AsyncGenerator<SavedLine> {
  for (let from = '-'; ;) {
    const page = z.array(rawEntry).parse(await redis.xrange(key, from, '+', 'COUNT', pageSize));
    for (const [id, fields] of page) if (Number.parseInt(id, 10) <= untilMs) yield { kind: 'entry', key, id, fields };
    const last = page.at(-1)?.[0];
    if (last === undefined || page.length < pageSize) return;
    from = idAfter(last);
  }
}

/**
 * Everything that Redis holds of topics: their messages, the places of their groups, and each group's messages on their way back and dead
 * letters. Messages that leave Redis meanwhile are in the archive in the object store, so copy that afterwards.
 * @param noted from before
 * @param untilMsOf messages of a topic that came later, by the clock of Redis, are left out
 */
export async function* saveStreams(
  redisUrl: string,
  topics: readonly string[],
  noted: NotedPlaces,
  untilMsOf: (topic: string) => number,
): AsyncGenerator<SavedLine> {
  const redis = connect(redisUrl);
  try {
    for (const topic of topics) {
      const keys = redisKeys(topic);
      const partitions = await partitionsOf(redis, topic);
      if (partitions.length === 0) continue;
      yield { kind: 'value', key: keys.partitions, value: String(partitions.length) };
      for (const partition of partitions) {
        const saved: SavedLine[] = [];
        for await (const line of entriesOf(redis, keys.stream(partition), untilMsOf(topic))) saved.push(line);
        // Read after the stream: what was archived meanwhile is behind this id and comes from the archive.
        const archived = await redis.get(keys.archived(partition));
        if (archived !== null) yield { kind: 'value', key: keys.archived(partition), value: archived };
        for (const line of saved)
          if (line.kind === 'entry' && (archived === null || isBefore(archived, line.id))) yield line;
        const groups = noted.places.filter((each) => each.topic === topic && each.partition === partition);
        for (const { group, place } of groups) {
          yield { kind: 'group', key: keys.stream(partition), group, place };
          yield* entriesOf(redis, keys.redrive(group, partition), Infinity);
        }
      }
      const names = new Set(noted.places.flatMap((each) => (each.topic === topic ? [each.group] : [])));
      for (const group of names) yield* entriesOf(redis, keys.dead(group), Infinity);
    }
  } finally {
    redis.disconnect();
  }
}

const archiveName = /^bus\/(.+)\/(\d+)\/(\d{16}-\d{20})_[^/]+$/;

/**
 * Whether an object belongs to a backup with these lines: false for one of the archive that was stored later than them, whose messages they
 * have themselves, or which came after them.
 */
export function belongsToSaved(lines: readonly SavedLine[]): (objectKey: string) => boolean {
  const archived = new Map(lines.flatMap((line) => (line.kind === 'value' ? [[line.key, line.value] as const] : [])));
  return (objectKey) => {
    const [, topic, partition, last] = archiveName.exec(objectKey) ?? [];
    if (topic === undefined || last === undefined) return true;
    const until = archived.get(redisKeys(topic).archived(Number(partition)));
    return until !== undefined && last <= sortableId(until);
  };
}

/** Brings saved streams back into a Redis that has none of them; answers how many messages. */
export async function loadStreams(redisUrl: string, lines: AsyncIterable<SavedLine>): Promise<number> {
  const redis = connect(redisUrl);
  const newest = new Map<string, string>();
  let messages = 0;
  try {
    for await (const line of lines) {
      if (line.kind === 'value') await redis.set(line.key, line.value);
      else if (line.kind === 'group') {
        await redis.xgroup('CREATE', line.key, line.group, line.place, 'MKSTREAM');
        if (!isBefore(newest.get(line.key) ?? '0-0', line.place)) continue;
        // Ids begin with the time: where the clock is behind, a message behind the place of the group would be missed.
        await redis.call('XSETID', line.key, line.place);
        newest.set(line.key, line.place);
      } else {
        await redis.xadd(line.key, line.id, ...line.fields);
        newest.set(line.key, line.id);
        messages += 1;
      }
    }
    return messages;
  } finally {
    redis.disconnect();
  }
}
