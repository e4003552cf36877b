import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ResourceView } from '@longwave/events';
import { developmentCa, freePorts, startTestRedis } from '@longwave/fleet';
import { Problem, type ProblemCode } from '@longwave/problems';
import { readTls, rpcService, serveRpc, type Tls } from '@longwave/rpc';
import { AudienceServiceService, type CountDownloadsRequest } from '@longwave/rpc/audience';
import { CommandServiceService, type ExecuteRequest } from '@longwave/rpc/command';
import { CredentialServiceService, type Principal, Refusal, type VerifyResponse } from '@longwave/rpc/credential';
import { OperationServiceService, ResourceServiceService } from '@longwave/rpc/resource';
import { UploadServiceService } from '@longwave/rpc/upload';
import { createLogger } from '@longwave/service-kit';
import { Redis } from 'ioredis';
import { createApp } from '../src/app.ts';
import { readRestGatewayConfig } from '../src/config.ts';

const readCases = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../cases/${name}`, import.meta.url), 'utf8'));

/** Resources by fixture name; each is complete, as management shows it. */
export const fixtures = readCases('fixtures.json') as Readonly<Record<string, ResourceView>>;

/** What management answers to a command: a fixture, or a problem. */
export type GivenAnswer =
  | { readonly resource: string; readonly replayed?: boolean }
  | { readonly problem: { readonly code: ProblemCode; readonly detail?: string; readonly field?: string } };

export interface GoldenCase {
  readonly name: string;
  readonly credential?: string | null;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly json?: unknown;
    readonly form?: string;
    readonly text?: string;
  };
  readonly given?: {
    /** By command type, in the order they are sent. */
    readonly commands?: Readonly<Record<string, readonly GivenAnswer[]>>;
    readonly sign?: { readonly problem: ProblemCode };
    /** Credentials are verified when this resolves. */
    readonly verifyAfter?: Promise<void>;
    /** From now on no credential is known. */
    readonly refused?: boolean;
    /** Fixture name → lifecycle state it has meanwhile. */
    readonly states?: Readonly<Record<string, string>>;
  };
  readonly expect: {
    readonly status: number;
    /** Exact values; null: absent. */
    readonly headers?: Readonly<Record<string, string | null>>;
    readonly body?: unknown;
    readonly text?: string;
    readonly commands?: readonly {
      readonly type: string;
      readonly subject?: string;
      readonly changes: unknown;
      readonly key?: string;
    }[];
  };
}

export const goldenCases = readCases('golden.json') as readonly GoldenCase[];

const plan = {
  name: 'scale',
  includesAnalytics: true,
  historyDays: 730 as number | undefined,
  encodingMsPerMonth: 360_000_000n as bigint | undefined,
  requestsPerMinute: 300,
  uploadUrlsPerMinute: 1200,
};
const owner: Principal = {
  accountId: 'acc_0000000000000000000000000a',
  workspaceId: 'ws_0000000000000000000000000a',
  roles: ['owner', 'publisher', 'trafficker', 'sales', 'admin'],
  credentialId: 'crd_0000000000000000000000000a',
  credentialKind: 'api_key',
  readOnly: false,
  plan,
  statement: 'statement-of-owner',
};

/** What auth-server says to each credential text; anything else is unknown. */
const principals: Readonly<Record<string, Principal>> = {
  owner,
  slow: { ...owner, credentialId: 'crd_slow', plan: { ...plan, requestsPerMinute: 2, uploadUrlsPerMinute: 3 } },
  viewer: { ...owner, credentialId: 'crd_viewer', roles: ['viewer'] },
  launch: {
    ...owner,
    credentialId: 'crd_launch',
    plan: { ...plan, name: 'launch', includesAnalytics: false, historyDays: 0 },
  },
  grow: { ...owner, credentialId: 'crd_grow', plan: { ...plan, name: 'grow', historyDays: 90 } },
  network: {
    ...owner,
    credentialId: 'crd_network',
    plan: { ...plan, name: 'network', historyDays: undefined, encodingMsPerMonth: undefined },
  },
  legacy_read: {
    ...owner,
    credentialId: 'crd_legacy',
    credentialKind: 'legacy_token',
    readOnly: true,
    plan: { ...plan, requestsPerMinute: 120, uploadUrlsPerMinute: 120 },
  },
};
const refusals: Readonly<Record<string, Refusal>> = {
  no_api: Refusal.API_ACCESS_NOT_AVAILABLE,
  suspended: Refusal.SUSPENDED_SUBSCRIPTION,
  mcp_connector: Refusal.MCP_CREDENTIAL,
  blocked: Refusal.CLIENT_BLOCKED,
};

/** Everything the stand-ins were asked, and what they shall answer. */
export interface Scene {
  given: NonNullable<GoldenCase['given']>;
  commands: ExecuteRequest[];
  counted: CountDownloadsRequest[];
  verified: number;
  signed: number;
  /** Until when each call to management may take. */
  deadlines: Date[];
}

export const now = new Date('2026-11-21T12:00:30.000Z');
const expiresAtMs = BigInt(now.getTime() + 3_600_000);

async function startStandIns(scene: Scene, tls: (name: 'management' | 'auth-server' | 'analytics-sink') => Tls) {
  const onError = (error: unknown) => {
    if (!(error instanceof Problem)) throw error;
  };
  const listen = '127.0.0.1:0';
  const current = (name: string): ResourceView => {
    const resource = fixtures[name]!;
    return { ...resource, lifecycle_state: scene.given.states?.[name] ?? resource.lifecycle_state };
  };
  const visible = (workspaceId: string, type: string) =>
    Object.keys(fixtures)
      .map(current)
      .filter((resource) => resource.workspace_id === workspaceId && resource.resource_type === type);
  const sign = (what: string) => {
    scene.signed += 1;
    if (scene.given.sign) throw new Problem(scene.given.sign.problem);
    return { url: `http://objects.test/${what}?signature=${scene.signed}`, expiresAtMs };
  };
  const gateway = ['rest-gateway'] as const;
  const management = await serveRpc({
    listen,
    tls: tls('management'),
    onError,
    services: [
      rpcService(
        CommandServiceService,
        { execute: gateway },
        {
          execute: async (request, { deadline }) => {
            scene.deadlines.push(deadline);
            const count = scene.commands.filter(({ commandType }) => commandType === request.commandType).length;
            scene.commands.push(request);
            const answer = scene.given.commands?.[request.commandType]?.[count];
            if (!answer) throw new Error(`nothing given for ${request.commandType} number ${count}`);
            if ('problem' in answer) {
              const { code, detail, field } = answer.problem;
              throw new Problem(
                code,
                detail,
                field ? { errors: [{ path: `/changes/${field}`, code: 'given', detail: detail ?? '' }] } : {},
              );
            }
            const resourceJson = JSON.stringify(current(answer.resource));
            return { operationJson: '{}', resourceJson, status: 200, replayed: answer.replayed ?? false };
          },
        },
      ),
      rpcService(
        ResourceServiceService,
        { getResource: gateway, listResources: gateway, listVersions: [] },
        {
          getResource: async ({ workspaceId, resourceType, resourceId }, { deadline }) => {
            scene.deadlines.push(deadline);
            const found = visible(workspaceId, resourceType).find(({ id }) => id === resourceId);
            if (!found) throw new Problem('not_found', `There is no such thing as ${resourceId}.`);
            return { resourceJson: JSON.stringify(found) };
          },
          listResources: async ({ workspaceId, resourceType, links, cursor }) => {
            const all = visible(workspaceId, resourceType).filter((resource) =>
              Object.entries(links).every(([name, id]) => resource.links[name] === id),
            );
            // One per page, so that every list walks the cursor.
            const at = Number(cursor || 0);
            return {
              resourcesJson: all.slice(at, at + 1).map((resource) => JSON.stringify(resource)),
              nextCursor: at + 1 < all.length ? String(at + 1) : '',
            };
          },
          listVersions: async () => ({ versionsJson: [] }),
        },
      ),
      rpcService(
        OperationServiceService,
        { getOperation: gateway, getReceipt: [] },
        {
          getOperation: async ({ operationId }) => {
            const operation = readCases('operation.json') as { id: string };
            if (operation.id !== operationId) throw new Problem('not_found');
            return { operationJson: JSON.stringify(operation) };
          },
          getReceipt: async () => ({ receiptJson: '{}' }),
        },
      ),
      rpcService(
        UploadServiceService,
        { signUpload: gateway, signPart: gateway, signCompletion: gateway },
        {
          signUpload: async ({ uploadId }) => sign(uploadId),
          signPart: async ({ partNumber }) => sign(`part-${partNumber}`),
          signCompletion: async () => sign('completion'),
        },
      ),
    ],
  });
  const authServer = await serveRpc({
    listen,
    tls: tls('auth-server'),
    onError,
    services: [
      rpcService(
        CredentialServiceService,
        { verify: gateway },
        {
          verify: async ({ credential }): Promise<VerifyResponse> => {
            scene.verified += 1;
            await scene.given.verifyAfter;
            const principal = scene.given.refused ? undefined : principals[credential];
            return principal
              ? { outcome: { $case: 'principal', value: principal } }
              : { outcome: { $case: 'refusal', value: refusals[credential] ?? Refusal.UNKNOWN_USER } };
          },
        },
      ),
    ],
  });
  const analyticsSink = await serveRpc({
    listen,
    tls: tls('analytics-sink'),
    onError,
    services: [
      rpcService(
        AudienceServiceService,
        { countDownloads: gateway, countByEpisode: [], countAds: [] },
        {
          countDownloads: async (request) => {
            scene.counted.push(request);
            const startMs = request.range!.fromMs;
            return {
              buckets: [
                { startMs, downloads: 3n, listeners: 2n },
                { startMs: startMs + 86_400_000n, downloads: 0n, listeners: 0n },
              ],
              methodologyVersion: '1',
              completeUntilMs: BigInt(now.getTime()),
            };
          },
          countByEpisode: async () => ({ episodes: [], methodologyVersion: '1', completeUntilMs: 0n }),
          countAds: async () => ({ delivered: 0n }),
        },
      ),
    ],
  });
  return { management, authServer, analyticsSink };
}

