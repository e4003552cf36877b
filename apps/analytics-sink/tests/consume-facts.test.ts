import { expect, test } from '@jest/globals';
import { createEventBus } from '@longwave/event-bus';
import { topics } from '@longwave/events';
import { startTestRedis } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { createLogger } from '@longwave/service-kit';
import { until } from '@longwave/test-kit';
import { fact, lists, seen } from '@longwave/test-kit/delivery-facts';
import { consumeFacts } from '../src/counting/consume-facts.ts';
import { useTables } from './_tables.ts';

let pool: Pool;
useTables((tables) => ({ pool } = tables));

test('a fact that cannot be stored, and one about a preview, become the only dead letters, though facts of other parts of the topic are counted with it', async () => {
  await using redis = await startTestRedis();
  await using bus = await createEventBus({ kind: 'redis', redisUrl: redis.url, clientName: 'test' });
  const facts = Array.from({ length: 400 }, (_, n) => fact({ fact_id: `fct_${n}`, listener_key: `listener ${n}` }));
  // PostgreSQL holds no NUL in a text.
  const illegal = fact({ fact_id: 'fct_illegal', listener_key: 'somebody', region: 'a\0b' });
  const tried = fact({ fact_id: 'fct_tried', listener_key: 'an editor', arrangement_id: newId('prv') });
  await bus.publish(
    [seen(), ...facts.slice(0, 200), illegal, tried, ...facts.slice(200)].map((one) => ({
      topic: topics.deliveryFacts,
      key: 'listener_key' in one ? one.listener_key : one.user_agent_digest,
      id: one.fact_id,
      type: one.kind,
      payload: one,
    })),
  );
  await using _consumer = consumeFacts({ bus, pool, lists, logger: createLogger('test', 'silent') });
  const counted = async () => {
    const { rows } = await pool.query<{ facts: number; downloads: number }>(
      `select (select count(*)::int from fact) as facts, (select sum(downloads)::int from download_hour) as downloads`,
    );
    return rows[0]!;
  };
  await until(async () => (await counted()).downloads === 400);
  const deadLetters = () => bus.listDeadLetters(topics.deliveryFacts, 'analytics-sink');
  await until(async () => (await deadLetters()).length > 1);
  expect((await deadLetters()).map(({ message }) => message.id).sort()).toEqual(['fct_illegal', 'fct_tried']);
  expect(await counted()).toEqual({ facts: 400, downloads: 400 });
});
