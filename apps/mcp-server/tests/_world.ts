import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createEventBus } from '@longwave/event-bus';
import { topics, type DecisionMade } from '@longwave/events';
import {
  awayAddresses,
  freePorts,
  removeDataFolder,
  startChild,
  startTestDatabase,
  startTestObjectStore,
  temporaryDataFolder,
  workspaceRoot,
} from '@longwave/fleet';
import { createManagement, type Asker, type Management } from '@longwave/hosting-client';
import { openChannel, readTls } from '@longwave/rpc';
import { until } from '@longwave/test-kit';
import pg from 'pg';
import { tools } from '../src/tools/tools.ts';
import { mediaUrl, openInstallation, startMcpServer } from './_mcp.ts';
import { principalOf } from './_people.ts';

/** The output of a tool, in the names of its schema. */
export type Output = Readonly<Record<string, unknown>>;

type Installation = Awaited<ReturnType<typeof openInstallation>>;

/** Starts a service from its sources, and waits until it is ready. Answers its gRPC address. */
async function startService(
  stack: AsyncDisposableStack,
  { identities, redisUrl, principalKeys }: Installation,
  name: 'management' | 'analytics-sink',
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = temporaryDataFolder();
  stack.defer(() => removeDataFolder(folder));
  const [grpcPort, healthPort] = await freePorts(2);
  const child = await startChild({
    name,
    command: process.execPath,
    args: [path.join(workspaceRoot, `apps/${name}/src/main.ts`)],
    env: {
      LOG_LEVEL: 'info',
      HEALTH_LISTEN: `127.0.0.1:${healthPort}`,
      GRPC_LISTEN: `127.0.0.1:${grpcPort}`,
      TLS_CA: identities[name].ca,
      TLS_CERT: identities[name].cert,
      TLS_KEY: identities[name].key,
      REDIS_URL: redisUrl,
      PRINCIPAL_KEYS: principalKeys,
      ...awayAddresses(name),
      ...env,
    },
    logFile: folder.logFile(name),
    pidFolder: folder.pids,
    stopSignal: 'SIGTERM',
  });
  stack.defer(async () => void (await child.stop()));
  await until(async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok, { despiteErrors: true });
  return `127.0.0.1:${grpcPort}`;
}

async function startSink(stack: AsyncDisposableStack, installation: Installation): Promise<string> {
  const database = stack.use(await startTestDatabase({ schema: 'audience', migrations: 'apps/analytics-sink/prisma' }));
  return startService(stack, installation, 'analytics-sink', {
    DATABASE_URL: database.url,
    ACCESS_TOKEN_KEYS: installation.principalKeys,
    HTTP_LISTEN: '127.0.0.1:0',
    BASE_URL: 'http://longwave.test',
    API_URL: 'http://api.test',
    AUDIENCE_DATA: path.join(workspaceRoot, 'libs/audience/data'),
  });
}

async function startManagement(stack: AsyncDisposableStack, installation: Installation, sink: string) {
  const [database, store, [encoderPort]] = await Promise.all([
    startTestDatabase({ schema: 'product', migrations: 'apps/management/prisma' }),
    startTestObjectStore(),
    freePorts(1),
  ]);
  stack.use(database);
  stack.use(store);
  const receiptKey = path.join(installation.folder, 'receipt-key.json');
  writeFileSync(receiptKey, JSON.stringify(installation.signingKey));
  const address = await startService(stack, installation, 'management', {
    DATABASE_URL: database.url,
    ENCODER_ADDRESS: `127.0.0.1:${encoderPort}`,
    ANALYTICS_SINK_ADDRESS: sink,
    HTTP_LISTEN: '127.0.0.1:0',
    BASE_URL: 'http://longwave.test',
    API_URL: 'http://api.test',
    MEDIA_URL: mediaUrl,
    RECEIPT_SIGNING_KEY: receiptKey,
    CURSOR_KEY: randomBytes(32).toString('hex'),
    WEBHOOK_SECRET_KEYS: randomBytes(32).toString('hex'),
    S3_ENDPOINT: store.endpoint,
    S3_REGION: store.region,
    S3_BUCKET: store.bucket,
    S3_ACCESS_KEY: store.accessKey,
    S3_SECRET_KEY: store.secretKey,
  });
  return { address, adminUrl: database.adminUrl };
}

/** Ten frames of MPEG-1 Layer III at 64 kbit/s and 44.1 kHz, without sound. */
const mp3 = () =>
  Buffer.concat(
    Array.from({ length: 10 }, () => Buffer.concat([Buffer.from([0xff, 0xfb, 0x50, 0xc0]), Buffer.alloc(204)])),
  );

