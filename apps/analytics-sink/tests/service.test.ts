import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { methodologyVersion } from '@longwave/audience';
import { createEventBus, type EventBus } from '@longwave/event-bus';
import { topics, type DeliveryFact } from '@longwave/events';
import {
  developmentCa,
  freePorts,
  removeDataFolder,
  startChild,
  startTestDatabase,
  startTestRedis,
  temporaryDataFolder,
  workspaceRoot,
  type Child,
  type DataFolder,
  type TestDatabase,
  type TestRedis,
} from '@longwave/fleet';
import { createPool, type Pool } from '@longwave/postgres';
import { signPrincipal } from '@longwave/principal';
import { openChannel, readTls, type RpcClient } from '@longwave/rpc';
import { AudienceServiceService, Dimension, Granularity } from '@longwave/rpc/audience';
import { exportJWK, generateKeyPair } from 'jose';
import { dataFolder, fact, seen, totalBytes } from './_facts.ts';

const day = (on: string) => BigInt(Date.parse(`${on}T00:00:00Z`));
const november = { fromMs: day('2025-11-01'), toMs: day('2025-11-05') };

/** Signed statements of the workspaces' owners. */
const statements: Record<string, string> = {};
const ownerOf = (workspaceId: string) => ({ deadlineMs: 5_000, principalStatement: statements[workspaceId] });

type ServiceUnderTest = 'analytics-sink' | 'rest-gateway' | 'management' | 'encoder';

let folder: DataFolder;
let database: TestDatabase;
let redis: TestRedis;
let pool: Pool;
let bus: EventBus;
let sink: Child;
let grpcPort: number;
let healthPort: number;
let identities: Awaited<ReturnType<typeof developmentCa<ServiceUnderTest>>>;
let gateway: RpcClient<typeof AudienceServiceService>;

/** Waits until `condition` holds; rejects after 20 s. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 20_000;
  while (!(await condition().catch(() => false))) {
    if (Date.now() > end) throw new Error('waited in vain');
    await pause(20);
  }
}

/** Makes a key pair, tells the sink its public half and signs a statement for each owner. */
async function signStatements(): Promise<void> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true });
  const named = { kid: 'one', alg: 'EdDSA' };
  const keys = [{ ...(await exportJWK(publicKey)), ...named }];
  writeFileSync(folder.inside('principal-keys.json'), JSON.stringify({ keys }));
  const signingKey = { ...(await exportJWK(privateKey)), ...named };
  for (const workspaceId of ['ws_1', 'ws_2'])
    statements[workspaceId] = await signPrincipal(
      {
        account_id: 'acc_1',
        workspace_id: workspaceId,
        roles: ['owner'],
        grants: [],
        credential_id: 'crd_1',
        credential_kind: 'api_key',
        read_only: false,
      },
      signingKey,
      new Date(),
      3600,
    );
}

async function startSink(): Promise<Child> {
  const { ca, cert, key } = identities['analytics-sink'];
  const child = await startChild({
    name: 'analytics-sink',
    command: process.execPath,
    args: [path.join(workspaceRoot, 'apps/analytics-sink/src/main.ts')],
    env: {
      LOG_LEVEL: 'debug',
      HEALTH_LISTEN: `127.0.0.1:${healthPort}`,
      GRPC_LISTEN: `127.0.0.1:${grpcPort}`,
      TLS_CA: ca,
      TLS_CERT: cert,
      TLS_KEY: key,
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      PRINCIPAL_KEYS: folder.inside('principal-keys.json'),
      ACCESS_TOKEN_KEYS: folder.inside('principal-keys.json'),
      HTTP_LISTEN: '127.0.0.1:0',
      BASE_URL: 'http://base.test',
      API_URL: 'http://api.test',
      AUDIENCE_DATA: dataFolder,
    },
    logFile: folder.logFile('analytics-sink'),
    pidFolder: folder.pids,
    stopSignal: 'SIGTERM',
  });
  await until(async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok);
  return child;
}

