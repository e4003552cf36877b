import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import { readKafkaConfig } from '@longwave/service-kit';
import { until } from '@longwave/test-kit';
import { busFromConfig, type DeliveredMessage } from '../src/index.ts';
import { newTopic, numbered, subscribeInto } from './_messages.ts';

const {
  TEST_KAFKA_BROKERS: plainBrokers,
  TEST_KAFKA_LOGIN_BROKERS: brokers,
  TEST_KAFKA_CA: ca,
  TEST_KAFKA_USERNAME: username = '',
  TEST_KAFKA_PASSWORD: password = '',
  REQUIRE_FOREIGN_ENGINES,
} = process.env;

const mechanisms = ['scram-sha-512', 'plain'] as const;
const login = (mechanism: (typeof mechanisms)[number]) => ({
  ...{ KAFKA_BROKERS: brokers, KAFKA_TLS: 'true' },
  ...{ KAFKA_SASL_MECHANISM: mechanism, KAFKA_USERNAME: username, KAFKA_PASSWORD: password },
});

/** The configuration of a service with these variables of Kafka. */
const configOf = (environment: Readonly<Record<string, string | undefined>>) => ({
  ...readKafkaConfig(environment),
  REDIS_URL: 'redis://127.0.0.1:1',
});

/** A bus with this configuration, and the reasons that it logged while Kafka could not be used. */
async function openBus(config: ReturnType<typeof configOf>) {
  const reasons: string[] = [];
  const logger = { warn: ({ reason }: Readonly<Record<string, unknown>>) => void reasons.push(String(reason)) };
  return { bus: await busFromConfig(config, { clientName: 'login-test', logger }), reasons };
}

/** Why the bus is not ready with these variables. */
async function refusalOf(environment: Readonly<Record<string, string | undefined>>): Promise<string> {
  const { bus, reasons } = await openBus(configOf(environment));
  await using _ = bus;
  expect(await bus.ping()).toBe(false);
  expect(await bus.ping()).toBe(false);
  // Once, although it was asked twice.
  expect(reasons).toHaveLength(1);
  return reasons[0]!;
}

if (brokers !== undefined && ca !== undefined) {
  describe('Apache Kafka that takes TLS connections with a login alone', () => {
    // The first test, because a process never loses trust.
    test('a broker whose authority is not trusted is refused, and readiness says so', async () => {
      expect(await refusalOf(login('scram-sha-512'))).toMatch(
        /^The certificate of Kafka is not trusted.*NODE_EXTRA_CA_CERTS/,
      );
      tls.setDefaultCACertificates([...tls.getCACertificates('default'), readFileSync(ca, 'utf8')]);
    });

    test.each(mechanisms)('messages go through with the right login by %s', async (mechanism) => {
      const { bus, reasons } = await openBus(configOf(login(mechanism)));
      await using _ = bus;
      expect(await bus.ping()).toBe(true);
      const topic = newTopic();
      const seen: DeliveredMessage[] = [];
      await subscribeInto(bus, topic, 'reader', seen);
      await bus.publish(numbered(topic, 20, 4));
      await until(() => seen.length === 20);
      await until(async () => (await bus.countWaiting(topic, 'reader')) === 0);
      expect(reasons).toEqual([]);
    });

    test.each(mechanisms)(
      'a wrong password by %s is refused in words that name no password, and one that changes counts at the next connection',
      async (mechanism) => {
        const wrong = 'hunter2';
        let current = wrong;
        const config = Object.defineProperty(configOf(login(mechanism)), 'KAFKA_PASSWORD', { get: () => current });
        const { bus, reasons } = await openBus(config);
        await using _ = bus;
        expect(await bus.ping()).toBe(false);
        expect(reasons).toEqual([expect.stringMatching(/^Kafka refuses the login: look at .*KAFKA_PASSWORD/)]);
        expect(reasons.join()).not.toContain(wrong);
        current = password;
        await until(() => bus.ping());
      },
    );

    test('a client without TLS, and one without a login, are told which variables to look at', async () => {
      expect(await refusalOf({ KAFKA_BROKERS: brokers })).toMatch(
        /^The port may take TLS connections alone.*KAFKA_TLS/,
      );
      expect(await refusalOf({ KAFKA_BROKERS: brokers, KAFKA_TLS: 'true' })).toMatch(
        /^Kafka may want a login.*KAFKA_SASL_MECHANISM/,
      );
    });

    test('a client with TLS at a port without is told to look at KAFKA_TLS', async () => {
      expect(await refusalOf({ KAFKA_BROKERS: plainBrokers, KAFKA_TLS: 'true' })).toMatch(
        /^The port may take connections without TLS alone.*KAFKA_TLS/,
      );
    });
  });
} else if (REQUIRE_FOREIGN_ENGINES === '1') {
  test('a Kafka with a login is required: set TEST_KAFKA_LOGIN_BROKERS', () => {
    throw new Error('REQUIRE_FOREIGN_ENGINES=1, but TEST_KAFKA_LOGIN_BROKERS or TEST_KAFKA_CA is not set.');
  });
} else {
  test.skip('TLS and login at Apache Kafka: not run, because TEST_KAFKA_LOGIN_BROKERS names no broker', () => {});
}
