import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import type { EventBus } from '@longwave/event-bus';
import { topics, type DeliveryFact } from '@longwave/events';
import type { Child } from '@longwave/fleet';
import { createPool, type Pool } from '@longwave/postgres';
import { signPrincipal } from '@longwave/principal';
import { openChannel, readTls, type RpcClient } from '@longwave/rpc';
import {
  AnomalyServiceService,
  AudienceServiceService,
  CohortServiceService,
  EvidenceServiceService,
  Granularity,
  LedgerServiceService,
} from '@longwave/rpc/audience';
import { prepareSink } from '@longwave/test-kit/analytics-sink';
import { fact, seen, totalBytes } from '@longwave/test-kit/delivery-facts';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { emptyTables } from './_tables.ts';

export const day = (on: string) => BigInt(Date.parse(`${on}T00:00:00Z`));
export const november = { fromMs: day('2025-11-01'), toMs: day('2025-11-05') };

const services = ['rest-gateway', 'management', 'hosting-exchange', 'encoder', 'operator', 'internal-serving'] as const;

/** Two listeners on three days: three downloads, two of them with the ad; a probe, a bot's network and half a listen. */
export const facts: readonly DeliveryFact[] = [
  fact({ fact_id: 'fct_1', listener_key: 'anna' }),
  fact({ fact_id: 'fct_2', listener_key: 'anna', started_at: '2025-11-03T08:00:00.000Z' }),
  fact({ fact_id: 'fct_3', listener_key: 'bert', episode_id: 'ep_2', written: [[161_000, totalBytes]] }),
  fact({ fact_id: 'fct_4', listener_key: 'carl', requested: [[0, 2]], written: [[0, 2]], status: 206 }),
  fact({ fact_id: 'fct_5', listener_key: 'dora', address_verdict: 'dc_ip' }),
  fact({ fact_id: 'fct_6', listener_key: 'emil', written: [[0, 500_000]] }),
  seen(),
];

/** The sink as a process of its own, with everything around it, and clients that ask it. */
export interface SinkWorld extends AsyncDisposable {
  readonly pool: Pool;
  readonly bus: EventBus;
  /** As the role of the sink. */
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly gateway: RpcClient<typeof AudienceServiceService>;
  /** Empties the tables and starts a sink. */
  start(): Promise<Child>;
  /** Starts a sink on what is there. */
  startSink(settings?: Readonly<Record<string, string>>): Promise<Child>;
  clientOf(name: (typeof services)[number]): RpcClient<typeof AudienceServiceService>;
  anomaliesAs(name: (typeof services)[number]): RpcClient<typeof AnomalyServiceService>;
  evidenceAs(name: (typeof services)[number]): RpcClient<typeof EvidenceServiceService>;
  cohortsAs(name: (typeof services)[number]): RpcClient<typeof CohortServiceService>;
  ledgerAs(name: (typeof services)[number]): RpcClient<typeof LedgerServiceService>;
  /** A call as the owner of `ws_1` or `ws_2`. */
  ownerOf(workspaceId: string): { readonly deadlineMs: number; readonly principalStatement: string | undefined };
  publish(facts: readonly DeliveryFact[]): Promise<void>;
  stored(): Promise<number>;
  countDays(
    workspaceId?: string,
    episodeId?: string,
  ): ReturnType<RpcClient<typeof AudienceServiceService>['countDownloads']>;
}

/** Makes a key pair and signs a statement for each owner, by workspace. */
async function signStatements(): Promise<{ publicJwk: JWK; statements: Readonly<Record<string, string>> }> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true });
  const named = { kid: 'one', alg: 'EdDSA' };
  const signingKey = { ...(await exportJWK(privateKey)), ...named };
  const statements: Record<string, string> = {};
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
  return { publicJwk: { ...(await exportJWK(publicKey)), ...named }, statements };
}

/** Starts database, Redis and identities, and knows how to start a sink between them. */
export async function startSinkWorld(): Promise<SinkWorld> {
  await using stack = new AsyncDisposableStack();
  const { publicJwk, statements } = await signStatements();
  const sink = stack.use(await prepareSink(services, [publicJwk]));
  const { database, bus } = sink;
  const pool = stack.adopt(createPool(database.adminUrl, 'audience', { name: 'test', copies: true }), (it) => it.end());
  const channelOf = (name: (typeof services)[number]) =>
    openChannel(sink.address, 'analytics-sink', readTls(sink.identities[name]));
  const clientOf = (name: (typeof services)[number]) => channelOf(name).client(AudienceServiceService);
  const gateway = stack.adopt(clientOf('rest-gateway'), (it) => it.close());
  const ownerOf = (workspaceId: string) => ({ deadlineMs: 5_000, principalStatement: statements[workspaceId] });
  const keyOf = (one: DeliveryFact) => {
    if (one.kind === 'user_agent_seen') return one.user_agent_digest;
    return one.kind === 'track_described' ? one.track : `${one.listener_key}${one.episode_id}`;
  };
  const running = stack.move();
  return {
    pool,
    bus,
    databaseUrl: database.url,
    redisUrl: sink.redisUrl,
    gateway,
    start: async () => {
      await emptyTables(database);
      return sink.start();
    },
    startSink: sink.start,
    clientOf,
    anomaliesAs: (name) => channelOf(name).client(AnomalyServiceService),
    evidenceAs: (name) => channelOf(name).client(EvidenceServiceService),
    cohortsAs: (name) => channelOf(name).client(CohortServiceService),
    ledgerAs: (name) => channelOf(name).client(LedgerServiceService),
    ownerOf,
    publish: (list) =>
      bus.publish(
        list.map((one) => ({
          topic: topics.deliveryFacts,
          key: keyOf(one),
          id: one.fact_id,
          type: one.kind,
          payload: one,
        })),
      ),
    stored: async () => (await pool.query<{ count: number }>('select count(*)::int as count from fact')).rows[0]!.count,
    countDays: (workspaceId = 'ws_1', episodeId = '') => {
      const request = { workspaceId, podcastId: 'pod_1', episodeId, range: november, granularity: Granularity.DAY };
      return gateway.countDownloads(request, ownerOf(workspaceId));
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** A world of a whole test file, with a sink that is started on empty tables before each test and stopped after it. */
export function useSinkWorld() {
  const used = {} as { world: SinkWorld; sink: Child };
  beforeAll(async () => {
    used.world = await startSinkWorld();
  });
  afterAll(async () => used.world?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    used.sink = await used.world.start();
  });
  afterEach(async () => void (await used.sink.stop()), 30_000);
  return used;
}
