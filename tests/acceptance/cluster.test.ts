import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { dataFolder, findRunningFleet } from '@longwave/fleet';
import { clusterProfile } from '@longwave/local/cluster-profile';
import { namesOf, services } from '@longwave/services';
import { until } from '@longwave/test-kit';
import { Redis } from 'ioredis';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import pg from 'pg';
import { newPlatform } from '../_exchange-platform.ts';
import { startTestFleet, type TestFleet } from '../_fleet.ts';
import { longwave } from '../_longwave.ts';
import { isCluster } from '../_profile.ts';
import { makeTrialRun } from '../_trial-run.ts';

const { TEST_KAFKA_BROKERS, TEST_FOREIGN_S3_ENDPOINT, REQUIRE_FOREIGN_ENGINES } = process.env;
const canRun = isCluster || REQUIRE_FOREIGN_ENGINES === '1' || (TEST_KAFKA_BROKERS && TEST_FOREIGN_S3_ENDPOINT);

const entries = namesOf(services).map((name) => services[name]);
/** Every topic of the manifest, and every follower. */
const follows = entries.flatMap(({ redis }) => redis?.follows ?? []);
const topics = [
  ...new Set(entries.flatMap(({ redis }) => redis?.publishes ?? []).concat(follows.map(([topic]) => topic))),
];

if (canRun) {
  describe('in the shape of a cluster: packaged services, two of each, Kafka, a foreign S3 server, engines with TLS', () => {
    let world: TestFleet;
    let kafka: Admin;

    beforeAll(async () => {
      world = await startTestFleet(await clusterProfile(() => undefined));
      const brokers = world.fleet.kafkaBrokers!.split(',');
      const ssl = { ca: readFileSync(world.fleet.enginesCa!) };
      kafka = new Kafka({ clientId: 'test', brokers, ssl, logLevel: logLevel.NOTHING }).admin();
      await kafka.connect();
    });
    afterAll(async () => {
      await kafka?.disconnect();
      await world?.[Symbol.asyncDispose]();
    });

    test('a complete trial run holds in every step', async () => {
      const run = await makeTrialRun(world.fleet);
      expect(run.failures).toEqual([]);
      expect(run).toMatchObject({ ok: true, analytics: { ads_delivered: 1 } });
    });

    test('the key of an object store that others run is not replaced, and stays known when another key is', async () => {
      const keys = (name: string) => longwave('keys', 'rotate', name, '--data', world.fleet.dataFolder);
      expect(await keys('object-store')).toMatchObject({ status: 1, stderr: expect.stringContaining('others run') });
      expect(await keys('cursors')).toMatchObject({ status: 0 });
      const { objectStore } = findRunningFleet(dataFolder(world.fleet.dataFolder))!;
      expect(objectStore).toEqual(world.fleet.objectStore);
    });

    test('every topic of the manifest has messages in Kafka, in at least three partitions, and no stream exists in Redis', async () => {
      const platform = await newPlatform(world);
      const stream = await platform.connect({ key: await platform.newKey() }).stream('show:cluster');
      await stream.capability(1, {
        ...{ surface_id: 'feed', protocols: ['progressive'], interstitials: 'none', ranges: true, max_redirects: 5 },
        ...{ ads_video: false, client_events: 'none', measurement: 'server_log' },
        ...{ personalisation: 'per_download', offline_audio: true },
      });
      for (const topic of topics) {
        const partitions = await until(`messages of ${topic}`, () => kafka.fetchTopicOffsets(topic), {
          holds: (found) => found.some(({ high }) => high !== '0'),
          // A topic that was made a moment ago has no leader yet.
          despiteErrors: true,
        });
        expect(partitions.length).toBeGreaterThanOrEqual(3);
      }
      const redis = new Redis(world.fleet.redisUrl);
      const kinds = new Set<string>();
      for await (const keys of redis.scanStream()) for (const key of keys as string[]) kinds.add(await redis.type(key));
      await redis.quit();
      // Other keys are there: this is the Redis that the services use.
      expect(kinds.size).toBeGreaterThan(0);
      expect(kinds).not.toContain('stream');
    });

    test('both processes of every follower are members of its group', async () => {
      const { groups } = await kafka.describeGroups(follows.map(([topic, group]) => `${group}@${topic}`));
      expect(groups.map(({ groupId, state, members }) => [groupId, state, members.length])).toEqual(
        follows.map(([topic, group]) => [`${group}@${topic}`, 'Stable', 2]),
      );
    });

    test('PostgreSQL, Redis and Kafka take no connection without TLS, and clients of theirs none from a server with a foreign certificate', async () => {
      const { adminDatabaseUrl, databaseUrls, redisUrl, kafkaBrokers, enginesCa } = world.fleet;
      const connect = async (url: string, ssl?: tls.ConnectionOptions) => {
        const client = new pg.Client({ connectionString: url, ...(ssl && { ssl }) });
        await client.connect().finally(() => client.end().catch(() => undefined));
      };
      const plain = new URL(adminDatabaseUrl);
      plain.search = '';
      await expect(connect(plain.href)).rejects.toThrow(/no encryption/);
      // Node's own authorities alone, as a service has them to which nobody has named that of the engines.
      await expect(connect(plain.href, { ca: [...tls.rootCertificates] })).rejects.toThrow(
        /verify|self-signed|certificate/,
      );
      await connect(plain.href, { ca: readFileSync(enginesCa!) });
      for (const url of Object.values(databaseUrls)) expect(url).toContain('sslmode=verify-full');

      const ping = async (url: string, ca?: tls.ConnectionOptions['ca']) => {
        const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, ...(ca && { tls: { ca } }) });
        const failed = new Promise<never>((_, reject) => redis.once('error', reject));
        await Promise.race([redis.connect().then(() => redis.ping()), failed]).finally(() => redis.disconnect());
      };
      await expect(ping(redisUrl.replace('rediss:', 'redis:'))).rejects.toThrow();
      await expect(ping(redisUrl, [...tls.rootCertificates])).rejects.toThrow(/verify|self-signed|certificate/);
      await ping(redisUrl, readFileSync(enginesCa!));

      const describeKafka = async (ssl?: tls.ConnectionOptions) => {
        const connection = { clientId: 'test', brokers: kafkaBrokers!.split(','), ...(ssl && { ssl }) };
        const admin = new Kafka({ ...connection, retry: { retries: 0 }, logLevel: logLevel.NOTHING }).admin();
        await admin.connect().finally(() => admin.disconnect());
      };
      await expect(describeKafka()).rejects.toThrow(/closed connection/i);
      await expect(describeKafka({ ca: [...tls.rootCertificates] })).rejects.toThrow(/certificate/);
    });
  });
} else {
  test.skip('no shape of a cluster: Apache Kafka or the foreign S3 server was not fetched', () => undefined);
}
