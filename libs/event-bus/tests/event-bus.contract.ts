import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { bareEnvironment, until } from '@longwave/test-kit';
import type { BusMessage, DeliveredMessage, EventBus, EventBusConfig } from '../src/index.ts';
import { distinct, firstsByKey, inTrace, newTopic, numbered, placesOf, quick, subscribeInto } from './_messages.ts';
import { testWaiting } from './_waiting.ts';

export interface Engine {
  readonly name: string;
  /** Plain data: it is handed to child processes. */
  config(): EventBusConfig;
  createBus(): EventBus;
  /** After this time without a sign of life a consumer's partitions are taken over. */
  readonly takeoverMs: number;
  /** Takes the engine away from the buses of `createBus`; answers how to bring it back. */
  interrupt(): Promise<() => Promise<void>>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The guarantees of every engine. Each test has a topic of its own. */
export function describeEventBus(engine: Engine): void {
  describe(`the event bus on ${engine.name}`, () => {
    const children = new Set<ChildProcess>();
    beforeAll(() => engine.start(), 120_000);
    afterAll(async () => {
      for (const child of children) child.kill('SIGKILL');
      await engine.stop();
    });

    test('each of two groups sees every message, in order per key, while consumers of one group join and leave under load', async () => {
      await using bus = engine.createBus();
      await using second = engine.createBus();
      const topic = newTopic();
      const sent = numbered(topic, 6_000, 50);
      const alone: DeliveredMessage[] = [];
      const shared: DeliveredMessage[] = [];
      const inHand = new Set<string>();
      const overlaps: string[] = [];
      const byConsumer = [0, 0];
      const share = (of: EventBus, consumer: number) =>
        of.subscribe({
          topic,
          group: 'shared',
          batchSize: 20,
          handle: async (messages) => {
            const keys = new Set(messages.map(({ key }) => key));
            for (const key of keys) if (inHand.has(key)) overlaps.push(key);
            for (const key of keys) inHand.add(key);
            await wait(2);
            shared.push(...messages);
            byConsumer[consumer]! += messages.length;
            for (const key of keys) inHand.delete(key);
          },
        });
      await share(bus, 0);
      await subscribeInto(bus, topic, 'alone', alone);
      const publishing = (async () => {
        for (let i = 0; i < sent.length; i += 50) {
          await bus.publish(sent.slice(i, i + 50));
          await wait(10);
        }
      })();
      await until(() => byConsumer[0]! > 500);
      const guest = await share(second, 1);
      await until(() => byConsumer[1]! > 500);
      await guest.close();
      await publishing;
      await until(() => distinct(shared) === sent.length && distinct(alone) === sent.length);
      expect(firstsByKey(shared)).toEqual(firstsByKey(sent));
      expect(firstsByKey(alone)).toEqual(firstsByKey(sent));
      expect(overlaps).toEqual([]);
      // Nobody died, so nobody sees anything twice.
      expect([alone.length, shared.length]).toEqual([sent.length, sent.length]);
    });

    test('a message arrives as it was sent, also one that is text already, with the time of its publication', async () => {
      await using bus = engine.createBus();
      const topic = newTopic();
      const before = Date.now();
      const message = {
        topic,
        key: 'ep_ü',
        id: 'evt_1',
        type: 'episode.published',
        payload: { title: '“ä”', parts: [1, null] },
      };
      const { payload, ...rest } = message;
      await bus.publish([message, { ...rest, json: ` ${JSON.stringify(payload)} ` }]);
      const seen: DeliveredMessage[] = [];
      await subscribeInto(bus, topic, 'one', seen);
      await until(() => seen.length === 2);
      expect(seen).toEqual(Array(2).fill({ ...message, attempt: 1, publishedAt: expect.any(Date) }));
      expect(seen[0]!.publishedAt.getTime()).toBeGreaterThanOrEqual(before);
      expect(seen[0]!.publishedAt.getTime()).toBeLessThanOrEqual(Date.now());
    });

    test('a message to all partitions comes once in each, between what its sender published there before and afterwards', async () => {
      await using bus = engine.createBus();
      const topic = newTopic();
      await bus.publish(numbered(topic, 400, 100, 'before'));
      await bus.publishToAll(topic, (partition, partitions) => ({
        ...{ key: 'all', id: `mark-${partition}`, type: 'thing.marked' },
        payload: { partition, partitions },
      }));
      await bus.publish(numbered(topic, 400, 100, 'later'));
      const batches: DeliveredMessage[][] = [];
      const handle = async (messages: readonly DeliveredMessage[]) => void batches.push([...messages]);
      await bus.subscribe({ topic, group: 'one', batchSize: 1_000, handle });
      const kindOf = ({ id }: DeliveredMessage) => id.split('-')[0]!;
      const marks = () => batches.flat().filter((message) => kindOf(message) === 'mark');
      await until(() => marks().length > 0 && distinct(batches.flat()) === 800 + marks().length);
      const partitions = marks().length;
      expect(marks().map(({ payload }) => payload)).toEqual(
        expect.arrayContaining(Array.from({ length: partitions }, (_, partition) => ({ partition, partitions }))),
      );
      const order = ['before', 'mark', 'later'];
      // A batch is of one partition.
      const marked = batches.filter((batch) => batch.some((message) => kindOf(message) === 'mark'));
      for (const kinds of marked.map((batch) => batch.map(kindOf)))
        expect(kinds).toEqual(kinds.toSorted((x, y) => order.indexOf(x) - order.indexOf(y)));
      expect(marked.flat().map(kindOf)).toContain('before');
    });

    test('a new group starts at the oldest message, and a group that comes back goes on where it stopped', async () => {
      await using bus = engine.createBus();
      const topic = newTopic();
      await bus.publish(numbered(topic, 100, 5));
      const first: DeliveredMessage[] = [];
      const subscription = await subscribeInto(bus, topic, 'early', first);
      await until(() => first.length === 100);
      await subscription.close();
      await bus.publish(numbered(topic, 20, 5, 'more'));
      const again: DeliveredMessage[] = [];
      const late: DeliveredMessage[] = [];
      await subscribeInto(bus, topic, 'early', again);
      await subscribeInto(bus, topic, 'late', late);
      await until(() => again.length >= 20 && late.length >= 120);
      expect(again.map(({ id }) => id).sort()).toEqual(
        numbered(topic, 20, 5, 'more')
          .map(({ id }) => id)
          .sort(),
      );
      expect(late).toHaveLength(120);
    });

    testWaiting(engine);

    test('one group reads two topics', async () => {
      await using bus = engine.createBus();
      const topics = [newTopic(), newTopic()];
      const seen: DeliveredMessage[] = [];
      for (const topic of topics) await subscribeInto(bus, topic, 'both', seen);
      await bus.publish(topics.flatMap((topic) => numbered(topic, 10, 3)));
      await until(() => seen.length === 20);
      expect(new Set(seen.map(({ topic }) => topic))).toEqual(new Set(topics));
    });

    test('a failing message is retried with back-off, becomes a dead letter alone, and the others of its partition go on', async () => {
      await using bus = engine.createBus();
      const topic = newTopic();
      const sent = numbered(topic, 20, 1);
      const tries: { id: string; attempt: number; at: number }[] = [];
      const done: string[] = [];
      await bus.publish(sent);
      await bus.subscribe({
        topic,
        group: 'strict',
        retry: quick,
        batchSize: 10,
        handle: async (messages) => {
          for (const { id, attempt } of messages) tries.push({ id, attempt, at: performance.now() });
          if (messages.some(({ id }) => id === sent[5]!.id)) throw new Error('cannot digest');
          done.push(...messages.map(({ id }) => id));
        },
      });
      await until(() => done.length === 19);
      expect(done).toEqual(sent.filter((_, i) => i !== 5).map(({ id }) => id));
      const poison = tries.filter(({ id }) => id === sent[5]!.id);
      expect(poison.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
      expect(poison[1]!.at - poison[0]!.at).toBeGreaterThanOrEqual(19);
      expect(poison[2]!.at - poison[1]!.at).toBeGreaterThanOrEqual(39);
      const dead = await bus.listDeadLetters(topic, 'strict');
      expect(dead).toEqual([
        { message: sent[5], group: 'strict', error: 'Error: cannot digest', failedAt: expect.any(Date) },
      ]);
      expect(await bus.listDeadLetters(topic, 'another')).toEqual([]);
    });

    test('redriven dead letters reach only their group, in order per key and in their traces, and are dead letters no more', async () => {
      await using bus = engine.createBus();
      const topic = newTopic();
      const sent = numbered(topic, 12, 2).map(inTrace);
      const other: DeliveredMessage[] = [];
      const redriven: DeliveredMessage[] = [];
      let broken = true;
      await subscribeInto(bus, topic, 'other', other);
      await bus.subscribe({
        topic,
        group: 'mine',
        retry: { attempts: 1, deaths: 1, initialDelayMs: 1, maxDelayMs: 1 },
        handle: async (messages) => {
          if (broken) throw new Error('database is away');
          redriven.push(...messages);
        },
      });
      await bus.publish(sent);
      await until(async () => (await bus.listDeadLetters(topic, 'mine')).length === 12);
      await until(() => other.length === 12);
      expect(await bus.redriveDeadLetters(topic, 'other')).toBe(0);
      broken = false;
      expect(await bus.redriveDeadLetters(topic, 'mine')).toBe(12);
      await until(() => redriven.length === 12);
      expect(firstsByKey(redriven)).toEqual(firstsByKey(sent));
      expect(placesOf(redriven)).toEqual(placesOf(sent));
      expect(redriven.every(({ attempt }) => attempt === 1)).toBe(true);
      expect(await bus.listDeadLetters(topic, 'mine')).toEqual([]);
      expect(await bus.redriveDeadLetters(topic, 'mine')).toBe(0);
      await bus.publish(numbered(topic, 2, 2, 'end'));
      await until(() => other.length >= 14 && redriven.length >= 14);
      expect(other).toHaveLength(14);
    });

    test('what a killed consumer had in hand is delivered again in order, and counted as tried', async () => {
      await using bus = engine.createBus();
      const topic = newTopic();
      const sent = numbered(topic, 30, 1);
      await bus.publish(sent);
      const victim = startVictim(topic, 'crashing', 5, sent[10]!.id);
      await victim.handling(sent[10]!.id);
      const seen: DeliveredMessage[] = [];
      await subscribeInto(bus, topic, 'crashing', seen);
      expect(seen).toHaveLength(0);
      victim.kill();
      await until(() => seen.length === 30);
      expect(seen.map(({ id }) => id)).toEqual(sent.map(({ id }) => id));
      expect(seen.every(({ attempt }) => attempt === 2)).toBe(true);
    });

    test('a message that kills its consumers ends in the dead letters, and the others of its partition go on', async () => {
      await using bus = engine.createBus();
      const topic = newTopic();
      const sent = numbered(topic, 5, 1);
      const deadly = sent[2]!.id;
      await bus.publish(sent);
      for (const attempt of [1, 2]) {
        const victim = startVictim(topic, 'fragile', 2, deadly);
        expect(await victim.handling(deadly)).toBe(attempt);
        victim.kill();
      }
      const seen: DeliveredMessage[] = [];
      await subscribeInto(bus, topic, 'fragile', seen, { ...quick, attempts: 2, deaths: 2 });
      await until(() => seen.some(({ id }) => id === sent[4]!.id));
      expect(seen.map(({ id }) => id)).toEqual([sent[3]!.id, sent[4]!.id]);
      const dead = await bus.listDeadLetters(topic, 'fragile');
      expect(dead.map(({ message }) => message.id)).toEqual([deadly]);
      expect(dead[0]!.error).toBe('Its consumer ended 2 times without an answer.');
    }, 120_000);

    test('a bus closes while its engine is away', async () => {
      const bus = engine.createBus();
      const topic = newTopic();
      const seen: DeliveredMessage[] = [];
      await subscribeInto(bus, topic, 'leaving', seen);
      await bus.publish(numbered(topic, 5, 5, 'before'));
      await until(() => distinct(seen) === 5);
      const restore = await engine.interrupt();
      try {
        await until(async () => !(await bus.ping()));
        await bus[Symbol.asyncDispose]();
      } finally {
        await restore();
      }
    }, 120_000);

    test('publish rejects while the engine is away, and everything goes on when it is back', async () => {
      await using bus = engine.createBus();
      const topic = newTopic();
      const seen: DeliveredMessage[] = [];
      await subscribeInto(bus, topic, 'patient', seen);
      await bus.publish(numbered(topic, 50, 5, 'before'));
      await until(() => distinct(seen) === 50);
      const restore = await engine.interrupt();
      await expect(bus.publish(numbered(topic, 5, 5, 'lost'))).rejects.toThrow();
      expect(await bus.ping()).toBe(false);
      await restore();
      await until(() => bus.ping());
      const after = numbered(topic, 50, 5, 'after');
      await until(() =>
        bus.publish(after).then(
          () => true,
          () => false,
        ),
      );
      await until(() => after.every(({ id }) => seen.some((one) => one.id === id)));
      const afterOnly = (messages: readonly BusMessage[]) => messages.filter(({ id }) => id.includes('after'));
      expect(firstsByKey(afterOnly(seen))).toEqual(firstsByKey(after));
    }, 120_000);

    test('close waits for the message in hand, which is not delivered again, and hands over no further one', async () => {
      await using bus = engine.createBus();
      const topic = newTopic();
      const sent = numbered(topic, 5, 1);
      await bus.publish(sent);
      const begun = Promise.withResolvers<void>();
      const release = Promise.withResolvers<void>();
      const done: string[] = [];
      const subscription = await bus.subscribe({
        topic,
        group: 'leaving',
        batchSize: 1,
        handle: async ([message]) => {
          begun.resolve();
          await release.promise;
          done.push(message!.id);
        },
      });
      await begun.promise;
      let closed = false;
      const closing = subscription.close().then(() => (closed = true));
      const heir: DeliveredMessage[] = [];
      const heirReady = subscribeInto(bus, topic, 'leaving', heir);
      // That nothing happens can only be seen by letting the time pass after which it would.
      await wait(1.3 * engine.takeoverMs);
      expect(closed).toBe(false);
      expect(heir).toHaveLength(0);
      release.resolve();
      await closing;
      expect(done).toEqual([sent[0]!.id]);
      await heirReady;
      await until(() => heir.length === 4);
      expect(heir.map(({ id }) => id)).toEqual(sent.slice(1).map(({ id }) => id));
      expect(heir.every(({ attempt }) => attempt === 1)).toBe(true);
    });

    test('a handler that takes longer than a lease or session keeps its partition', async () => {
      await using bus = engine.createBus();
      await using second = engine.createBus();
      const topic = newTopic();
      await bus.publish(numbered(topic, 1, 1));
      const handed: number[] = [];
      const handle = async (messages: readonly DeliveredMessage[]) => {
        handed.push(...messages.map(({ attempt }) => attempt));
        await wait(1.3 * engine.takeoverMs);
      };
      await bus.subscribe({ topic, group: 'slow', handle });
      await until(() => handed.length === 1);
      await second.subscribe({ topic, group: 'slow', handle });
      const fresh: DeliveredMessage[] = [];
      await subscribeInto(bus, topic, 'witness', fresh);
      await bus.publish(numbered(topic, 1, 1, 'next'));
      await until(() => handed.length === 2);
      expect(handed).toEqual([1, 1]);
    });

    test('publishing and consuming are fast enough to print', async () => {
      await using bus = engine.createBus();
      const topic = newTopic();
      const sent = numbered(topic, 20_000, 500);
      const published = performance.now();
      for (let i = 0; i < sent.length; i += 500) await bus.publish(sent.slice(i, i + 500));
      const publishMs = performance.now() - published;
      const seen: DeliveredMessage[] = [];
      const consumed = performance.now();
      await subscribeInto(bus, topic, 'fast', seen);
      await until(() => seen.length >= sent.length);
      const consumeMs = performance.now() - consumed;
      const perSecond = (ms: number) => Math.round((sent.length / ms) * 1000);
      process.stdout.write(
        `event bus on ${engine.name}: ${perSecond(publishMs)} published/s, ${perSecond(consumeMs)} consumed/s\n`,
      );
      expect(firstsByKey(seen)).toEqual(firstsByKey(sent));
    });

    function startVictim(topic: string, group: string, attempts: number, stopAt: string) {
      const script = path.join(import.meta.dirname, 'killed-consumer.ts');
      const args = [JSON.stringify(engine.config()), topic, group, String(attempts), stopAt];
      const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...args], {
        env: bareEnvironment,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      children.add(child);
      let output = '';
      child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
      return {
        /** Resolves with the attempt when the child has the message in hand. */
        async handling(id: string): Promise<number> {
          const line = () => output.split('\n').find((one) => one.startsWith(`handling ${id} `));
          await until(() => line() !== undefined);
          return Number(line()!.split(' ')[2]);
        },
        kill: () => child.kill('SIGKILL'),
      };
    }
  });
}
