import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { namesOf, services, type ServiceName } from '@longwave/services';
import { until } from '@longwave/test-kit';
import { createAccount, createRestClient, download, listenerAgentOf } from '@longwave/test-kit/clients';
import { Redis } from 'ioredis';
import pg from 'pg';
import { startTestFleet, type TestFleet } from '../_fleet.ts';
import { scrape, startCollector, sumOf } from '../_telemetry.ts';
import { makeTrialRun } from '../_trial-run.ts';

let collector: Awaited<ReturnType<typeof startCollector>>;
let world: TestFleet;
let enclosureUrl: string;

beforeAll(async () => {
  collector = await startCollector();
  const otlp = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    ...{ OTEL_BSP_SCHEDULE_DELAY: '100', OTEL_METRIC_EXPORT_INTERVAL: '1000' },
  };
  world = await startTestFleet({
    env: Object.fromEntries((['rest-gateway', 'auth-server', 'management'] as const).map((name) => [name, otlp])),
  });
  const result = await makeTrialRun(world.fleet);
  expect(result.failures).toEqual([]);
  enclosureUrl = result.enclosure_url!;
  for (const api of ['audience', 'hosting-exchange']) await fetch(`${world.fleet.urls.api}/${api}/v1/contract`);
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await collector?.[Symbol.asyncDispose]();
});

const scrapeOf = (service: ServiceName) => scrape(world.fleet.adminAddresses[service]);

/** How much a number of a service grows while something is done; what is not measured yet is 0. */
async function growth(
  service: ServiceName,
  name: string,
  labels: Record<string, string>,
  work: () => Promise<unknown>,
): Promise<number> {
  const before = sumOf((await scrapeOf(service)).samples, name, labels);
  await work();
  return sumOf((await scrapeOf(service)).samples, name, labels) - before;
}

