import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { namesOf, services, type ServiceName } from '@longwave/services';
import { newId } from '@longwave/ids';
import { createBrowser, until } from '@longwave/test-kit';
import { createAccount, createRestClient, download, listenerAgentOf } from '@longwave/test-kit/clients';
import { Redis } from 'ioredis';
import pg from 'pg';
import { startTestFleet, type TestFleet } from '../_fleet.ts';
import { isCluster } from '../_profile.ts';
import { documentedMetrics, labelValues, measuredLabels, scrape, startCollector, sumOf } from '../_telemetry.ts';
import { listQueries, readPromql } from '../_promql.ts';
import { makeTrialRun } from '../_trial-run.ts';

/** libs/event-bus/tests has the same on Kafka. */
const testOnRedis = isCluster ? test.skip : test;
/** All other services have one. */
const withoutCollector: ServiceName = 'mcp-server';
let collector: Awaited<ReturnType<typeof startCollector>>;
let world: TestFleet;
let enclosureUrl: string;
let podcastId: string;

beforeAll(async () => {
  collector = await startCollector();
  const otlp = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    ...{ OTEL_BSP_SCHEDULE_DELAY: '100', OTEL_METRIC_EXPORT_INTERVAL: '1000' },
  };
  world = await startTestFleet({
    env: Object.fromEntries(namesOf(services).map((name) => [name, name === withoutCollector ? {} : otlp])),
    trustedProxies: '127.0.0.1/32',
    // The metrics of a service are those of one process.
    replicas: 1,
  });
  const result = await makeTrialRun(world.fleet);
  expect(result.failures).toEqual([]);
  enclosureUrl = result.enclosure_url!;
  podcastId = result.podcast_id!;
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

testOnRedis('a message that nobody can read is a dead letter of each group, and nothing waits behind it', async () => {
  const redis = new Redis(world.fleet.redisUrl);
  await redis.xadd('bus:product.events:0', '*', 'nonsense', '1');
  await redis.quit();
  const labels = { topic: 'product.events', group: 'public-delivery' };
  await until('the dead letter', async () => {
    const { samples } = await scrapeOf('public-delivery');
    const dead = sumOf(samples, 'longwave_follower_dead_letters_total', labels);
    return dead === 1 && sumOf(samples, 'longwave_follower_lag', labels) === 0;
  });
  const { samples } = await scrapeOf('public-delivery');
  expect(sumOf(samples, 'longwave_follower_delay_count', labels)).toBeGreaterThan(0);
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
    async () =>
      has('rest-gateway', 'http') &&
      has('management', 'grpc') &&
      has('management', 'pg') &&
      traceOf().every(collector.isWhole),
  );
  const trace = traceOf();
  expect(trace.filter(({ parentSpanId }) => !parentSpanId)).toHaveLength(1);
  // Where the event is followed, the trace goes on.
  const answering = trace.filter(
    (span) => !collector.hopsTo(span).some((hop) => hop.includes('process product.events')),
  );
  expect(new Set(answering.map(({ service }) => service))).toEqual(
    new Set(['rest-gateway', 'auth-server', 'management']),
  );
  const secrets = [account.apiKey, title];
  const told = JSON.stringify(collector.spans);
  expect(secrets.filter((secret) => told.includes(secret))).toEqual([]);
  expect([...collector.paths].sort()).toEqual(['/v1/metrics', '/v1/traces']);
  // Workers and followers ask again and again, for nobody.
  const idle = collector.spans.filter(({ name }) => /\/(Carry|ClaimJob|FollowChanges|RenewLease)$/.test(name));
  expect(idle).toEqual([]);
});

const spanAt = (service: ServiceName, name: string, isWanted: (hops: readonly string[]) => boolean) =>
  until(`${name} in ${service}`, async () => collector.find(service, name, isWanted));

test('one trace follows a command from the gateway over its leased job to the encoder, and its report over the bus to delivery', async () => {
  const command = 'longwave.command.v1.CommandService/Execute';
  const start = 'rest-gateway: server POST /api/v1/productions/:id/start';
  const applied = await spanAt(
    'public-delivery',
    'process product.events',
    (hops) => hops[0] === start && hops[3]?.startsWith('encoder:') === true && hops.length === 8,
  );
  expect(collector.hopsTo(applied)).toEqual([
    start,
    `rest-gateway: client ${command}`,
    `management: server ${command}`,
    'encoder: consumer process encode_production',
    `encoder: client ${command}`,
    `management: server ${command}`,
    'management: producer send product.events',
    'public-delivery: consumer process product.events',
  ]);
  const [sent, processed] = collector.pathTo(applied).slice(-2);
  const messaging = {
    'messaging.system': isCluster ? 'kafka' : 'redis_streams',
    'messaging.destination.name': 'product.events',
  };
  expect(sent!.attributes).toMatchObject({ ...messaging, 'messaging.operation.type': 'send' });
  expect(processed!.attributes).toMatchObject({
    ...{ ...messaging, 'messaging.operation.type': 'process' },
    ...{ 'messaging.consumer.group.name': 'public-delivery', 'messaging.batch.message_count': 1 },
    'messaging.message.id': sent!.attributes['messaging.message.id'],
  });
  // Management reacts to the same event, and publishes the episode in the same trace.
  await spanAt('public-delivery', 'process product.events', (hops) =>
    hops.includes('management: consumer process product.events'),
  );
});

