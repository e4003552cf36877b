import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { listenHttp } from '@longwave/service-kit';
import { endLeftovers } from './child.ts';
import { dataFolder as openDataFolder } from './data-folder.ts';
import { developmentCa } from './development-ca.ts';
import { apiFrontPage, apiRoutes, createEdge } from './edge.ts';
import { lockDataFolder, publishFleet, type FleetAccess } from './fleet-state.ts';
import { freePort, freePorts, isPortFree } from './free-ports.ts';
import type { ServiceEvent } from './keep-running.ts';
import { locateFolder } from './reachable-folder.ts';
import { assertRoom, roomNeededBytes } from './room.ts';
import { openSecrets } from './secrets.ts';
import { serviceEnvironment, type Wiring } from './service-environment.ts';
import { schemaOf, serviceNames, type FleetService } from './service-names.ts';
import { startEngines, type Engines } from './start-engines.ts';
import { superviseService, type SupervisedService } from './supervised-service.ts';
import { workspaceRoot } from './workspace-root.ts';

/** The ports the outside uses; all others are private. */
export interface PublicPorts {
  readonly base: number;
  readonly mcp: number;
  readonly api: number;
  readonly media: number;
  readonly objectStore: number;
}

export interface FleetOptions {
  /** Absolute; everything the fleet keeps, made when absent. */
  readonly dataFolder: string;
  readonly ports: PublicPorts | 'free';
  /** Default: all of them. */
  readonly services?: readonly FleetService[];
  /** Added to (and overriding) a service's environment. */
  readonly env?: Readonly<Partial<Record<FleetService, Readonly<Record<string, string>>>>>;
  /** Default: Redis Streams. */
  readonly bus?: { readonly kind: 'redis' } | { readonly kind: 'kafka'; readonly brokers: string };
  /** `fast` gives up durability, for tests that throw the data away. Default: `durable`. */
  readonly mode?: 'durable' | 'fast';
  /** Free disk space without which nothing is started. Default: what a start takes, more on a new folder. */
  readonly roomNeededBytes?: number;
  /** Called when a part is up, in the order they come up. */
  readonly onProgress?: (part: string, durationMs: number) => void;
  readonly onEvent?: (event: ServiceEvent) => void;
}

export interface Fleet extends FleetAccess, AsyncDisposable {
  readonly services: Readonly<Record<FleetService, SupervisedService>>;
  readonly engines: Pick<Engines, 'postgres' | 'redis' | 'objectStore'>;
  /** Stops every process, services first. Twice is harmless. */
  readonly stop: () => Promise<void>;
}

/** Raised before anything is started. */
export class PortTaken extends Error {
  readonly port: number;

  constructor(port: number, purpose: string) {
    super(`Port ${port} (${purpose}) is used by another program`);
    this.name = 'PortTaken';
    this.port = port;
  }
}

const bucket = 'longwave';

async function choosePorts(wanted: FleetOptions['ports']): Promise<PublicPorts> {
  if (wanted === 'free') {
    const [base = 0, mcp = 0, api = 0, media = 0, objectStore = 0] = await freePorts(5);
    return { base, mcp, api, media, objectStore };
  }
  const used = [
    [wanted.base, 'web and REST API'],
    [wanted.api, 'ad server APIs'],
    [wanted.media, 'feeds and audio'],
    [wanted.objectStore, 'uploads'],
  ] as const;
  for (const [port, purpose] of used) if (!(await isPortFree(port))) throw new PortTaken(port, purpose);
  return wanted;
}

async function portPerService(): Promise<Record<FleetService, number>> {
  const ports = await freePorts(serviceNames.length);
  return Object.fromEntries(serviceNames.map((name, index) => [name, ports[index]])) as Record<FleetService, number>;
}

function databaseUrlOf(adminUrl: string, role: string, password: string): string {
  return Object.assign(new URL(adminUrl), { username: role, password }).href;
}