/** Names in the first column of the tables of docs/observe.md, by service. */
function documentedMetrics(): Record<string, string[]> {
  const text = readFileSync(path.join(import.meta.dirname, '../../docs/observe.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `([a-z_]+)` +\|[^|]*\|[^|]*\| ([a-z, -]+?) +\|/gm)];
  const of = (service: string) =>
    rows
      .filter(([, , services]) => services === 'all' || services!.split(', ').includes(service))
      .map(([, name]) => name!);
  return Object.fromEntries(namesOf(services).map((service) => [service, of(service).sort()]));
}

test('docs/observe.md names exactly the metrics that each service exposes', async () => {
  const exposed = await Promise.all(
    namesOf(services).map(async (service) => {
      const { types } = await scrapeOf(service);
      return [service, [...types.keys()].filter((name) => name !== 'target_info').sort()] as const;
    }),
  );
  expect(Object.fromEntries(exposed)).toEqual(documentedMetrics());
});

test('metrics are on the private port alone', async () => {
  const { urls } = world.fleet;
  for (const url of [urls.base, urls.api, urls.media]) expect((await fetch(`${url}/metrics`)).status).toBe(404);
});

test('commands are measured by type and outcome: what succeeds, what is accepted, what is refused', async () => {
  const commands = async (service: 'management' | 'auth-server', labels: Record<string, string>) =>
    sumOf((await scrapeOf(service)).samples, 'longwave_command_duration_count', labels);
  expect(await commands('auth-server', { command: 'account.create', outcome: 'succeeded' })).toBeGreaterThan(0);
  expect(await commands('management', { command: 'podcast.create', outcome: 'succeeded' })).toBeGreaterThan(0);
  expect(await commands('management', { command: 'production.start', outcome: 'accepted' })).toBeGreaterThan(0);
  const account = await createAccount(world.operator);
  const refused = await growth(
    'management',
    'longwave_command_duration_count',
    { command: 'podcast.create', outcome: 'validation_failed' },
    () =>
      world.operator
        .command(account.workspaceId, 'podcast.create', { type: 'podcasts' }, { nonsense: 1 })
        .catch(() => undefined),
  );
  expect(refused).toBe(1);
});

test('HTTP requests are measured by operation and class of status', async () => {
  const { apiKey } = await createAccount(world.operator);
  const rest = createRestClient(world.fleet.urls.base, apiKey);
  const requests = async (status: string) => {
    const { samples } = await scrapeOf('rest-gateway');
    return sumOf(samples, 'longwave_http_duration_count', { operation: 'GET /podcasts/{id}', status });
  };
  const before = await requests('4xx');
  await rest.get('/podcasts/pod_none').catch(() => undefined);
  await until('the request in the metric', async () => (await requests('4xx')) === before + 1);
});

test('a listener moves decisions, redirects and bytes', async () => {
  const decided = async () => sumOf((await scrapeOf('internal-serving')).samples, 'longwave_decide_duration_count');
  const before = await decided();
  let sizeBytes = 0;
  const work = async () => {
    sizeBytes = (await download(enclosureUrl, listenerAgentOf(91))).bytes.length;
    await until('the decision', async () => (await decided()) > before);
  };
  const redirects = () => growth('public-delivery', 'longwave_delivery_redirects_total', {}, work);
  expect(await growth('public-delivery', 'longwave_delivery_bytes_total', {}, redirects)).toBe(sizeBytes);
  expect(sumOf((await scrapeOf('public-delivery')).samples, 'longwave_delivery_redirects_total')).toBeGreaterThan(1);
  expect(await decided()).toBe(before + 1);
});

test('a message that nobody can read is a dead letter of each group, and nothing waits behind it', async () => {
  const redis = new Redis(world.fleet.redisUrl);
  await redis.xadd('bus:product.events:0', '*', 'nonsense', '1');
  await redis.quit();
  const labels = { topic: 'product.events', group: 'public-delivery' };
  await until('the dead letter', async () => {
    const { samples } = await scrapeOf('public-delivery');
    const dead = sumOf(samples, 'longwave_follower_dead_letters_total', labels);
    return dead === 1 && sumOf(samples, 'longwave_follower_lag', labels) === 0;
  });
  expect(sumOf((await scrapeOf('public-delivery')).samples, 'longwave_follower_delay_count', labels)).toBeGreaterThan(
    0,
  );
});

test('jobs are counted by kind and state', async () => {
  const database = new pg.Client({ connectionString: world.fleet.databaseUrls['product'] });
  await database.connect();
  const insert = (state: string) =>
    database.query(
      `insert into product.job (id, kind, workspace_id, subject_type, subject_id, subject_version, state, input, created_at, lease_until)
       values ($1, 'encode_segment', 'ws_none', 'none', 'none_1', 1, $2, '{}', now(), now() + interval '1 hour')`,
      [`job_${state}`, state],
    );
  const labels = { kind: 'encode_segment', state: 'running' };
  expect(await growth('management', 'longwave_jobs', labels, () => insert('running'))).toBe(1);
  expect(
    await growth('management', 'longwave_jobs', labels, () =>
      database.query(`delete from product.job where id like 'job_running'`),
    ),
  ).toBe(-1);
  await database.end();
});

test('one request is one trace, from the gateway through management to PostgreSQL, and carries no credential', async () => {
  const account = await createAccount(world.operator);
  const rest = createRestClient(world.fleet.urls.base, account.apiKey);
  const title = 'A podcast that is traced';
  await rest.post('/podcasts', { title, language: 'en' });
  const rootOf = () =>
    collector.spans.findLast(({ service, name }) => service === 'rest-gateway' && name === 'POST /api/v1/podcasts');
  const traceOf = (root = rootOf()) => collector.spans.filter(({ traceId }) => traceId === root?.traceId);
  const has = (service: string, library: string) =>
    traceOf().some((span) => span.service === service && span.library === library);
  await until(
    'the trace',
    async () => has('rest-gateway', 'http') && has('management', 'grpc') && has('management', 'pg'),
  );
  const trace = traceOf();
  expect(trace.filter(({ parentSpanId }) => !parentSpanId)).toHaveLength(1);
  const ids = new Set(trace.map(({ spanId }) => spanId));
  expect(trace.filter(({ parentSpanId }) => parentSpanId && !ids.has(parentSpanId))).toEqual([]);
  expect(new Set(trace.map(({ service }) => service))).toEqual(new Set(['rest-gateway', 'auth-server', 'management']));
  const secrets = [account.apiKey, title];
  expect(collector.spans.filter(({ attributes }) => secrets.some((secret) => attributes.includes(secret)))).toEqual([]);
  expect([...collector.paths].sort()).toEqual(['/v1/metrics', '/v1/traces']);
});

test('while Redis is away, events and facts wait where the metrics say, and nothing waits afterwards', async () => {
  const account = await createAccount(world.operator);
  const rest = createRestClient(world.fleet.urls.base, account.apiKey);
  const lag = async () => sumOf((await scrapeOf('management')).samples, 'longwave_outbox_lag');
  const backlog = async () => sumOf((await scrapeOf('public-delivery')).samples, 'longwave_facts_backlog');
  const nothingWaits = async () => (await lag()) === 0 && (await backlog()) === 0;
  await until('a quiet start', nothingWaits);
  world.fleet.engines.redis.kill('SIGSTOP');
  try {
    await rest.post('/podcasts', { title: 'While Redis is away', language: 'en' });
    await download(enclosureUrl, listenerAgentOf(92));
    await until('the wait', async () => (await lag()) > 0.1 && (await backlog()) > 0);
  } finally {
    world.fleet.engines.redis.kill('SIGCONT');
  }
  await until('the end of the wait', nothingWaits);
});
