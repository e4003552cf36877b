import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startOutboxRelay } from '@longwave/command-pipeline';
import type { BusMessage } from '@longwave/event-bus';
import { createPool } from '@longwave/postgres';
import { startFaultProxy } from '@longwave/test-kit';
import { startTestManagement, type TestManagement } from './_management.ts';
import { createWorld } from './_world.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());

/** A bus whose acceptance the test decides; everything it accepted, in order. */
function recordingBus() {
  const accepted: BusMessage[] = [];
  const waiting: { when: () => boolean; resolve: () => void }[] = [];
  let refuse = false;
  return {
    accepted,
    refuseNext: () => (refuse = true),
    publish: async (messages: readonly BusMessage[]) => {
      accepted.push(...messages);
      waiting.filter(({ when }) => when()).forEach(({ resolve }) => resolve());
      if (!refuse) return;
      refuse = false;
      throw new Error('the broker went away before it answered');
    },
    until: (when: () => boolean) =>
      when() ? Promise.resolve() : new Promise<void>((resolve) => waiting.push({ when, resolve })),
  };
}

const startRelay = (
  bus: ReturnType<typeof recordingBus>,
  errors: unknown[] = [],
  options: Partial<Parameters<typeof startOutboxRelay>[0]> = {},
) =>
  startOutboxRelay({
    pool: management.pool,
    topic: 'product.events',
    publish: bus.publish,
    onError: (error) => errors.push(error),
    pollMs: 20,
    ...options,
  });

const versions = (bus: ReturnType<typeof recordingBus>, id: string) =>
  bus.accepted
    .filter((message) => message.key === id)
    .map((message) => (message.payload as { subject: { version: number } }).subject.version);

test('every committed event is published, per subject in the order of its versions', async () => {
  const world = createWorld(management);
  const bus = recordingBus();
  await using _relay = startRelay(bus);
  let podcast = await world.podcast();
  for (let i = 0; i < 20; i++) podcast = await world.send('podcast.revise', podcast, { title: `Title ${i}` });
  await bus.until(() => versions(bus, podcast.id).length === 21);
  expect(versions(bus, podcast.id)).toEqual(Array.from({ length: 21 }, (_, i) => i + 1));
});

test('a broker that fails after accepting gets the same events again: none is lost', async () => {
  const world = createWorld(management);
  const bus = recordingBus();
  const errors: unknown[] = [];
  bus.refuseNext();
  const podcast = await world.podcast();
  await using _relay = startRelay(bus, errors);
  await bus.until(() => versions(bus, podcast.id).length === 2);
  expect(versions(bus, podcast.id)).toEqual([1, 1]);
  expect(errors).toHaveLength(1);
});

test('a row that commits after later ones is not lost', async () => {
  const world = createWorld(management);
  const bus = recordingBus();
  const client = await management.pool.connect();
  await client.query('begin');
  await client.query(
    `insert into outbox (key, event_id, type, payload) values ('late', 'evt_late', 'podcast.created', '{"subject":{"version":1}}')`,
  );
  const podcast = await world.podcast();
  await using _relay = startRelay(bus);
  await bus.until(() => versions(bus, podcast.id).length === 1);
  expect(versions(bus, 'late')).toEqual([]);
  await client.query('commit');
  client.release();
  await bus.until(() => versions(bus, 'late').length === 1);
});

test('of two relays over one schema only one works; the other takes over when it ends', async () => {
  const world = createWorld(management);
  const bus = recordingBus();
  const first = startRelay(bus);
  const one = await world.podcast();
  await bus.until(() => versions(bus, one.id).length === 1);
  await using _second = startRelay(bus);
  const two = await world.podcast();
  await bus.until(() => versions(bus, two.id).length === 1);
  await first[Symbol.asyncDispose]();
  const three = await world.podcast();
  await bus.until(() => versions(bus, three.id).length === 1);
  expect([one, two, three].map(({ id }) => versions(bus, id))).toEqual([[1], [1], [1]]);
});

test('a relay whose network went silent without a word gives its place to the next one', async () => {
  const world = createWorld(management);
  const bus = recordingBus();
  const database = new URL(management.pool.options.connectionString!);
  await using proxy = await startFaultProxy();
  proxy.aimAt({ host: database.hostname, port: Number(database.port) });
  const { href } = Object.assign(database, { hostname: '127.0.0.1', port: String(proxy.port) });
  const pool = createPool(href, 'product', { name: 'cut off', statementTimeoutMs: 1_000 });
  const silent = startRelay(bus, [], { pool, silenceMs: 1_000 });
  const one = await world.podcast();
  await bus.until(() => versions(bus, one.id).length === 1);
  await proxy.cut('black-hole');
  await using _next = startRelay(bus);
  const two = await world.podcast();
  await bus.until(() => versions(bus, two.id).length === 1);
  await proxy.heal();
  await silent[Symbol.asyncDispose]();
  await pool.end();
});