function clientOf(name: ServiceUnderTest) {
  const channel = openChannel(`127.0.0.1:${grpcPort}`, 'analytics-sink', readTls(identities[name]));
  return channel.client(AudienceServiceService);
}

async function publish(facts: readonly DeliveryFact[]): Promise<void> {
  const keyOf = (one: DeliveryFact) =>
    one.kind === 'user_agent_seen' ? one.user_agent_digest : `${one.listener_key}${one.episode_id}`;
  await bus.publish(
    facts.map((one) => ({
      topic: topics.deliveryFacts,
      key: keyOf(one),
      id: one.fact_id,
      type: one.kind,
      payload: one,
    })),
  );
}

const stored = async (): Promise<number> =>
  (await pool.query<{ count: number }>('select count(*)::int as count from fact')).rows[0]!.count;

function countDays(workspaceId = 'ws_1', episodeId = '') {
  const request = { workspaceId, podcastId: 'pod_1', episodeId, range: november, granularity: Granularity.DAY };
  return gateway.countDownloads(request, ownerOf(workspaceId));
}

beforeAll(async () => {
  folder = temporaryDataFolder();
  [database, redis] = await Promise.all([
    startTestDatabase({ schema: 'audience', migrations: 'apps/analytics-sink/prisma' }),
    startTestRedis(),
  ]);
  [grpcPort, healthPort] = (await freePorts(2)) as [number, number];
  identities = await developmentCa(
    folder.inside('tls'),
    ['analytics-sink', 'rest-gateway', 'management', 'encoder'],
    new Date(),
  );
  await signStatements();
  pool = createPool(database.adminUrl, 'audience', { name: 'test' });
  bus = createEventBus({ kind: 'redis', redisUrl: redis.url, clientName: 'test' });
  gateway = clientOf('rest-gateway');
}, 60_000);

afterAll(async () => {
  gateway?.close();
  await bus?.[Symbol.asyncDispose]();
  await pool?.end();
  await redis?.stop();
  await database?.stop();
  removeDataFolder(folder);
});

beforeEach(async () => {
  await pool.query(`truncate user_agent, layout, fact, pending_fact, listener_episode, served_request, session, ad_delivered,
    download_hour, download_audience_hour, restatement`);
  sink = await startSink();
}, 30_000);
afterEach(async () => void (await sink.stop()), 30_000);

/** Two listeners on three days: three downloads, two of them with the ad; a probe, a bot's network and half a listen. */
const facts: readonly DeliveryFact[] = [
  fact({ fact_id: 'fct_1', listener_key: 'anna' }),
  fact({ fact_id: 'fct_2', listener_key: 'anna', started_at: '2025-11-03T08:00:00.000Z' }),
  fact({ fact_id: 'fct_3', listener_key: 'bert', episode_id: 'ep_2', written: [[161_000, totalBytes]] }),
  fact({ fact_id: 'fct_4', listener_key: 'carl', requested: [[0, 2]], written: [[0, 2]], status: 206 }),
  fact({ fact_id: 'fct_5', listener_key: 'dora', address_verdict: 'dc_ip' }),
  fact({ fact_id: 'fct_6', listener_key: 'emil', written: [[0, 500_000]] }),
  seen(),
];

