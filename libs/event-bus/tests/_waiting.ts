import { expect, test } from '@jest/globals';
import type { DeliveredMessage, EventBus } from '../src/index.ts';
import { until } from '@longwave/test-kit';
import { newTopic, numbered, quick, subscribeInto } from './_messages.ts';

/** The guarantees of every engine about waiting messages; a part of the contract. */
export function testWaiting(engine: { createBus(): EventBus }): void {
  test('a group waits for what it has not finished: new, in hand and redriven messages, and not for its dead letters', async () => {
    await using bus = engine.createBus();
    const topic = newTopic();
    const waiting = () => bus.countWaiting(topic, 'slow');
    await bus.publish(numbered(topic, 60, 20));
    const go = Promise.withResolvers<void>();
    let broken = true;
    const handle = async (messages: readonly DeliveredMessage[]) => {
      await go.promise;
      if (broken && messages.some(({ id }) => id === 'm-000007')) throw new Error('cannot digest');
    };
    const subscription = await bus.subscribe({ topic, group: 'slow', retry: quick, batchSize: 2, handle });
    await until(async () => (await waiting()) === 60);
    go.resolve();
    await until(async () => (await waiting()) === 0);
    expect(await bus.listDeadLetters(topic, 'slow')).toHaveLength(1);
    await subscription.close();
    await bus.publish(numbered(topic, 25, 20, 'more'));
    broken = false;
    expect(await bus.redriveDeadLetters(topic, 'slow')).toBe(1);
    await until(async () => (await waiting()) === 26);
    await subscribeInto(bus, topic, 'slow', []);
    await until(async () => (await waiting()) === 0);
  });
}