test('one trace follows a download from its enclosure over the decision, the file and the bus to the count', async () => {
  await download(enclosureUrl, listenerAgentOf(93));
  const enclosure = 'public-delivery: server GET /delivery/v1/e/:alias/:file';
  const counted = await spanAt('analytics-sink', 'process delivery.facts', (hops) => hops[0] === enclosure);
  expect(collector.hopsTo(counted)).toEqual([
    enclosure,
    'public-delivery: producer send delivery.facts',
    'analytics-sink: consumer process delivery.facts',
  ]);
  const sending = collector.pathTo(counted).find(({ name }) => name === 'audio.send')!;
  const file = 'GET /delivery/v1/p/:token/:file';
  const request = await until('its request', async () =>
    collector.spans.find(({ spanId }) => spanId === sending.links[0]!.spanId),
  );
  expect(request).toMatchObject({ name: file, links: [{ traceId: sending.traceId }] });
  expect(request.traceId).not.toBe(sending.traceId);
  await spanAt(
    'internal-serving',
    'longwave.serving.v1.ServingService/Decide',
    (hops) => hops[0] === enclosure && hops.length === 3,
  );
});

test('the log line of a request names its trace and its span', async () => {
  const answer = await fetch(`${world.fleet.urls.base}/api/v1/podcasts/${podcastId}`);
  const requestId = answer.headers.get('x-request-id')!;
  const log = path.join(world.fleet.logsFolder, 'rest-gateway.log');
  const line = await until('the line', async () =>
    readFileSync(log, 'utf8')
      .split('\n')
      .find((each) => each.includes(requestId) && each.includes('request.served')),
  );
  const { trace_id: traceId, span_id: spanId } = JSON.parse(line) as Record<string, string>;
  await until('its span', async () =>
    collector.spans.some((span) => span.traceId === traceId && span.spanId === spanId && span.kind === 2),
  );
});

test('a service without a collector sends nothing, writes no trace into its log, and answers Prometheus all the same', async () => {
  const { mcp, base } = world.fleet.urls;
  const asked = await fetch(`${mcp}/mcp`, { method: 'POST' });
  await fetch(`${base}/api/v1/podcasts`);
  const requestId = asked.headers.get('x-request-id')!;
  const log = await until('its line', async () => {
    const text = readFileSync(path.join(world.fleet.logsFolder, `${withoutCollector}.log`), 'utf8');
    return text.includes(requestId) ? text : undefined;
  });
  expect(log).not.toContain('trace_id');
  expect((await scrapeOf(withoutCollector)).samples.size).toBeGreaterThan(0);
  const sending = new Set(
    collector.bodies.flatMap((body) => /"service\.name".*?"stringValue":"([\w-]+)"/.exec(body)?.[1] ?? []),
  );
  expect([...sending].sort()).toEqual(
    namesOf(services)
      .filter((name) => name !== withoutCollector)
      .sort(),
  );
});

