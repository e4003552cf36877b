import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createEventBus, type EventBus } from '@longwave/event-bus';
import {
  anyTargeting,
  defaultSeparation,
  topics,
  type DomainEvent,
  planPoliciesKey,
  planPoliciesSchema,
  type PlanLineItem,
  type PlanPolicy,
  type ServingPlanDocument,
} from '@longwave/events';
import {
  developmentCa,
  freePort,
  startObjectStoreServer,
  startRedisServer,
  startTestDatabase,
  type IdentityFiles,
  type ObjectStoreServer,
  type RedisServer,
  type TestDatabase,
} from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { createObjectStore, type ObjectStore } from '@longwave/object-store';
import { createPool } from '@longwave/postgres';
import { openChannel, readTls, type RpcClient } from '@longwave/rpc';
import { ServingServiceService, type DecideRequest } from '@longwave/rpc/serving';
import { createLogger } from '@longwave/service-kit';
import { until } from '@longwave/test-kit';
import canonicalize from 'canonicalize';
import { createApp } from '../src/app.ts';
import { readConfiguration } from '../src/config.ts';

const mp3 = 'mp3/128000/48000/2';
export type ServingClient = RpcClient<typeof ServingServiceService>;

/** A house line item of 30 s that may serve anywhere now. */
export function lineItem(given: Partial<PlanLineItem> = {}): PlanLineItem {
  return {
    line_item_id: newId('li'),
    campaign_id: newId('cmp'),
    advertiser_id: newId('adv'),
    type: 'house',
    priority: 5,
    window: { start: '2020-01-01T00:00:00Z', end: '2100-01-01T00:00:00Z' },
    goal: { unit: 'unlimited' },
    break_positions: ['pre', 'mid', 'post'],
    weight: 1,
    billable: false,
    cpm_micros: null,
    targeting: anyTargeting,
    frequency_caps: [],
    separation_groups: [],
    ad_product_categories: [],
    creative_rotation: 'weighted',
    creatives: [
      {
        creative_id: newId('crv'),
        weight: 1,
        sequence_no: 1,
        window: null,
        place: 'any',
        production: 'produced',
        click_url: null,
        media: [
          {
            stream_format: mp3,
            loudness_lufs: -16,
            segment_digest: 'ab'.repeat(32),
            size_bytes: 480_000,
            duration_ms: 30_000,
          },
        ],
      },
    ],
    ...given,
  };
}

export const guaranteed = (quantity: number) =>
  lineItem({ type: 'guaranteed', goal: { unit: 'impressions', quantity } });

export const preroll = {
  key: 'pre',
  position: 'pre',
  maxSlots: 1,
  maxDurationMs: 60_000n,
  positionMs: 0n,
  slotRules: [],
};

export function playOf(workspaceId: string, given: Partial<DecideRequest> = {}): DecideRequest {
  return {
    decisionId: newId('dec'),
    workspaceId,
    podcastId: newId('pod'),
    episodeId: newId('ep'),
    listenerBucket: Buffer.alloc(16, 7),
    breaks: [preroll],
    streamFormat: mp3,
    country: 'DE',
    atMs: BigInt(Date.now()),
    region: '',
    surface: 'progressive',
    device: '',
    operatingSystem: '',
    app: '',
    language: 'en',
    explicit: false,
    contentCategories: [],
    publishedAtMs: BigInt(Date.now()),
    loudnessCentilufs: -1600,
    adLoadLimitMs: 0n,
    streamFormats: [],
    previousListenerBucket: Buffer.alloc(0),
    ...given,
  };
}

export function planOf(workspaceId: string, lineItems: PlanLineItem[]): ServingPlanDocument {
  return {
    format: 2,
    workspace_id: workspaceId,
    effective_from: '2020-01-01T00:00:00Z',
    inputs: [],
    separation: defaultSeparation,
    floors: [],
    line_items: lineItems,
  };
}

interface PublishedPlan {
  readonly servingPlanId: string;
  readonly digest: string;
}

export interface Node extends AsyncDisposable {
  readonly client: ServingClient;
  readonly port: number;
  /** Lines of the log so far. */
  readonly log: readonly string[];
}

type ClientName = 'public-delivery' | 'operator' | 'encoder' | 'management';

