import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { addressRangesSetting, createAddressSet } from '@longwave/audience';
import { listenHttp } from '@longwave/http-kit';
import { renderListenAddress } from '@longwave/service-kit';
import { namesOf, publicHosts, routesOf, soleServiceOf, type ServiceName } from '@longwave/services';
import { ownApps, type Apps } from './apps.ts';
import { adoptDatabase } from './adopt-database.ts';
import { endLeftovers } from './child.ts';
import { dataFolder as openDataFolder } from './data-folder.ts';
import { claimVersion } from './data-version.ts';
import { developmentCa } from './development-ca.ts';
import { apiFrontPage, createEdge } from './edge.ts';
import { chooseHttpPorts, choosePorts, portPerService, type PublicPorts } from './fleet-ports.ts';
import { lockDataFolder, publishFleet, type FleetAccess } from './fleet-state.ts';
import type { ServiceEvent } from './keep-running.ts';
import { locateFolder } from './reachable-folder.ts';
import { assertRoom, roomNeededBytes } from './room.ts';
import { openSecrets } from './secrets.ts';
import { serviceEnvironment, type PublicUrls, type Wiring } from './service-environment.ts';
import { startEngines, type Engines } from './start-engines.ts';
import { superviseService, type SupervisedService } from './supervised-service.ts';

export interface FleetOptions<S extends string = ServiceName> {
  /** Absolute; everything the fleet keeps, made when absent. */
  readonly dataFolder: string;
  readonly ports: PublicPorts | 'free';
  /** The address that public ports are bound to. Default: 127.0.0.1. All other ports are bound to that one always. */
  readonly listen?: string;
  /** Where clients reach the installation, through a proxy in front of it. Default: the ports of this machine. */
  readonly urls?: PublicUrls;
  /** Whether a copied data folder takes over the database of the first one. */
  readonly adopt?: boolean;
  /** Default: all of them. */
  readonly services?: readonly S[];
  /** Added to (and overriding) a service's environment. */
  readonly env?: Readonly<Partial<Record<S, Readonly<Record<string, string>>>>>;
  /** Proxies in front of the installation, whose X-Forwarded-For is believed: `address` or `address/bits`, separated by commas. */
  readonly trustedProxies?: string;
  /** Default: Redis Streams. */
  readonly bus?: { readonly kind: 'redis' } | { readonly kind: 'kafka'; readonly brokers: string };
  /** `fast` gives up durability, for tests that throw the data away. Default: `durable`. */
  readonly mode?: 'durable' | 'fast';
  /** Free disk space that a start requires. Default: what it takes, more on a new folder. */
  readonly roomNeededBytes?: number;
  /** Called when a part is up, in the order they come up. */
  readonly onProgress?: (part: string, durationMs: number) => void;
  readonly onEvent?: (event: ServiceEvent) => void;
}

export interface Fleet<S extends string = ServiceName> extends FleetAccess<S>, AsyncDisposable {
  readonly services: Readonly<Record<S, SupervisedService>>;
  readonly engines: Pick<Engines, 'postgres' | 'redis' | 'objectStore'>;
  /** Stops every process, services first. Twice is harmless. */
  readonly stop: () => Promise<void>;
}

const bucket = 'longwave';

/** Serves the public hosts that no service has for itself. */
async function startEdges<S extends string>(wiring: Wiring<S>, ports: PublicPorts, stack: AsyncDisposableStack) {
  const { services } = wiring.apps;
  for (const host of publicHosts) {
    const routes = routesOf(services, host).map(({ prefix, service }) => ({
      prefix,
      port: wiring.httpPorts[service]!,
    }));
    if (routes.length === 0 || soleServiceOf(services, host)) continue;
    const edge = await listenHttp(
      renderListenAddress({ host: wiring.listen, port: ports[host] }),
      createEdge(routes, {
        frontPage: host === 'api' ? apiFrontPage(wiring.urls.base, services) : undefined,
        trustedProxies: createAddressSet(addressRangesSetting.parse(wiring.trustedProxies)),
      }),
      // The base host is that of REST API v1, which has a form of its own for errors.
      { refusals: host === 'base' ? 'rest' : 'problem' },
    );
    stack.defer(() => edge.close());
  }
}

