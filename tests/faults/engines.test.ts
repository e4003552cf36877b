import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { openStage, type Stage } from '../_listeners.ts';
import { makeTrialRun } from '../_trial-run.ts';
// eslint-disable-next-line @nx/enforce-module-boundaries -- tools are programs of the repository, no project with a name
import { startForeignKafka, type ForeignKafka } from '../../tools/foreign-kafka.mjs';

/** Bytes that Redis may hold, 0 for any number. */
async function setMaxMemory(redisUrl: string, bytes: number): Promise<void> {
  const redis = new Redis(redisUrl);
  await redis.config('SET', 'maxmemory', bytes);
  await redis.quit();
}

const none = { doubled_downloads: 0, ads_without_download: 0, doubled_ads: 0 };

/** Fewer than there are listeners: it is met between the first and the second death of PostgreSQL. */
const goal = 60;

test('a Redis that is full, and engines and services killed one after the other under load: every download is counted once, no ad without its own, and none beyond its goal', async () => {
  await using stage = await openStage({ mode: 'durable' }, goal);
  const { engines, services } = stage.world.fleet;
  const { heard, afterSome, end } = stage.gather(4);
  await afterSome(4);
  await setMaxMemory(engines.redis.first.url, 1);
  await afterSome(8);
  await setMaxMemory(engines.redis.first.url, 0);
  /** Times at which public-delivery died: the facts of listeners who got their last byte then may be lost. */
  const deliveryDiedMs: number[] = [];
  for (let round = 0; round < 2; round++) {
    await afterSome(8);
    engines.redis.kill('SIGKILL');
    await afterSome(8);
    services['analytics-sink'].kill('SIGKILL');
    await afterSome(8);
    engines.postgres.kill('SIGKILL');
    await afterSome(8);
    services['internal-serving'].kill('SIGKILL');
    await afterSome(8);
    deliveryDiedMs.push(performance.now());
    services['public-delivery'].kill('SIGKILL');
    await afterSome(8);
    engines.objectStore.kill('SIGKILL');
  }
  await afterSome(8);
  await end();

  const uncertain = heard.filter(({ endedMs }) => deliveryDiedMs.some((at) => Math.abs(endedMs - at) < 100)).length;
  const counted = await stage.settledCounts(heard.length - uncertain);
  expect(counted.downloads).toBeLessThanOrEqual(heard.length);
  expect(counted.ads).toBeGreaterThan(0);
  expect(counted.ads).toBeLessThanOrEqual(counted.downloads);
  expect(await stage.contradictions()).toEqual(none);
  const { leased, decided } = await stage.slotsGiven();
  expect(leased).toBeLessThanOrEqual(goal);
  // PostgreSQL came back twice, and slots were given on: what it loses is what stood in memory.
  expect(leased).toBeGreaterThan(goal / 2);
  expect(decided).toBeLessThanOrEqual(leased);
  expect(engines.redis.restarts + engines.postgres.restarts + engines.objectStore.restarts).toBe(6);
}, 300_000);

if (process.env['TEST_KAFKA_BROKERS'] || process.env['REQUIRE_FOREIGN_ENGINES'] === '1') {
  describe('with Apache Kafka as the event bus', () => {
    let kafka: ForeignKafka;
    let stage: Stage;
    beforeAll(async () => {
      const started = await startForeignKafka();
      if ('unavailable' in started) throw new Error(started.unavailable);
      kafka = started;
      stage = await openStage({ bus: { kind: 'kafka', brokers: kafka.brokers.join() } });
    });
    afterAll(async () => {
      await stage?.[Symbol.asyncDispose]();
      await kafka?.stop();
    });

    test('every step of a complete trial run passes', async () => {
      const result = await makeTrialRun(stage.world.fleet);
      expect(result.failures).toEqual([]);
      const analytics = { downloads: result.analytics?.listeners, ads_delivered: 1 };
      expect(result).toMatchObject({ ok: true, analytics });
    });

    test('a broker killed under load, and the sink with it: every download is counted once', async () => {
      const { heard, afterSome, end } = stage.gather(3);
      for (let round = 0; round < 2; round++) {
        await afterSome(6);
        await kafka.killAndRestart();
        await afterSome(6);
        stage.world.fleet.services['analytics-sink'].kill('SIGKILL');
      }
      await afterSome(6);
      await end();
      const counted = await stage.settledCounts(heard.length);
      expect(counted.downloads).toBe(heard.length);
      expect(counted.ads).toBeLessThanOrEqual(counted.downloads);
      expect(await stage.contradictions()).toEqual(none);
    });
  });
} else {
  test.skip('no Apache Kafka: TEST_KAFKA_BROKERS is not set', () => undefined);
}
