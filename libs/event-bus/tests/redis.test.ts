import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '@longwave/fleet';
import { startFaultProxy, until } from '@longwave/test-kit';
import { Redis } from 'ioredis';
import { createRedisBus, subscribeWhenReachable, type DeliveredMessage } from '../src/index.ts';
import { describeEventBus, type Engine } from './event-bus.contract.ts';

let folder = '';
let port = 0;
let server: ChildProcess | undefined;
const config = () => ({ redisUrl: `redis://127.0.0.1:${port}`, clientName: 'contract-test', leaseMs: 1_500 });

async function startServer(): Promise<void> {
  const args = ['--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
  server = spawn('redis-server', ['--port', String(port), ...args], { stdio: 'ignore' });
  await once(server, 'spawn');
  await using bus = createRedisBus(config());
  await until(() => bus.ping());
}

/** A crash: what was acknowledged must be in the append-only file. */
async function endServer(): Promise<void> {
  const exit = server === undefined ? undefined : once(server, 'exit');
  server?.kill('SIGKILL');
  await exit;
}

const engine: Engine = {
  name: 'Redis Streams',
  takeoverMs: 1_500,
  config: () => ({ kind: 'redis', ...config() }),
  createBus: () => createRedisBus(config()),
  async interrupt() {
    await endServer();
    return startServer;
  },
  async start() {
    folder = await mkdtemp(path.join(os.tmpdir(), 'event-bus-redis-'));
    port = await freePort();
    await startServer();
  },
  async stop() {
    await endServer();
    await rm(folder, { recursive: true });
  },
};

describeEventBus(engine);

describe('only Redis Streams', () => {
  beforeAll(engine.start);
  afterAll(engine.stop);

  test('publishing and a subscription go on after a network that went silent without a word', async () => {
    await using proxy = await startFaultProxy();
    proxy.aimAt({ host: '127.0.0.1', port });
    await using bus = createRedisBus({ ...config(), redisUrl: `redis://127.0.0.1:${proxy.port}` });
    const seen = new Set<string>();
    const message = (id: string) => ({ topic: 'silence.events', key: 'a', id, type: 'a.b', payload: {} });
    await bus.publish([message('before')]);
    await bus.subscribe({
      ...{ topic: 'silence.events', group: 'silence' },
      handle: async (messages) => messages.forEach(({ id }) => seen.add(id)),
    });
    await until(() => seen.has('before'));
    await proxy.cut('black-hole');
    await expect(bus.publish([message('lost')])).rejects.toThrow();
    await proxy.heal();
    await until('publishing again', () => bus.publish([message('after')]).then(() => true), { despiteErrors: true });
    await until(() => seen.has('after'));
  });

  test('a subscription goes on when its streams and groups are deleted under it', async () => {
    await using bus = engine.createBus();
    const seen: DeliveredMessage[] = [];
    const firstSeen = Promise.withResolvers<void>();
    const secondSeen = Promise.withResolvers<void>();
    const message = { topic: 'emptied', key: 'k', id: '1', type: 'thing.happened', payload: null };
    await bus.publish([message]);
    await bus.subscribe({
      ...{ topic: 'emptied', group: 'g' },
      handle: async (messages) => {
        seen.push(...messages);
        (messages[0]?.id === '1' ? firstSeen : secondSeen).resolve();
      },
    });
    await firstSeen.promise;
    const redis = new Redis(config().redisUrl);
    await redis.flushall();
    await bus.publish([{ ...message, id: '2' }]);
    await secondSeen.promise;
    expect(seen.map(({ id }) => id)).toEqual(['1', '2']);
    await redis.quit();
  });

  test('a follower that begins while Redis is away follows when Redis is there, and gets all messages', async () => {
    const message = { topic: 'late', key: 'k', id: '1', type: 'thing.happened', payload: null };
    await using earlier = engine.createBus();
    await earlier.publish([message]);
    const restore = await engine.interrupt();
    await using bus = engine.createBus();
    const seen: string[] = [];
    const retried = new Set<string>();
    await using _follower = subscribeWhenReachable(bus, {
      ...{ topic: 'late', group: 'g' },
      handle: async (messages) => void seen.push(...messages.map(({ id }) => id)),
      onRetry: (_error, during) => retried.add(during),
    });
    await until(() => retried.size > 0);
    await restore();
    await until(() => seen.length > 0);
    expect([seen, [...retried]]).toEqual([['1'], ['subscribe']]);
  });

  test('an existing topic keeps its number of partitions, whatever a later process is configured with', async () => {
    await using eight = engine.createBus();
    await using two = createRedisBus({ ...config(), partitions: 2 });
    const sent = Array.from({ length: 40 }, (_, i) => ({
      topic: 'kept',
      key: `k${i}`,
      id: `${i}`,
      type: 'a.b',
      payload: i,
    }));
    await eight.publish(sent.slice(0, 20));
    await two.publish(sent.slice(20));
    const redis = new Redis(config().redisUrl);
    const keys = await redis.keys('bus:kept:?');
    expect(keys.length).toBeGreaterThan(2);
    const seen = new Set<string>();
    const all = Promise.withResolvers<void>();
    const handle = async (messages: readonly DeliveredMessage[]) => {
      for (const { id } of messages) seen.add(id);
      if (seen.size === sent.length) all.resolve();
    };
    await two.subscribe({ topic: 'kept', group: 'g', handle });
    await all.promise;
    await redis.quit();
  });

  test('an entry that is no message of the bus becomes a dead letter and does not stop its partition', async () => {
    await using bus = engine.createBus();
    const message = { topic: 'foreign', key: 'k', id: '1', type: 'thing.happened', payload: { a: 1 } };
    const redis = new Redis(config().redisUrl);
    for (let p = 0; p < 8; p++) await redis.xadd(`bus:foreign:${p}`, '*', 'payload', '{broken');
    await bus.publish([message]);
    const seen = await new Promise<readonly DeliveredMessage[]>((resolve, reject) => {
      bus.subscribe({ topic: 'foreign', group: 'g', handle: async (messages) => resolve(messages) }).catch(reject);
    });
    expect(seen.map(({ id }) => id)).toEqual(['1']);
    await expect(bus.listDeadLetters('foreign', 'g')).resolves.toContainEqual(
      expect.objectContaining({
        message: expect.objectContaining({ type: 'message.unreadable', payload: ['payload', '{broken'] }),
      }),
    );
    await redis.quit();
  });
});