test('facts on the bus become numbers: zero-filled days, episodes and ads, within the workspace', async () => {
  await publish(facts);
  await until(async () => (await countDays()).buckets.reduce((sum, bucket) => sum + bucket.downloads, 0n) === 3n);
  const { buckets, ...rest } = await countDays();
  expect(buckets).toEqual([
    { startMs: day('2025-11-01'), downloads: 0n, listeners: 0n },
    { startMs: day('2025-11-02'), downloads: 2n, listeners: 2n },
    { startMs: day('2025-11-03'), downloads: 1n, listeners: 1n },
    { startMs: day('2025-11-04'), downloads: 0n, listeners: 0n },
  ]);
  expect(rest.methodologyVersion).toBe(methodologyVersion);
  expect(rest.completeUntilMs).toBe(BigInt(Date.parse('2025-11-03T07:59:30Z')));
  expect((await countDays('ws_1', 'ep_2')).buckets.map((bucket) => Number(bucket.downloads))).toEqual([0, 1, 0, 0]);

  const month = await gateway.countDownloads(
    { workspaceId: 'ws_1', podcastId: 'pod_1', episodeId: '', range: november, granularity: Granularity.MONTH },
    ownerOf('ws_1'),
  );
  expect(month.buckets).toEqual([{ startMs: day('2025-11-01'), downloads: 3n, listeners: 2n }]);
  const byEpisode = await gateway.countByEpisode(
    { workspaceId: 'ws_1', podcastId: 'pod_1', range: november },
    ownerOf('ws_1'),
  );
  expect(byEpisode.episodes).toEqual([
    { episodeId: 'ep_1', downloads: 2n },
    { episodeId: 'ep_2', downloads: 1n },
  ]);
  for (const scope of [
    { $case: 'podcastId' as const, value: 'pod_1' },
    { $case: 'campaignId' as const, value: 'cmp_1' },
    { $case: 'lineItemId' as const, value: 'li_1' },
  ]) {
    expect(await gateway.countAds({ workspaceId: 'ws_1', range: november, scope }, ownerOf('ws_1'))).toEqual({
      delivered: 2n,
    });
    expect(await gateway.countAds({ workspaceId: 'ws_2', range: november, scope }, ownerOf('ws_2'))).toEqual({
      delivered: 0n,
    });
  }
  expect((await countDays('ws_2')).buckets.every((one) => one.downloads === 0n && one.listeners === 0n)).toBe(true);
  const foreign = await gateway.countByEpisode(
    { workspaceId: 'ws_2', podcastId: 'pod_1', range: november },
    ownerOf('ws_2'),
  );
  expect(foreign.episodes).toEqual([]);
});

test('the same downloads by dimension, as totals and as rows of an export', async () => {
  await publish(facts);
  await until(async () => (await countDays()).buckets.reduce((sum, bucket) => sum + bucket.downloads, 0n) === 3n);
  const scope = { workspaceId: 'ws_1', podcastId: 'pod_1', range: november };
  const byApp = await gateway.countByDimension({ ...scope, episodeId: '', dimension: Dimension.APP }, ownerOf('ws_1'));
  expect(byApp.counts).toEqual([{ key: 'Overcast', downloads: 3n }]);
  const ofOne = await gateway.countByDimension(
    { ...scope, episodeId: 'ep_2', dimension: Dimension.COUNTRY },
    ownerOf('ws_1'),
  );
  expect(ofOne).toMatchObject({
    counts: [{ key: 'DE', downloads: 1n }],
    methodologyVersion,
    completeUntilMs: BigInt(Date.parse('2025-11-03T07:59:30Z')),
  });
  const asked = { workspaceId: 'ws_1', podcastIds: ['pod_1', 'pod_2'], range: november };
  const rows = [
    { dayMs: day('2025-11-02'), episodeId: 'ep_1', downloads: 1n, listeners: 1n },
    { dayMs: day('2025-11-02'), episodeId: 'ep_2', downloads: 1n, listeners: 1n },
    { dayMs: day('2025-11-03'), episodeId: 'ep_1', downloads: 1n, listeners: 1n },
  ];
  // Management asks as itself: its export job acts for nobody.
  const management = clientOf('management');
  for (const [client, options] of [
    [gateway, ownerOf('ws_1')],
    [management, { deadlineMs: 5_000 }],
  ] as const) {
    expect((await client.countTotals(asked, options)).podcasts).toEqual([
      { podcastId: 'pod_1', downloads: 3n, listeners: 2n },
      { podcastId: 'pod_2', downloads: 0n, listeners: 0n },
    ]);
    expect((await client.exportDays(scope, options)).days).toEqual(rows);
  }
  await expect(management.countByEpisode(scope, ownerOf('ws_1'))).rejects.toMatchObject({ code: 'permission_denied' });
  management.close();
});

