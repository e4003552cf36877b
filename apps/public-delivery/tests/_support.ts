import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createEventBus, type EventBus } from '@longwave/event-bus';
import {
  factMessageSchema,
  topics,
  type ByteRangeServed,
  type DeliveryEvent,
  type DeliveryFact,
  type DomainEvent,
} from '@longwave/events';
import {
  awayAddresses,
  developmentCa,
  startTestDatabase,
  startTestObjectStore,
  startTestRedis,
  type TestDatabase,
} from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createObjectStore, type ObjectStore } from '@longwave/object-store';
import { createPool, type Pool } from '@longwave/postgres';
import { readTls, rpcService, serveRpc, type Tls } from '@longwave/rpc';
import {
  ServingServiceService,
  type DecideRequest,
  type DecideResponse,
  type Pick,
  type PreviewDecisionRequest,
} from '@longwave/rpc/serving';
import { createLogger, type Logger } from '@longwave/service-kit';
import { sha256 } from '@longwave/test-kit';
import { createApp, type DeliveryApp, type Overrides } from '../src/app.ts';
import { readConfiguration } from '../src/config.ts';

export const frameBytes = 384;
/** Bytes of the length of whole frames; delivery does not look at their sound. */
export const audio = (frames: number) => randomBytes(frames * frameBytes);

/** Stands for internal-serving, with its real transport. */
interface ServingServer {
  readonly address: string;
  readonly requests: DecideRequest[];
  readonly previews: PreviewDecisionRequest[];
  /** The answer to the next calls; by default without ads. */
  answer: (request: DecideRequest) => Promise<DecideResponse>;
  close(): Promise<void>;
}

export const noAds = (request: DecideRequest): DecideResponse => ({
  decisionId: request.decisionId,
  servingPlanId: '',
  picks: [],
  noAdReason: 'no_plan',
});

export function pickOf(segment: Buffer, servingId = newId('srv')): Pick {
  return {
    breakKey: 'pre',
    slot: 0,
    servingId,
    campaignId: newId('cmp'),
    lineItemId: newId('li'),
    creativeId: newId('crv'),
    segmentDigest: sha256(segment),
    sizeBytes: BigInt(segment.length),
    durationMs: BigInt((segment.length / frameBytes) * 24),
    clickUrl: '',
    billable: true,
    hls: undefined,
    pictures: [],
  };
}

export interface Bench {
  readonly environment: Readonly<Record<string, string>>;
  readonly pool: Pool;
  readonly database: TestDatabase;
  readonly bus: EventBus;
  readonly store: ObjectStore;
  readonly serving: ServingServer;
  readonly folder: string;
  /** Facts seen on the bus so far. */
  readonly facts: DeliveryFact[];
  /** Log lines of the apps. */
  readonly logLines: string[];
  readonly logger: Logger;
  readonly now: () => Date;
  /** Moves the app's clock. */
  setClock(at: Date | undefined): void;
  /** How far the app's clock goes before the machine's while it is not set: what was read before is older by so much, without waiting. */
  setAhead(ms: number): void;
  /** Certificate and key of a service, by its name. */
  readonly tlsOf: (service: string) => Tls;
  start(extra?: Readonly<Record<string, string>>, overrides?: Omit<Overrides, 'now'>): Promise<DeliveryApp>;
  stop(): Promise<void>;
}