/** Content of the owner: a published podcast with a published and a draft episode. */
async function createContent(management: Management, asker: Asker, adminUrl: string) {
  const send = management.execute;
  const { resource: podcast } = await send(asker, {
    type: 'podcast.create',
    changes: { title: 'Harbour Light', language: 'en', description: 'Of ships', author: 'A' },
  });
  const episode = async (title: string) =>
    (await send(asker, { type: 'episode.create', changes: { podcast_id: podcast.id, title } })).resource;
  /** An episode with an uploaded file as its audio. */
  const playable = async (title: string) => {
    const made = await episode(title);
    const bytes = mp3();
    const { resource: upload } = await send(asker, {
      type: 'upload.grant',
      changes: { filename: 'one.mp3', filesize: bytes.length },
    });
    const { url } = await management.signUpload(asker, upload.id);
    await fetch(url, { method: 'PUT', body: bytes, headers: { 'content-type': 'audio/mpeg' } });
    const { resource: clip } = await send(asker, {
      type: 'media_clip.register',
      changes: { episode_id: made.id, file_format: 'mp3', url: upload.attributes.file_url, duration_ms: 60_000 },
    });
    return { id: made.id, clipId: clip.id };
  };
  const published = await playable('First light');
  await send(asker, { type: 'episode.publish', subjectId: published.id, changes: {} });
  const draft = await episode('Second');
  const { resource: production } = await send(asker, {
    type: 'production.create',
    changes: { episode_id: draft.id },
  });
  // Publishing takes artwork, which an encoder prepares.
  const database = new pg.Client({ connectionString: adminUrl });
  await database.connect();
  await database.query("update product.resource set lifecycle_state = 'published' where id = $1", [podcast.id]);
  await database.end();
  return { podcast: podcast.id, published, draft: draft.id, production: production.id, playable };
}

/** Two campaigns with a budget and an order number. */
async function createCampaigns(management: Management, asker: Asker) {
  const { resource: advertiser } = await management.execute(asker, {
    type: 'advertiser.create',
    changes: { legal_name: 'Acme Ltd', brands: [], ad_product_categories: [], separation_groups: [] },
  });
  const create = (name: string) =>
    management.execute(asker, {
      type: 'campaign.create',
      changes: {
        advertiser_id: advertiser.id,
        name,
        window: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
        budget: { amount_micros: '7654321000000', currency: 'EUR' },
        io_number: 'IO-4711',
      },
    });
  return [(await create('Lamps')).resource.id, (await create('Ropes')).resource.id] as const;
}

/** The MCP server over the real management and analytics-sink, with content; a stand-in for auth-server knows the tokens. */
export async function startWorld() {
  await using stack = new AsyncDisposableStack();
  const installation = await openInstallation(stack);
  const sink = await startSink(stack, installation);
  const { address, adminUrl } = await startManagement(stack, installation, sink);
  const mcp = stack.use(await startMcpServer(installation, { management: address, analyticsSink: sink }));
  const channel = openChannel(address, 'management', readTls(installation.identities['rest-gateway']));
  stack.defer(() => channel.close());
  const management = createManagement(channel);
  const askerOf = async (token: string): Promise<Asker> => {
    const principal = await principalOf(token, installation.signingKey);
    return { ...principal!, plan: principal!.plan!, deadline: new Date(Date.now() + 120_000) };
  };
  const content = await createContent(management, await askerOf('owner'), adminUrl);
  const campaigns = await createCampaigns(management, await askerOf('trafficker'));
  const bus = stack.use(await createEventBus({ kind: 'redis', redisUrl: installation.redisUrl, clientName: 'test' }));
  const clients = new Map<string, Awaited<ReturnType<typeof mcp.connect>>>();
  stack.defer(async () => {
    for (const client of clients.values()) await client.close();
  });

  /** A client that knows the schemas, so that it checks every result by them. */
  async function clientOf(token: string) {
    const known = clients.get(token);
    if (known) return known;
    const client = await mcp.connect(token);
    await client.listTools();
    clients.set(token, client);
    return client;
  }
  const owned = stack.move();
  return {
    mcp,
    management,
    askerOf,
    content,
    campaigns,
    /** Tells the sink of a decision. */
    decide: (decision: DecisionMade) =>
      bus.publish([
        {
          topic: topics.decisions,
          key: decision.decision_id,
          id: decision.decision_id,
          type: 'decision.made',
          payload: decision,
        },
      ]),
    client: clientOf,
    call: async (name: string, args: Record<string, unknown> = {}, token = 'owner') =>
      (await clientOf(token)).callTool({ name, arguments: args }),
    /** The output of a call that succeeds; the tool's own schema parses it. */
    output: async (name: string, args: Record<string, unknown> = {}, token = 'owner') => {
      const result = await (await clientOf(token)).callTool({ name, arguments: args });
      if (result.isError) throw new Error(JSON.stringify(result.structuredContent));
      const tool = tools.find((one) => one.name === name)!;
      const [text] = result.content;
      if (text?.type !== 'text') throw new Error('the result has no text');
      tool.output.parse(JSON.parse(text.text));
      return result.structuredContent as Output;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export type World = Awaited<ReturnType<typeof startWorld>>;