function localAddresses<S extends string>(ports: Readonly<Record<S, number>>): Record<S, string> {
  return Object.fromEntries(Object.entries<number>(ports).map(([name, port]) => [name, `127.0.0.1:${port}`])) as Record<
    S,
    string
  >;
}

function databaseUrlOf(adminUrl: string, role: string, password: string): string {
  return Object.assign(new URL(adminUrl), { username: role, password }).href;
}

/** Starts Longwave's own services, as `startFleetOf` does. */
export const startFleet = (options: FleetOptions): Promise<Fleet> => startFleetOf(ownApps, options);

/**
 * Starts a whole installation as processes of this machine and waits until every service is ready: engines, certificates,
 * secrets, schemas, services. A service that dies is started again. Everything that was started is stopped when starting
 * fails. Rejects with `NotEnoughRoom`, `FleetIsRunning`, `NewerData`, `CopiedFolder`, `PortTaken`, or an error that shows the end of the failing part's log.
 */
export async function startFleetOf<S extends string>(apps: Apps<S>, options: FleetOptions<S>): Promise<Fleet<S>> {
  const data = openDataFolder(options.dataFolder);
  const allNames = namesOf(apps.services);
  const names = options.services ?? allNames;
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
  claimVersion(data);
  if (options.adopt) adoptDatabase(data);
  await endLeftovers(data.pids);
  const { listen = '127.0.0.1' } = options;
  const ports = await choosePorts(apps, options.ports, listen);
  mkdirSync(data.logs, { recursive: true });
  const secrets = openSecrets(data.inside('secrets'), apps.services);
  const identities = await developmentCa(data.inside('tls'), [...allNames, 'operator'], new Date());
  const engines = await startEngines({
    apps,
    data,
    secrets,
    mode: options.mode ?? 'durable',
    objectStorePort: ports.objectStore,
    objectStoreHost: listen,
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
  const wiring: Wiring<S> = {
    apps,
    data,
    listen,
    urls: options.urls ?? {
      ...{ base: url(ports.base), mcp: url(ports.mcp), api: url(ports.api), media: url(ports.media) },
      objects: endpoint,
    },
    grpcPorts: await portPerService(allNames),
    healthPorts: await portPerService(allNames),
    httpPorts: await chooseHttpPorts(apps, ports),
    identities,
    databaseUrls: urlBySchema,
    redisAddress: `127.0.0.1:${engines.redis.first.port}`,
    kafkaBrokers: options.bus?.kind === 'kafka' ? options.bus.brokers : undefined,
    objectStore: { endpoint, region, bucket },
    secrets,
    trustedProxies: options.trustedProxies ?? '',
  };
  const services = new Map<S, SupervisedService>();
  stack.defer(async () => {
    await Promise.all([...services.values()].map((service) => service.stop()));
  });
  await Promise.all(
    names.map((name) =>
      timed(name, async () => {
        const service = await superviseService({
          name,
          main: path.join(apps.folder, name, 'dist/main.js'),
          environment: { ...serviceEnvironment(name, wiring), ...options.env?.[name] },
          youngGenerationMb: apps.services[name].youngGenerationMb,
          healthAddress: `127.0.0.1:${wiring.healthPorts[name]}`,
          data,
          onEvent: (event) => options.onEvent?.(event),
        });
        services.set(name, service);
        await service.ready();
      }),
    ),
  );
  await startEdges(wiring, ports, stack);
  const access: FleetAccess<S> = {
    urls: wiring.urls,
    operator: identities.operator,
    addresses: localAddresses(wiring.grpcPorts),
    adminAddresses: localAddresses(wiring.healthPorts),
    databaseUrls: urlBySchema,
    adminDatabaseUrl: engines.adminDatabaseUrl,
    redisUrl: engines.redis.first.url,
    kafkaBrokers: wiring.kafkaBrokers,
    objectStore: { endpoint, region, accessKey, secretKey, bucket },
    logsFolder: data.logs,
    dataFolder: data.root,
    databaseFolder: locateFolder(data.postgres),
  };
  publishFleet(data, access);
  const running = stack.move();
  const stop = () => running.disposeAsync();
  return {
    ...access,
    services: Object.fromEntries(services) as Fleet<S>['services'],
    engines,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
