import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestObjectStore, startTestRedis, type TestRedis } from '@longwave/fleet';
import { createObjectStore, type ObjectStore } from '@longwave/object-store';
import { until } from '@longwave/test-kit';
import { Redis } from 'ioredis';
import { archiveStreams, type BusMessage, createRedisBus, type DeliveredMessage, type EventBus } from '../src/index.ts';

let server: TestRedis;
let store: ObjectStore;
let redis: Redis;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  server = stack.use(await startTestRedis());
  store = createObjectStore(stack.use(await startTestObjectStore()));
  await store.ensureBucket();
  redis = stack.adopt(new Redis(server.url), (client) => client.disconnect());
});
afterAll(() => stack.disposeAsync());

const createBus = () => createRedisBus({ redisUrl: server.url, clientName: 'test', partitions: 2, leaseMs: 500 });
const archive = (
  topic: string,
  options: { chunk: number; maxEntries: number; keepDays?: number; now?: () => Date },
  ...further: string[]
) =>
  archiveStreams({
    redisUrl: server.url,
    clientName: 'test',
    store,
    topics: [
      { topic, ...(options.keepDays !== undefined && { keepDays: options.keepDays }) },
      ...further.map((name) => ({ topic: name })),
    ],
    everyMs: 10,
    ...options,
  });
const lengthOf = async (topic: string) =>
  (await Promise.all([0, 1].map((p) => redis.xlen(`bus:${topic}:${p}`)))).reduce((sum, length) => sum + length, 0);

test('a group that was away, one that died with messages in hand and a new one see every message in order after their streams were trimmed', async () => {
  const topic = 'trimmed';
  await using bus = createBus();
  const sent = numbered(topic, 2_000);
  const live = await follow(bus, topic, 'live');
  await bus.publish(sent.slice(0, 200));
  {
    await using leaving = createBus();
    const away = await follow(leaving, topic, 'away');
    await until(() => away.length === 200);
    await using dying = createBus();
    const inHand = Promise.withResolvers<void>();
    const retry = { initialDelayMs: 60_000, maxDelayMs: 60_000 };
    const handle = async () => {
      inHand.resolve();
      throw new Error('dies');
    };
    await dying.subscribe({ topic, group: 'died', retry, handle });
    await inHand.promise;
  }
  for (let at = 200; at < sent.length; at += 100) await bus.publish(sent.slice(at, at + 100));
  await using _archiver = archive(topic, { chunk: 50, maxEntries: 100 });
  await until(async () => (await lengthOf(topic)) <= 200);
  await until(() => live.length === sent.length);
  const later = await Promise.all(['away', 'died', 'new'].map((group) => follow(bus, topic, group)));
  const more = numbered(topic, 100, 'more');
  await bus.publish(more);
  const [away, died, fresh] = later;
  await until(() => distinct(died!) === 2_100 && distinct(fresh!) === 2_100 && distinct(away!) === 1_900);
  expect(firstsByKey(live)).toEqual(firstsByKey([...sent, ...more]));
  expect(firstsByKey(away!)).toEqual(firstsByKey([...sent.slice(200), ...more]));
  expect(firstsByKey(died!)).toEqual(firstsByKey([...sent, ...more]));
  expect(firstsByKey(fresh!)).toEqual(firstsByKey([...sent, ...more]));
  // Nobody of these died, so they see nothing twice.
  expect([live.length, away!.length, fresh!.length]).toEqual([2_100, 1_900, 2_100]);
});

test('messages that every group is done with leave Redis in whole chunks, and those that one group has not read stay', async () => {
  const topic = 'behind';
  await using bus = createBus();
  const live = await follow(bus, topic, 'live');
  const idle = await bus.subscribe({ topic, group: 'slow', handle: async () => undefined });
  await idle.close();
  await bus.publish(numbered(topic, 500));
  await until(() => live.length === 500);
  await bus.publish(numbered('mark', 100));
  const marked = await follow(bus, 'mark', 'live');
  await until(() => marked.length === 100);
  await using _archiver = archive(topic, { chunk: 20, maxEntries: 10_000 }, 'mark');
  // The archive takes its topics in turn, so it has looked at the first one when the second one is short.
  await until(async () => (await lengthOf('mark')) < 40);
  expect(await lengthOf(topic)).toBe(500);
  const slow = await follow(bus, topic, 'slow');
  await until(async () => slow.length === 500 && (await lengthOf(topic)) < 40);
});

test('a Redis that is full refuses new messages, and takes them again when its followers and the archive have freed memory', async () => {
  const topic = 'full';
  await using bus = createBus();
  const seen = await follow(bus, topic, 'live');
  const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  await redis.config('SET', 'maxmemory-policy', 'noeviction');
  await redis.config('SET', 'maxmemory', used + 4_000_000);
  try {
    const big = numbered(topic, 200, 'big').map((message) => ({ ...message, payload: 'x'.repeat(5_000) }));
    let accepted = 0;
    const publish = () =>
      bus.publish(big.map((one) => ({ ...one, id: `${one.id}-${accepted}` }))).then(
        () => (accepted += 1),
        (error: Error) => error.message,
      );
    let refusal: number | string = 0;
    for (let round = 0; round < 100 && typeof refusal === 'number'; round++) refusal = await publish();
    expect(refusal).toMatch(/OOM|EXECABORT/);
    await until(() => seen.length === accepted * big.length);
    await using _archiver = archive(topic, { chunk: 20, maxEntries: 100_000 });
    const before = accepted;
    await until(async () => typeof (await publish()) === 'number');
    expect(accepted).toBe(before + 1);
    await until(() => seen.length === accepted * big.length);
  } finally {
    await redis.config('SET', 'maxmemory', 0);
  }
});

test('the archive keeps messages for its days, and a group that comes after them begins at the oldest one kept', async () => {
  const topic = 'expiring';
  await using bus = createBus();
  const live = await follow(bus, topic, 'live');
  await bus.publish(numbered(topic, 100));
  await until(() => live.length === 100);
  {
    await using _archiver = archive(topic, { chunk: 10, maxEntries: 100 });
    await until(async () => (await lengthOf(topic)) < 20);
  }
  const left = await lengthOf(topic);
  const tomorrow = () => new Date(Date.now() + 2 * 86_400_000);
  await using _archiver = archive(topic, { chunk: 10, maxEntries: 100, keepDays: 1, now: tomorrow });
  await until(async () => (await store.list(`bus/${topic}/`)[Symbol.asyncIterator]().next()).done === true);
  const fresh = await follow(bus, topic, 'new');
  await until(() => fresh.length === left);
});

async function follow(bus: EventBus, topic: string, group: string): Promise<DeliveredMessage[]> {
  const seen: DeliveredMessage[] = [];
  await bus.subscribe({ topic, group, handle: async (messages) => void seen.push(...messages) });
  return seen;
}

function numbered(topic: string, count: number, label = 'm'): BusMessage[] {
  return Array.from({ length: count }, (_, i) => ({
    topic,
    key: `key-${i % 7}`,
    id: `${topic}-${label}-${i}`,
    type: 'thing.happened',
    payload: { i },
  }));
}

const distinct = (messages: readonly BusMessage[]) => new Set(messages.map(({ id }) => id)).size;

function firstsByKey(messages: readonly BusMessage[]): Record<string, string[]> {
  const byKey = Object.groupBy(messages, ({ key }) => key);
  return Object.fromEntries(
    Object.entries(byKey).map(([key, of]) => [key, [...new Set((of ?? []).map(({ id }) => id))]]),
  );
}
