import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { awayAddresses, developmentCa, freePorts, startTestRedis } from '@longwave/fleet';
import { readTls } from '@longwave/rpc';
import { createLogger } from '@longwave/service-kit';
import { Redis } from 'ioredis';
import { createApp } from '../src/app.ts';
import { readConfiguration } from '../src/config.ts';
import type { Given, Scene } from './_scene.ts';
import { now, startStandIns } from './_stand-ins.ts';
import { readCases } from './_fixtures.ts';

export { fixtures } from './_fixtures.ts';

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
  readonly given?: Given;
  readonly expect: {
    readonly status: number;
    /** Exact values; null: absent. */
    readonly headers?: Readonly<Record<string, string | null>>;
    readonly body?: unknown;
    readonly text?: string;
    readonly commands?: readonly {
      readonly type: string;
      readonly workspace?: string;
      readonly subject?: string;
      readonly changes: unknown;
      readonly key?: string;
    }[];
  };
}

export const goldenCases = readCases('golden.json') as readonly GoldenCase[];

/** The gateway over in-process stand-ins of its three services and a real Redis. */
export async function startGateway(
  options: {
    readonly down?: readonly ('management' | 'authServer' | 'analyticsSink' | 'publicDelivery' | 'redis')[];
    readonly trustedProxies?: string;
    readonly consoleFolder?: string;
  } = {},
) {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(path.join(tmpdir(), 'rest-gateway-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const names = ['rest-gateway', 'management', 'auth-server', 'analytics-sink', 'public-delivery'] as const;
  const identities = await developmentCa(path.join(folder, 'ca'), names, new Date());
  const redisServer = stack.use(await startTestRedis());
  const redis = new Redis(redisServer.url);
  stack.defer(() => redis.disconnect());

  const scene: Scene = { given: {}, commands: [], counted: [], verified: 0, signed: 0, deadlines: [], enclosures: [] };
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
      readConfiguration({
        HEALTH_LISTEN: '127.0.0.1:0',
        HTTP_LISTEN: '127.0.0.1:0',
        TLS_CA: own.ca,
        TLS_CERT: own.cert,
        TLS_KEY: own.key,
        REDIS_URL: options.down?.includes('redis') ? `redis://${unused}` : redisServer.url,
        ...awayAddresses('rest-gateway'),
        MANAGEMENT_ADDRESS: addressOf('management'),
        AUTH_SERVER_ADDRESS: addressOf('authServer'),
        ANALYTICS_SINK_ADDRESS: addressOf('analyticsSink'),
        PUBLIC_DELIVERY_ADDRESS: addressOf('publicDelivery'),
        TRUSTED_PROXIES: options.trustedProxies,
        BASE_URL: 'http://longwave.test',
        MEDIA_URL: 'http://media.test/',
        CONSOLE_FOLDER: options.consoleFolder,
        S3_PUBLIC_ENDPOINT: 'http://objects.test',
        POLICY_URL: 'http://longwave.test/policy',
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
    /** Removes counters and recorded requests. */
    reset: async (given: Given = {}) => {
      await redis.flushdb();
      Object.assign(scene, { given, commands: [], counted: [], verified: 0, signed: 0, deadlines: [], enclosures: [] });
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