export interface Engines extends AsyncDisposable {
  readonly database: TestDatabase;
  readonly store: ObjectStore;
  readonly identities: Readonly<Record<ClientName | 'internal-serving', IdentityFiles>>;
  redis(): RedisServer;
  stopRedis(): Promise<void>;
  /** An empty Redis at the same address. */
  startRedis(): Promise<void>;
  storePid(): number;
  stopStore(): Promise<void>;
  startStore(): Promise<void>;
  startNode(): Promise<Node>;
  /** Puts the document where management puts it; answers its digest. */
  storePlan(plan: ServingPlanDocument): Promise<string>;
  /** The same for the policies of a plan, each of version 1. */
  storePolicies(workspaceId: string, policies: readonly GivenPolicy[]): Promise<string>;
  announce(workspaceId: string, change: PlanChange): Promise<void>;
  /** Publishes what happened to any resource. */
  tell(workspaceId: string, change: ResourceChange): Promise<void>;
  bus(): EventBus;
  /** Stores and announces a plan, as management does for `serving_plan.publish`. */
  publishPlan(workspaceId: string, lineItems: PlanLineItem[]): Promise<PublishedPlan>;
  /** Of a process of the service. */
  environment(): Readonly<Record<string, string>>;
  /** For files of the test; removed at the end. */
  readonly folder: string;
  /** A client of the node with the certificate of another service. */
  clientAs(name: ClientName, port: number): ServingClient;
}

/** A policy for the whole workspace, where no place is given. */
export type GivenPolicy = { readonly id: string; readonly place?: PlanPolicy['place'] } & Pick<
  PlanPolicy,
  'kind' | 'rules'
>;

interface PlanChange {
  readonly servingPlanId: string;
  readonly digest: string;
  readonly policiesDigest?: string;
  readonly publishedAt?: string;
  readonly state?: string;
  readonly version?: number;
  readonly occurredAt?: string;
}

/** A revision of any resource, as management publishes it. */
interface ResourceChange {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly state: string;
  readonly attributes?: Record<string, unknown>;
  readonly occurredAt?: string;
}

function eventOf(workspaceId: string, change: ResourceChange): DomainEvent {
  const { type, id, version, state, attributes = {}, occurredAt = new Date().toISOString() } = change;
  const operation = newId('op');
  return {
    id: newId('evt'),
    type: `${type.replace(/s$/, '')}.${state}`,
    workspace_id: workspaceId,
    subject: { type, id, version },
    operation_id: operation,
    occurred_at: occurredAt,
    after: {
      resource_type: type,
      id,
      workspace_id: workspaceId,
      version,
      lifecycle_state: state,
      attributes,
      links: {},
      digest: '00'.repeat(32),
      created_at: occurredAt,
      updated_at: occurredAt,
      updated_by: { operation_id: operation },
    },
  };
}

function planChange({
  servingPlanId,
  digest,
  policiesDigest,
  publishedAt,
  state = 'published',
  version = 3,
  occurredAt,
}: PlanChange): ResourceChange {
  const attributes = {
    effective_from: '2020-01-01T00:00:00Z',
    ...(publishedAt !== undefined && { published_at: publishedAt }),
    storage_key: `plans/${digest}.json`,
    digest,
    ...(policiesDigest !== undefined && { policies_digest: policiesDigest }),
    counts: { line_items: 1, creatives: 1 },
    inputs: [],
    separation: defaultSeparation,
    floors: [],
  };
  return { type: 'serving_plans', id: servingPlanId, version, state, attributes, ...(occurredAt && { occurredAt }) };
}

/**
 * Real Postgres, Redis and S3 for one test file, and as many nodes of the service as asked for.
 * @param leases who grants them: one of the nodes, or the test
 */
