import { expect, test } from '@jest/globals';
import { runJob } from '@longwave/local/job';
import { samples } from '@longwave/local/samples';
import { startTestFleet } from '../_fleet.ts';

const { TEST_KAFKA_BROKERS: brokers, REQUIRE_FOREIGN_ENGINES: required } = process.env;

if (brokers || required === '1') {
  test('every step of a complete trial run passes with Apache Kafka as the event bus', async () => {
    if (!brokers) throw new Error('Apache Kafka is required here, but TEST_KAFKA_BROKERS is not set');
    await using world = await startTestFleet({ bus: { kind: 'kafka', brokers } });
    const failures: string[] = [];
    const report = {
      step: async (name: string, run: (progress: () => void) => Promise<string>) => {
        await run(() => undefined).catch((error: Error) => {
          failures.push(`${name}: ${error.message}`);
          throw error;
        });
      },
    };
    const result = await runJob({ fleet: world.fleet, audio: samples.audio, ad: samples.ad, report });
    expect(failures).toEqual([]);
    expect(result).toMatchObject({ ok: true, analytics: { downloads: result.analytics?.listeners, ads_delivered: 1 } });
  });
} else {
  test.skip('no Apache Kafka: TEST_KAFKA_BROKERS is not set', () => undefined);
}