/** The gateway over in-process stand-ins of its three services and a real Redis. */
export async function startGateway(
  options: { readonly down?: readonly ('management' | 'authServer' | 'analyticsSink' | 'redis')[] } = {},
) {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(path.join(tmpdir(), 'rest-gateway-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const names = ['rest-gateway', 'management', 'auth-server', 'analytics-sink'] as const;
  const identities = await developmentCa(path.join(folder, 'ca'), names, new Date());
  const redisServer = stack.use(await startTestRedis());
  const redis = new Redis(redisServer.url);
  stack.defer(() => redis.disconnect());

  const scene: Scene = { given: {}, commands: [], counted: [], verified: 0, signed: 0, deadlines: [] };
  const servers = await startStandIns(scene, (name) => readTls(identities[name]));
  for (const server of Object.values(servers)) stack.defer(() => server.close(100));
  const unused = `127.0.0.1:${(await freePorts(1))[0]!}`;
  const addressOf = (name: keyof typeof servers) =>
    options.down?.includes(name) ? unused : `127.0.0.1:${servers[name].port}`;

  const logLines: string[] = [];
  const clock = { now };
  const own = identities['rest-gateway'];
  const app = stack.use(
    await createApp(
      readRestGatewayConfig({
        HEALTH_LISTEN: '127.0.0.1:0',
        HTTP_LISTEN: '127.0.0.1:0',
        TLS_CA: own.ca,
        TLS_CERT: own.cert,
        TLS_KEY: own.key,
        REDIS_URL: options.down?.includes('redis') ? `redis://${unused}` : redisServer.url,
        MANAGEMENT_ADDRESS: addressOf('management'),
        AUTH_SERVER_ADDRESS: addressOf('authServer'),
        ANALYTICS_SINK_ADDRESS: addressOf('analyticsSink'),
        BASE_URL: 'http://longwave.test',
        MEDIA_URL: 'http://media.test/',
      }),
      createLogger('rest-gateway', 'debug', { write: (line) => void logLines.push(line) }),
      { clock: () => clock.now },
    ),
  );
  const url = `http://127.0.0.1:${app.port}`;
  const owned = stack.move();
  return {
    url,
    redis,
    scene,
    clock,
    logLines,
    /** Ends one of the services behind the gateway. */
    stop: (name: keyof typeof servers) => servers[name].close(0),
    /** Forgets counters and what was asked. */
    reset: async (given: Scene['given'] = {}) => {
      await redis.flushdb();
      Object.assign(scene, { given, commands: [], counted: [], verified: 0, signed: 0, deadlines: [] });
    },
    get: (at: string, credential = 'owner', headers: Record<string, string> = {}, signal: AbortSignal | null = null) =>
      fetch(`${url}/api/v1${at}`, { headers: { Token: credential, ...headers }, signal }),
    post: (at: string, body: unknown, credential = 'owner', headers: Record<string, string> = {}) =>
      fetch(`${url}/api/v1${at}`, {
        method: 'POST',
        headers: { Token: credential, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export type GatewayUnderTest = Awaited<ReturnType<typeof startGateway>>;