test('nothing that is sent to a collector has a credential, a delivery token, an address or an agent', async () => {
  const email = `${newId('usr')}@example.com`;
  const account = await createAccount(world.operator, 'network', { email });
  const rest = createRestClient(world.fleet.urls.base, account.apiKey);
  await rest.post('/account/members', { email: `second-${email}`, permissions: ['edit'] });
  const [forwarded, agent] = ['203.0.113.77', 'AntennaPod/3.5.94'];
  const headers = { 'x-forwarded-for': forwarded, 'user-agent': agent };
  await createBrowser(world.fleet.urls.base, forwarded).post('/sign-in', { email, password: 'wrong' }, {}, '/sign-in');
  const redirect = await fetch(enclosureUrl, { headers, redirect: 'manual' });
  const file = redirect.headers.get('location')!;
  await fetch(file, { headers });
  await fetch(`${file}x`, { headers });
  const asked = collector.spans.length;
  const marked = await fetch(`${world.fleet.urls.base}/api/v1/podcasts/pod_none`, {
    headers: { token: account.apiKey },
  });
  const requestId = marked.headers.get('x-request-id')!;
  expect(requestId).toBeDefined();
  await until('what was done', async () =>
    ['rest-gateway', 'auth-server', 'public-delivery', 'analytics-sink'].every((service) =>
      collector.spans.slice(asked).some((span) => span.service === service),
    ),
  );
  const told = collector.bodies.join('\n');
  const secrets = [account.apiKey, email, forwarded, agent, /\/p\/([^/]+)\//.exec(file)![1]!];
  expect(secrets.filter((secret) => told.includes(secret))).toEqual([]);
  const shapes = {
    'a delivery token': /t1\.[\w-]{40,}/,
    'a credential': /lw_(?:key|pat|mcp|ses)_[\w-]{8,}|[Bb]earer [\w-]{8,}|eyJ[\w-]{8,}\./,
    'a signature': /X-Amz-Signature=[0-9a-f]/,
    'an e-mail address': /[\w.+-]+@[\w-]+\.[a-z]{2,}/,
  };
  const found = Object.entries(shapes).flatMap(([name, shape]) => {
    const at = told.search(shape);
    return at < 0 ? [] : [`${name}: ${told.slice(Math.max(0, at - 80), at + 80)}`];
  });
  expect(found).toEqual([]);
});

test('the metrics of every alert and dashboard are there, with the labels that they are chosen, grouped and shown by', async () => {
  const measured = await measuredLabels(Object.values(world.fleet.adminAddresses));
  const queries = listQueries();
  expect(queries.length).toBeGreaterThan(30);
  const wrong = queries.flatMap(({ place, expr, shown }) => {
    const { metrics, groups } = readPromql(expr);
    const unknown = metrics.filter(({ name }) => !measured.has(name)).map(({ name }) => `${place}: ${name}`);
    const missing = metrics.flatMap(({ name, labels }) =>
      [...labels, ...groups]
        .filter((label) => !measured.get(name)?.has(label))
        .map((label) => `${place}: ${name}{${label}}`),
    );
    // What is grouped has no labels but those that it is grouped by.
    const isGrouped = /\b(?:sum|max|min|avg|count)\b/.test(expr);
    const lost = shown.filter((label) =>
      isGrouped ? !groups.includes(label) : !measured.get(metrics[0]!.name)?.has(label),
    );
    return [...unknown, ...missing, ...lost.map((label) => `${place}: its text shows ${label}`)];
  });
  expect(wrong).toEqual([]);
});

test('no label grows with accounts, resources, listeners or what clients send', async () => {
  const { base, api, media } = world.fleet.urls;
  /** The same work by somebody else, on other resources, with other addresses. */
  const use = async () => {
    const { apiKey, workspaceId } = await createAccount(world.operator);
    const rest = createRestClient(base, apiKey);
    const { id } = await rest.post<{ id: string }>('/podcasts', { title: newId('pod'), language: 'en' });
    await rest.get(`/podcasts/${id}`);
    const nonsense = newId('req');
    await world.operator.command(workspaceId, `podcast.${nonsense}`, { type: 'podcasts' }, {}).catch(() => undefined);
    const paths = [`${base}/api/v1/${nonsense}`, `${api}/audience/v1/${nonsense}`, `${api}/management/v1/${nonsense}`];
    for (const path of [...paths, `${media}/${nonsense}`, `${media}/delivery/v1/e/${nonsense}/a.mp3`])
      await fetch(path, { method: 'POST', headers: { 'user-agent': nonsense } });
    for (const path of [`${media}/feeds/${nonsense}.xml`, `${api}/hosting-exchange/v1/${nonsense}`]) await fetch(path);
    await download(enclosureUrl, `AntennaPod/3.5.${Math.trunc(performance.now())}`);
  };
  // What the first use measures when its answers have ended is there before the second has ended.
  await use();
  await use();
  const before = await labelValues(world.fleet.adminAddresses);
  expect(before.size).toBeGreaterThan(50);
  await use();
  const after = await labelValues(world.fleet.adminAddresses);
  expect([...after.difference(before)]).toEqual([]);
  const ids = [...after].filter((value) => /[a-z]{2,4}_[0-9a-z]{20,}|[0-9a-f]{16,}|\d{6,}|https?:|@/.test(value));
  expect(ids).toEqual([]);
});

test('while the event bus is away, events and facts wait where the metrics say, and nothing waits afterwards', async () => {
  const account = await createAccount(world.operator);
  const rest = createRestClient(world.fleet.urls.base, account.apiKey);
  const lag = async () => sumOf((await scrapeOf('management')).samples, 'longwave_outbox_lag');
  const backlog = async () => sumOf((await scrapeOf('public-delivery')).samples, 'longwave_facts_backlog');
  const nothingWaits = async () => (await lag()) === 0 && (await backlog()) === 0;
  await until('a quiet start', nothingWaits);
  const bus = isCluster ? world.fleet.engines.kafka! : world.fleet.engines.redis;
  bus.kill('SIGSTOP');
  try {
    await rest.post('/podcasts', { title: 'While the bus is away', language: 'en' });
    await download(enclosureUrl, listenerAgentOf(92));
    await until('the wait', async () => (await lag()) > 0.1 && (await backlog()) > 0);
  } finally {
    bus.kill('SIGCONT');
  }
  await until('the end of the wait', nothingWaits);
});