/** Real Postgres, Redis, S3 and a gRPC server; the app itself is started by the test. */
export async function openBench(): Promise<Bench> {
  const stack = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'longwave-delivery-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const database = stack.use(
    await startTestDatabase({ schema: 'delivery', migrations: 'apps/public-delivery/prisma' }),
  );
  const redis = stack.use(await startTestRedis());
  const s3 = stack.use(await startTestObjectStore());
  const store = createObjectStore(s3);
  await store.ensureBucket();
  const identities = await developmentCa(
    path.join(folder, 'ca'),
    ['public-delivery', 'internal-serving', 'hosting-exchange', 'rest-gateway', 'management'],
    new Date(),
  );

  const requests: DecideRequest[] = [];
  const previews: PreviewDecisionRequest[] = [];
  const serving: ServingServer = {
    address: '',
    requests,
    previews,
    answer: async (request) => noAds(request),
    close: async () => undefined,
  };
  const rpc = await serveRpc({
    listen: '127.0.0.1:0',
    tls: readTls(identities['internal-serving']),
    services: [
      rpcService(
        { decide: ServingServiceService.decide, previewDecision: ServingServiceService.previewDecision },
        { decide: ['public-delivery'], previewDecision: ['public-delivery'] },
        {
          previewDecision: async (request) => {
            serving.previews.push(request);
            const traceJson = JSON.stringify({ stages: [], candidates: [] });
            return { answer: await serving.answer(request.play!), traceJson };
          },
          decide: async (request) => {
            requests.push(request);
            return serving.answer(request);
          },
        },
      ),
    ],
    onError: () => undefined,
  });
  stack.defer(() => rpc.close(100));
  Object.assign(serving, { address: `127.0.0.1:${rpc.port}`, close: () => rpc.close(0) });

  const bus = stack.use(await createEventBus({ kind: 'redis', redisUrl: redis.url, clientName: 'test' }));
  const facts: DeliveryFact[] = [];
  stack.use(
    await bus.subscribe({
      topic: topics.deliveryFacts,
      group: 'test',
      handle: async (messages) =>
        void facts.push(
          ...messages
            .map(({ payload }) => factMessageSchema.parse(payload))
            .filter((message): message is DeliveryFact => message.kind !== 'facts_published'),
        ),
    }),
  );
  const pool = stack.adopt(createPool(database.url, 'delivery', { name: 'test' }), (each) => each.end());
  const logLines: string[] = [];
  const logger = createLogger('public-delivery', 'info', { write: (line: string) => void logLines.push(line) });
  let clock: Date | undefined;
  let aheadMs = 0;
  const now = () => clock ?? new Date(Date.now() + aheadMs);

  const environment = {
    LOG_LEVEL: 'info',
    HEALTH_LISTEN: '127.0.0.1:0',
    HTTP_LISTEN: '127.0.0.1:0',
    GRPC_LISTEN: '127.0.0.1:0',
    TLS_CA: identities['public-delivery'].ca,
    TLS_CERT: identities['public-delivery'].cert,
    TLS_KEY: identities['public-delivery'].key,
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    S3_ENDPOINT: s3.endpoint,
    S3_REGION: s3.region,
    S3_BUCKET: s3.bucket,
    S3_ACCESS_KEY: s3.accessKey,
    S3_SECRET_KEY: s3.secretKey,
    ...awayAddresses('public-delivery'),
    INTERNAL_SERVING_ADDRESS: serving.address,
    // A decision is waited for on a busy machine too; how long listeners wait is the subject of one test, which sets it.
    DECIDE_DEADLINE_MS: '10000',
    BASE_URL: 'http://base.test',
    MEDIA_URL: 'http://media.test',
    DELIVERY_TOKEN_SECRETS: randomBytes(32).toString('hex'),
    LISTENER_SECRET: randomBytes(32).toString('hex'),
    TRUSTED_PROXIES: '127.0.0.1/32',
    CACHE_FOLDER: path.join(folder, 'cache'),
    JOURNAL_FOLDER: path.join(folder, 'journal'),
  };
  return {
    tlsOf: (name) => readTls(identities[name as keyof typeof identities]),
    ...{ environment, pool, database, bus, store, serving, folder, facts, logLines, logger, now },
    setClock: (at) => void (clock = at),
    setAhead: (ms) => void (aheadMs = ms),
    start: (extra = {}, overrides = {}) =>
      createApp(readConfiguration({ ...environment, ...extra }), logger, { now, ...overrides }),
    stop: () => stack.disposeAsync(),
  };
}

/** The event that a command on a resource would publish. */
export function eventOf(
  type: string,
  id: string,
  version: number,
  state: string,
  attributes: Record<string, unknown>,
  occurredAt = new Date().toISOString(),
): DomainEvent {
  return {
    id: newId('evt'),
    type: `${type}.changed`,
    workspace_id: workspaceId,
    subject: { type, id, version },
    operation_id: newId('op'),
    occurred_at: occurredAt,
    after: {
      resource_type: type,
      id,
      workspace_id: workspaceId,
      version,
      lifecycle_state: state,
      attributes,
      links: {},
      digest: '0'.repeat(64),
      created_at: occurredAt,
      updated_at: occurredAt,
      updated_by: { operation_id: newId('op') },
    },
  };
}

