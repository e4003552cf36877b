import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { databaseOutage } from '@longwave/postgres';
import { until } from '@longwave/test-kit';
import pg from 'pg';
import { facts, startSinkWorld, type SinkWorld } from './_sink-world.ts';
import { startStandby, type Standby } from './_standby.ts';

let servers: Standby;
let world: SinkWorld;

beforeAll(async () => {
  servers = await startStandby();
  process.env['TEST_DATABASE_ADMIN_URL'] = servers.primary.adminUrl;
  world = await startSinkWorld();
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await servers?.[Symbol.asyncDispose]();
});

/** An address of the primary as one of the replica. */
const onReplica = (url: string) => Object.assign(new URL(url), { port: String(servers.replica.port) }).href;

/** Runs a statement as superuser in the database of the test. */
async function run(url: string, sql: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client.query(sql).finally(() => client.end());
}

const downloads = async () => {
  const { buckets, completeUntilMs } = await world.countDays();
  return { completeUntilMs, total: buckets.reduce((sum, bucket) => sum + bucket.downloads, 0n) };
};

test('numbers come from the read replica and say up to when it is complete; facts go to the primary', async () => {
  const sink = await world.startSink({ DATABASE_REPLICA_URL: onReplica(world.databaseUrl) });
  const replica = onReplica(servers.primary.adminUrl);
  await until(async () => (await downloads()).total === 0n, { despiteErrors: true });
  await run(replica, 'select pg_wal_replay_pause()');
  await world.publish(facts);
  await until(async () => (await world.stored()) === facts.length - 1);
  const behind = await downloads();
  expect(behind.total).toBe(0n);
  await run(replica, 'select pg_wal_replay_resume()');
  await until(async () => (await downloads()).total === 3n);
  expect((await downloads()).completeUntilMs).toBeGreaterThan(behind.completeUntilMs);

  await servers.replica.stop();
  await expect(world.countDays()).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  await world.publish(facts.slice(0, 1).map((one) => ({ ...one, fact_id: 'fct_later' })));
  await until(async () => (await world.stored()) === facts.length);
  await sink.stop();
});

test('a query that the replica ended, to go on following, may be sent again', () => {
  const ended = Object.assign(new Error('canceling statement due to conflict with recovery'), { code: '40001' });
  expect(databaseOutage(ended)).toMatchObject({ code: 'temporarily_unavailable' });
});
