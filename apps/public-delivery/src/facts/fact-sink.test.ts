import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createEventBus, type EventBus } from '@longwave/event-bus';
import { factMessageSchema, topics, type DeliveryFact, type FactsPublished } from '@longwave/events';
import { startTestRedis } from '@longwave/fleet';
import { createLogger } from '@longwave/service-kit';
import { toFactLine } from './fact-line.ts';
import { openFactSink } from './fact-sink.ts';

const logger = createLogger('test', 'silent');
let redis: Awaited<ReturnType<typeof startTestRedis>>;
let bus: EventBus;
let folder: string;
/** Received messages, in order within each part. */
const received: (DeliveryFact | FactsPublished)[] = [];
const marks = () => received.filter((one): one is FactsPublished => one.kind === 'facts_published');

beforeAll(async () => {
  redis = await startTestRedis();
  bus = await createEventBus({ kind: 'redis', redisUrl: redis.url, clientName: 'test' });
  folder = await mkdtemp(path.join(tmpdir(), 'facts-'));
  const handle = async (messages: readonly { payload: unknown }[]) =>
    void received.push(...messages.map(({ payload }) => factMessageSchema.parse(payload)));
  await bus.subscribe({ topic: topics.deliveryFacts, group: 'test', handle });
});
afterAll(async () => {
  await bus?.[Symbol.asyncDispose]();
  await redis?.stop();
  await rm(folder, { recursive: true, force: true });
});

let clock = new Date('2026-01-01T10:00:00.000Z');
const open = (over: EventBus = bus) => openFactSink({ bus: over, folder, logger, now: () => clock, markEveryMs: 20 });

const seen = (digest: string): DeliveryFact => ({
  ...{
    kind: 'user_agent_seen',
    fact_id: digest,
    at: clock.toISOString(),
    user_agent_digest: digest,
    user_agent: digest,
  },
});

/** Marks of this time came in all parts. */
async function markedAt(until: string): Promise<readonly FactsPublished[]> {
  const end = Date.now() + 20_000;
  for (;;) {
    const found = marks().filter((mark) => mark.until === until);
    if (found.length > 0 && new Set(found.map(({ part }) => part)).size === found[0]!.parts) return found;
    if (Date.now() > end) throw new Error(`no marks of ${until} in all parts`);
    await pause(20);
  }
}

test('while nothing happens every part gets marks again and again', async () => {
  await using _facts = await open();
  const [first] = await markedAt('2026-01-01T10:00:00.000Z');
  clock = new Date('2026-01-01T10:05:00.000Z');
  const later = await markedAt('2026-01-01T10:05:00.000Z');
  expect(new Set(later.map(({ producer }) => producer))).toEqual(new Set([first!.producer]));
  expect(later.every(({ ended }) => !ended)).toBe(true);
});

test('while the bus is away no mark is sent, and when it is back the facts come before the marks', async () => {
  let isAway = true;
  const refuse = async () => {
    throw new Error('away');
  };
  const flaky: EventBus = {
    ...bus,
    publish: (messages) => (isAway ? refuse() : bus.publish(messages)),
    publishToAll: (...message) => (isAway ? refuse() : bus.publishToAll(...message)),
  };
  clock = new Date('2026-01-01T11:00:00.000Z');
  await using facts = await open(flaky);
  for (let n = 0; n < 50; n++) facts.add(toFactLine(seen(`agent-${n}`)), 0);
  clock = new Date('2026-01-01T11:01:00.000Z');
  await pause(500);
  expect(marks().some(({ until }) => until >= '2026-01-01T11:00')).toBe(false);
  isAway = false;
  await markedAt('2026-01-01T11:01:00.000Z');
  const agents = () => received.filter((one) => one.kind === 'user_agent_seen').length;
  expect(agents()).toBe(50);
});

test('a process that stops in order marks its end, and the next one has the same name', async () => {
  clock = new Date('2026-01-01T12:00:00.000Z');
  const facts = await open();
  await markedAt('2026-01-01T12:00:00.000Z');
  clock = new Date('2026-01-01T12:01:00.000Z');
  await facts[Symbol.asyncDispose]();
  const last = (await markedAt('2026-01-01T12:01:00.000Z')).filter(({ ended }) => ended);
  expect(last.length).toBe(last[0]!.parts);
  clock = new Date('2026-01-01T12:02:00.000Z');
  await using _again = await open();
  const again = await markedAt('2026-01-01T12:02:00.000Z');
  expect(again[0]).toMatchObject({ producer: last[0]!.producer, ended: false });
});