export async function startEngines(leases: 'by pacer' | 'by hand' = 'by pacer'): Promise<Engines> {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(path.join(tmpdir(), 'longwave-serving-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const inside = (name: string) => path.join(folder, name);
  const log = { logFile: inside('engines.log'), pidFolder: inside('pids') };
  const identities = await developmentCa(
    inside('ca'),
    ['internal-serving', 'public-delivery', 'operator', 'encoder', 'management'] as const,
    new Date(),
  );
  const database = stack.use(
    await startTestDatabase({ schema: 'serving', migrations: 'apps/internal-serving/prisma' }),
  );

  const pool = createPool(database.url, 'serving', { name: 'test', max: 1 });
  if (leases === 'by hand')
    await pool.query("insert into pacer_term (shard, holder, term, expires_at) values (1, 0, 1, 'infinity')");
  await pool.end();
  const redisPort = await freePort();
  const runRedis = () =>
    startRedisServer({ folder: inside('redis'), password: 'test', mode: 'fast', port: redisPort, ...log });
  let redis = await runRedis();
  stack.defer(() => redis.stop());
  const storePort = await freePort();
  const runStore = () =>
    startObjectStoreServer({
      folder: inside('objects'),
      accessKey: 'test-access',
      secretKey: 'test-secret-key',
      port: storePort,
      ...log,
    });
  let storeServer: ObjectStoreServer = await runStore();
  stack.defer(() => storeServer.stop());
  const store = createObjectStore({ ...storeServer, bucket: 'longwave' });
  await store.ensureBucket();
  let bus: EventBus = await createEventBus({ kind: 'redis', redisUrl: redis.url, clientName: 'test' });
  stack.defer(() => bus[Symbol.asyncDispose]());

  const clientAs: Engines['clientAs'] = (name, port) =>
    openChannel(`127.0.0.1:${port}`, 'internal-serving', readTls(identities[name])).client(ServingServiceService);

  const environment = () => ({
    ...{ HEALTH_LISTEN: '127.0.0.1:0', GRPC_LISTEN: '127.0.0.1:0' },
    TLS_CA: identities['internal-serving'].ca,
    TLS_CERT: identities['internal-serving'].cert,
    TLS_KEY: identities['internal-serving'].key,
    ANALYTICS_SINK_ADDRESS: '127.0.0.1:1',
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    S3_ENDPOINT: storeServer.endpoint,
    S3_BUCKET: 'longwave',
    S3_ACCESS_KEY: 'test-access',
    S3_SECRET_KEY: 'test-secret-key',
  });

  const storePlan: Engines['storePlan'] = async (plan) => {
    const bytes = Buffer.from(canonicalize(plan)!);
    const digest = createHash('sha256').update(bytes).digest('hex');
    await store.put(`plans/${digest}.json`, bytes, { contentType: 'application/json' });
    return digest;
  };

  const storePolicies: Engines['storePolicies'] = async (workspaceId, given) => {
    const policies = given.map((one) => ({ version: 1, place: null, ...one }));
    const document = planPoliciesSchema.parse({ format: 1, workspace_id: workspaceId, policies });
    const bytes = Buffer.from(canonicalize(document)!);
    const digest = createHash('sha256').update(bytes).digest('hex');
    await store.put(planPoliciesKey(digest), bytes, { contentType: 'application/json' });
    return digest;
  };

  const tell: Engines['tell'] = async (workspaceId, change) => {
    const event = eventOf(workspaceId, change);
    await bus.publish([{ topic: topics.product, key: change.id, id: event.id, type: event.type, payload: event }]);
  };
  const announce: Engines['announce'] = (workspaceId, change) => tell(workspaceId, planChange(change));

  const owned = stack.move();
  return {
    database,
    store,
    identities,
    redis: () => redis,
    stopRedis: async () => {
      await bus[Symbol.asyncDispose]();
      await redis.stop();
    },
    startRedis: async () => {
      redis = await runRedis();
      bus = await createEventBus({ kind: 'redis', redisUrl: redis.url, clientName: 'test' });
    },
    storePid: () => storeServer.child.pid,
    stopStore: () => storeServer.stop(),
    startStore: async () => {
      storeServer = await runStore();
    },
    ...{ clientAs, environment, folder, storePlan, storePolicies },
    announce,
    tell,
    bus: () => bus,
    publishPlan: async (workspaceId, lineItems) => {
      const published = { servingPlanId: newId('spl'), digest: await storePlan(planOf(workspaceId, lineItems)) };
      await announce(workspaceId, published);
      return published;
    },
    startNode: async () => {
      const config = readConfiguration(environment());
      const lines: string[] = [];
      const app = await createApp(
        config,
        createLogger('internal-serving', 'info', { write: (line) => void lines.push(line) }),
        leases === 'by hand' ? { firstLeasesMs: 0 } : {},
      );
      const client = clientAs('public-delivery', app.grpcPort);
      return {
        client,
        port: app.grpcPort,
        log: lines,
        [Symbol.asyncDispose]: async () => {
          client.close();
          await app[Symbol.asyncDispose]();
        },
      };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Resolves once this node decides by that plan. */
export async function untilDecidedBy(node: Node, workspaceId: string, servingPlanId: string): Promise<void> {
  await until(async () => {
    const answer = await node.client.decide(playOf(workspaceId, { breaks: [] }), {}).catch((error: unknown) => {
      if (error instanceof Problem && error.code === 'temporarily_unavailable') return undefined;
      throw error;
    });
    return answer?.servingPlanId === servingPlanId;
  });
}