export const workspaceId = newId('ws');

export async function publishEvents(bus: EventBus, events: readonly DomainEvent[]): Promise<void> {
  await bus.publish(
    events.map((event) => ({
      topic: topics.product,
      key: event.subject.id,
      id: event.id,
      type: event.type,
      payload: event,
    })),
  );
}

export interface Show {
  readonly podcastId: string;
  readonly episodeId: string;
  readonly productionId: string;
  readonly subdomain: string;
  readonly content: Buffer;
  readonly events: { readonly podcast: DomainEvent; readonly episode: DomainEvent; readonly production: DomainEvent };
}

/** A podcast with one published, encoded episode; its audio is in the store, its events are not published yet. */
export async function makeShow(
  store: ObjectStore,
  content: Buffer,
  episodeAttributes: Record<string, unknown> = {},
): Promise<Show> {
  const digest = sha256(content);
  await store.put(`media/${digest}`, content, { contentType: 'audio/mpeg' });
  return { ...showOf({ digest, sizeBytes: content.length }, episodeAttributes), content };
}

/** The same of audio that is in the store already. */
export function showOf(
  { digest, sizeBytes }: { readonly digest: string; readonly sizeBytes: number },
  episodeAttributes: Record<string, unknown> = {},
): Omit<Show, 'content'> {
  const [podcastId, episodeId, productionId] = [newId('pod'), newId('ep'), newId('pro')];
  const subdomain = `show-${randomBytes(5).toString('hex')}`;
  const occurredAt = (minute: number) => `2026-11-20T09:${minute}:00.000Z`;
  const podcast = eventOf(
    'podcasts',
    podcastId,
    3,
    'published',
    {
      ...{
        title: 'Tides',
        subdomain,
        description: 'Of the sea',
        language: 'en',
        author: 'Ana Ruiz',
        categories: ['Science'],
      },
      ...{ podcast_guid: '917393e3-1b1e-5cef-ace4-edaa54e1f810', explicit: false, type: 'episodic', locked: false },
      ...{ artwork_url: 'http://media.test/delivery/v1/f/upl/art.png', loudness_target_lufs: -16 },
    },
    occurredAt(57),
  );
  const durationMs = (sizeBytes / frameBytes) * 24;
  const episode = eventOf(
    'episodes',
    episodeId,
    4,
    'published',
    {
      ...{
        podcast_id: podcastId,
        guid: episodeId,
        title: 'One: the Größe',
        type: 'full',
        published_at: '2026-11-20T10:00:00Z',
      },
      ...{ current_production_id: productionId, duration_ms: durationMs, ...episodeAttributes },
    },
    occurredAt(58),
  );
  const production = eventOf(
    'productions',
    productionId,
    3,
    'encoded',
    {
      ...{
        episode_id: episodeId,
        file_url: 'http://media.test/x',
        upload_id: newId('upl'),
        publication_flag: true,
        audio_duration_ms: durationMs,
      },
      files: [
        {
          role: 'rendition',
          format: 'mp3',
          stream_format: 'mp3/128000/48000/2',
          storage_key: `media/${digest}`,
          size_bytes: sizeBytes,
          sha256: digest,
          duration_ms: durationMs,
        },
        { role: 'waveform', format: 'json', storage_key: 'media/x', size_bytes: 1, sha256: '0'.repeat(64) },
      ],
    },
    occurredAt(59),
  );
  return { podcastId, episodeId, productionId, subdomain, events: { podcast, episode, production } };
}

export const eventFacts = (facts: readonly DeliveryFact[]) =>
  facts.filter((fact): fact is DeliveryEvent => fact.kind === 'delivery_event');

export const playedFacts = (facts: readonly DeliveryFact[]) =>
  facts.filter((fact): fact is ByteRangeServed => fact.kind === 'byte_range_served');

/** The written bytes by the facts of one request. */
export const writtenBytes = (facts: readonly ByteRangeServed[]) =>
  facts.flatMap((fact) => fact.written).reduce((sum, [from, to]) => sum + to - from, 0);

export const readJournal = (folder: string) => readFile(path.join(folder, 'journal', 'facts.jsonl'), 'utf8');