/**
 * Starts a whole installation as processes of this machine and waits until every service is ready: engines, certificates,
 * secrets, schemas, services. A service that dies is started again. Everything that was started is stopped when starting
 * fails. Rejects with `NotEnoughRoom`, `FleetIsRunning`, `CopiedFolder`, `PortTaken`, or an error that shows the end of the failing part's log.
 */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const data = openDataFolder(options.dataFolder);
  const names = options.services ?? serviceNames;
  const timed = async <T>(part: string, work: () => Promise<T>): Promise<T> => {
    const startedMs = performance.now();
    const result = await work();
    options.onProgress?.(part, performance.now() - startedMs);
    return result;
  };
  const isNew = !existsSync(data.inside('secrets'));
  const room = options.roomNeededBytes ?? (isNew ? roomNeededBytes.first : roomNeededBytes.later);
  for (const folder of [data.root, locateFolder(data.postgres)]) assertRoom(folder, room);
  await using stack = new AsyncDisposableStack();
  stack.defer(lockDataFolder(data));
  await endLeftovers(data.pids);
  const ports = await choosePorts(options.ports);
  mkdirSync(data.logs, { recursive: true });
  const secrets = openSecrets(data.inside('secrets'));
  const identities = await developmentCa(data.inside('tls'), [...serviceNames, 'operator'], new Date());
  const engines = await startEngines({
    data,
    secrets,
    mode: options.mode ?? 'durable',
    objectStorePort: ports.objectStore,
    stack,
    timed,
    onEvent: (event) => options.onEvent?.(event),
  });
  const url = (port: number) => `http://localhost:${port}`;
  const urlBySchema = Object.fromEntries(
    engines.owners.map(({ schema, role, password }) => [
      schema,
      databaseUrlOf(engines.adminDatabaseUrl, role, password),
    ]),
  );
  const { endpoint, region, accessKey, secretKey } = engines.objectStore.first;
  const sinkPort = await freePort();
  const wiring: Wiring = {
    data,
    urls: { base: url(ports.base), mcp: url(ports.mcp), api: url(ports.api), media: url(ports.media) },
    grpcPorts: await portPerService(),
    healthPorts: await portPerService(),
    httpPorts: { 'rest-gateway': ports.base, 'public-delivery': ports.media, 'analytics-sink': sinkPort },
    identities,
    databaseUrls: Object.fromEntries(
      Object.entries(schemaOf).map(([service, schema]) => [service, urlBySchema[schema] ?? '']),
    ),
    redisAddress: `127.0.0.1:${engines.redis.first.port}`,
    kafkaBrokers: options.bus?.kind === 'kafka' ? options.bus.brokers : undefined,
    objectStore: { endpoint, region, bucket },
    secrets,
  };
  const services: Partial<Record<FleetService, SupervisedService>> = {};
  stack.defer(async () => {
    await Promise.all(Object.values(services).map((service) => service.stop()));
  });
  await Promise.all(
    names.map((name) =>
      timed(name, async () => {
        const service = await superviseService({
          name,
          main: path.join(workspaceRoot, 'apps', name, 'dist/main.js'),
          environment: { ...serviceEnvironment(name, wiring), ...options.env?.[name] },
          healthAddress: `127.0.0.1:${wiring.healthPorts[name]}`,
          data,
          onEvent: (event) => options.onEvent?.(event),
        });
        services[name] = service;
        await service.ready();
      }),
    ),
  );
  const edge = await listenHttp(
    `127.0.0.1:${ports.api}`,
    createEdge(apiRoutes({ 'analytics-sink': sinkPort }), apiFrontPage(wiring.urls.base)),
  );
  stack.defer(() => edge.close());
  const access: FleetAccess = {
    urls: wiring.urls,
    operator: identities.operator,
    addresses: Object.fromEntries(
      serviceNames.map((name) => [name, `127.0.0.1:${wiring.grpcPorts[name]}`]),
    ) as FleetAccess['addresses'],
    databaseUrls: urlBySchema,
    adminDatabaseUrl: engines.adminDatabaseUrl,
    redisUrl: engines.redis.first.url,
    objectStore: { endpoint, region, accessKey, secretKey, bucket },
    logsFolder: data.logs,
    dataFolder: data.root,
    databaseFolder: locateFolder(data.postgres),
  };
  publishFleet(data, access);
  const running = stack.move();
  const stop = () => running.disposeAsync();
  return { ...access, services: services as Fleet['services'], engines, stop, [Symbol.asyncDispose]: stop };
}