test('facts published again change no number', async () => {
  await publish(facts);
  await until(async () => (await stored()) === 6);
  const before = await countDays();
  const after = fact({ fact_id: 'fct_7', listener_key: 'last', podcast_id: 'pod_2', episode_id: 'ep_9' });
  await publish([...facts, ...facts, after]);
  await until(async () => (await stored()) === 7);
  expect((await countDays()).buckets).toEqual(before.buckets);
});

test('a process killed in the middle of a batch leaves nothing half counted, and its successor counts once', async () => {
  const blocker = await pool.connect();
  await blocker.query('begin');
  await blocker.query('lock table session in exclusive mode');
  await publish(facts);
  // The batch has stored its facts and stands before the sessions.
  await until(async () => {
    const { rowCount } = await pool.query(
      `select 1 from pg_stat_activity where application_name = 'analytics-sink' and wait_event_type = 'Lock'
       and query like 'insert into session%'`,
    );
    return rowCount !== 0;
  });
  sink.kill('SIGKILL');
  await sink.exited;
  await blocker.query('rollback');
  blocker.release();
  await until(async () => {
    const { rowCount } = await pool.query(`select 1 from pg_stat_activity where application_name = 'analytics-sink'`);
    return rowCount === 0;
  });
  sink = await startSink();
  await until(async () => (await countDays()).buckets.reduce((sum, bucket) => sum + bucket.downloads, 0n) === 3n);
  await until(async () => (await stored()) === 6);
  expect((await countDays()).buckets.map((bucket) => Number(bucket.downloads))).toEqual([0, 2, 1, 0]);
  const scope = { $case: 'lineItemId' as const, value: 'li_1' };
  expect(await gateway.countAds({ workspaceId: 'ws_1', range: november, scope }, ownerOf('ws_1'))).toEqual({
    delivered: 2n,
  });
}, 60_000);

test('a message that is no fact becomes a dead letter and holds up nothing', async () => {
  await bus.publish([{ topic: topics.deliveryFacts, key: 'anna', id: 'bad', type: 'x', payload: { kind: 'nothing' } }]);
  await publish(facts);
  await until(async () => (await bus.listDeadLetters(topics.deliveryFacts, 'analytics-sink')).length === 1);
  await until(async () => (await stored()) === 6);
});

test('only the gateway and the operator may ask, and a wrong question says what is wrong', async () => {
  const encoder = clientOf('encoder');
  const request = { workspaceId: 'ws_1', podcastId: 'pod_1', range: november };
  await expect(encoder.countByEpisode(request, ownerOf('ws_1'))).rejects.toMatchObject({ code: 'permission_denied' });
  encoder.close();
  await expect(gateway.countByEpisode({ ...request, workspaceId: '' }, ownerOf('ws_1'))).rejects.toMatchObject({
    code: 'validation_failed',
  });
  const unnamed = { ...request, episodeId: '', dimension: Dimension.UNSPECIFIED };
  await expect(gateway.countByDimension(unnamed, ownerOf('ws_1'))).rejects.toMatchObject({ code: 'validation_failed' });
  const month = { fromMs: november.fromMs, toMs: november.fromMs + 31n * 86_400_000n };
  expect((await gateway.exportDays({ ...request, range: month }, ownerOf('ws_1'))).days).toEqual([]);
  await expect(
    gateway.exportDays({ ...request, range: { ...month, toMs: month.toMs + 1n } }, ownerOf('ws_1')),
  ).rejects.toMatchObject({ code: 'validation_failed' });
  const backwards = { fromMs: november.toMs, toMs: november.fromMs };
  await expect(gateway.countByEpisode({ ...request, range: backwards }, ownerOf('ws_1'))).rejects.toMatchObject({
    code: 'validation_failed',
  });
});
