import { existsSync, mkdirSync } from 'node:fs';
import { namesOf, type ServiceName } from '@longwave/services';
import { ownApps, packagedApps, type Apps } from './apps.ts';
import { adoptDatabase } from './adopt-database.ts';
import { awaitFollowers } from './await-followers.ts';
import { endLeftovers } from './child.ts';
import { dataFolder as openDataFolder } from './data-folder.ts';
import { claimVersion } from './data-version.ts';
import { developmentCa } from './development-ca.ts';
import {
  chooseHttpPorts,
  chooseMetricsPorts,
  choosePorts,
  localUrls,
  portsPerService,
  type PublicPorts,
} from './fleet-ports.ts';
import { lockDataFolder, publishFleet, type FleetAccess } from './fleet-state.ts';
import type { ServiceEvent } from './keep-running.ts';
import { locateFolder } from './reachable-folder.ts';
import { replicaNames } from './replica-names.ts';
import { assertRoom, roomNeededBytes } from './room.ts';
import { renewCertificates } from './keys/renew-certificates.ts';
import { accessLogins, writeLogins, writeObjectStoreKeys } from './keys/write-logins.ts';
import { openSecrets } from './secrets.ts';
import type { PublicUrls, Wiring } from './service-environment.ts';
import { startEdges } from './start-edges.ts';
import { startEngines, type EngineChoice, type Engines } from './start-engines.ts';
import { startServices } from './start-services.ts';
import type { SupervisedService } from './supervised-service.ts';
import { joinAuthorities } from './trust-authority.ts';

export interface FleetOptions<S extends string = ServiceName> {
  /** Absolute; everything the fleet keeps, made when absent. */
  readonly dataFolder: string;
  readonly ports: PublicPorts | 'free';
  /** The address that public ports are bound to. Default: 127.0.0.1. All other ports are bound to that one always. */
  readonly listen?: string;
  /** First of the ports of health and metrics, one for each process; see `chooseMetricsPorts`. Default: free ones. */
  readonly metricsPortBase?: number;
  /** Where clients reach the installation, through a proxy in front of it. Default: the ports of this machine. */
  readonly urls?: PublicUrls;
  /** Whether a copied data folder takes over the database of the first one. */
  readonly adopt?: boolean;
  /** Default: all of them. */
  readonly services?: readonly S[];
  /** Processes of every service, behind the edge where there are several. Default: 1. */
  readonly replicas?: number;
  /** Absolute folder of services that `npm run package` made, to run those. Default: as they are built in the repository. */
  readonly packages?: string;
  /** Added to (and overriding) a service's environment. */
  readonly env?: Readonly<Partial<Record<S, Readonly<Record<string, string>>>>>;
  /** Changes the environment of each service at the end: a test puts a proxy between a service and an engine. */
  readonly changeEnvironment?: (service: S, environment: Readonly<Record<string, string>>) => Record<string, string>;
  /** Proxies in front of the installation, whose X-Forwarded-For is believed: `address` or `address/bits`, separated by commas. */
  readonly trustedProxies?: string;
  /** Whether those proxies speak the PROXY protocol, and they alone may connect to the public hosts. Default: false. */
  readonly proxyProtocol?: boolean;
  /** Default: those of one machine. */
  readonly engines?: EngineChoice;
  /** An event bus that runs elsewhere. Default: that of `engines`. */
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
  /** The first process of each service. */
  readonly services: Readonly<Record<S, SupervisedService>>;
  /** All processes of each service, the first one first. */
  readonly replicas: Readonly<Record<S, readonly SupervisedService[]>>;
  readonly engines: Pick<Engines, 'postgres' | 'redis' | 'objectStore' | 'kafka'>;
  /** Stops every process, services first. Twice is harmless. */
  readonly stop: () => Promise<void>;
}

/** The first replica of each service. */
const firstOf = <S extends string, T>(replicas: Readonly<Record<S, readonly T[]>>) =>
  Object.fromEntries(Object.entries<readonly T[]>(replicas).map(([name, [first]]) => [name, first])) as Record<S, T>;

const local = (port: number) => `127.0.0.1:${port}`;

const addressesOf = <S extends string>(ports: Readonly<Record<S, readonly number[]>>) =>
  Object.fromEntries(
    Object.entries<readonly number[]>(ports).map(([name, each]) => [name, each.map(local).join()]),
  ) as Record<S, string>;

/** The private HTTP address of every process by its name. */
const adminAddressesOf = <S extends string>({ healthPorts, replicas }: Wiring<S>) =>
  Object.fromEntries(
    Object.entries<readonly number[]>(healthPorts).flatMap(([service, ports]) =>
      replicaNames(service, replicas).map((name, index) => [name, local(ports[index]!)]),
    ),
  ) as Record<S, string>;

/** Starts Longwave's own services, as `startFleetOf` does. */
export const startFleet = ({ packages, ...options }: FleetOptions): Promise<Fleet> =>
  startFleetOf(packages === undefined ? ownApps : packagedApps(packages), options);

/**
 * Starts a whole installation as processes of this machine and waits until every service is ready: engines, certificates,
 * secrets, schemas, services. A service that dies is started again. Everything that was started is stopped when starting
 * fails. Rejects with `NotEnoughRoom`, `FleetIsRunning`, `NewerData`, `CopiedFolder`, `PortTaken`, or an error that shows the end of the failing part's log.
 */
export async function startFleetOf<S extends string>(
  apps: Apps<S>,
  options: Omit<FleetOptions<S>, 'packages'>,
): Promise<Fleet<S>> {
  const data = openDataFolder(options.dataFolder);
  const allNames = namesOf(apps.services);
  const { services: names = allNames, replicas = 1, onEvent = () => undefined } = options;
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
  const healthPorts = await chooseMetricsPorts(allNames, replicas, options.metricsPortBase);
  mkdirSync(data.logs, { recursive: true });
  const secrets = () => openSecrets(data.secrets, apps.services);
  writeObjectStoreKeys(data, apps.services, secrets());
  const identities = await developmentCa(data.tls, [...allNames, 'operator'], new Date());
  stack.use(
    renewCertificates(data.tls, [...allNames, 'operator'], (reason) =>
      options.onEvent?.({ kind: 'certificates-not-renewed', reason: String(reason) }),
    ),
  );
  const engines = await startEngines({
    apps,
    data,
    secrets,
    choice: options.engines ?? {},
    replicas,
    mode: options.mode ?? 'durable',
    objectStorePort: ports.objectStore,
    objectStoreHost: listen,
    stack,
    timed,
    onEvent,
  });
  const { outside = {} } = options.engines ?? {};
  const { bucket = 'longwave' } = outside.objectStore ?? {};
  const { endpoint, region, accessKey, secretKey } = engines.objectStore.first;
  const engineAddresses = { database: engines.adminDatabaseUrl, redis: engines.redis.first.url };
  writeLogins(data, apps.services, secrets(), engineAddresses);
  const foreignKeys = [
    ...(outside.databaseUrl === undefined ? [] : ['database']),
    ...(outside.redisUrl === undefined ? [] : ['redis']),
    ...(options.engines?.versityGateway || outside.objectStore ? ['object-store'] : []),
  ];
  const wiring: Wiring<S> = {
    apps,
    data,
    listen,
    urls: options.urls ?? {
      ...localUrls(ports),
      objects: endpoint,
    },
    replicas,
    grpcPorts: await portsPerService(allNames, replicas),
    healthPorts,
    httpPorts: await chooseHttpPorts(apps, ports, replicas),
    identities,
    enginesCa: joinAuthorities(
      engines.ca,
      options.engines?.outside && process.env['NODE_EXTRA_CA_CERTS'],
      data.inside('engines-ca.pem'),
    ),
    kafkaBrokers:
      options.bus?.kind === 'kafka'
        ? options.bus.brokers
        : (outside.kafkaBrokers ?? engines.kafka?.first.brokers.join()),
    kafkaSecurity: outside.kafkaBrokers === undefined ? engines.kafka?.first.security : outside.kafkaSecurity,
    objectStore: {
      ...{ endpoint, region, bucket },
      ...(foreignKeys.includes('object-store') && { accessKey, secretKey }),
    },
    secretPaths: secrets().variables,
    trustedProxies: options.trustedProxies ?? '',
    proxyProtocol: options.proxyProtocol ?? false,
  };
  const processes = await startServices(names, wiring, { ...options, stack, onEvent, timed });
  const { kafkaBrokers, kafkaSecurity } = wiring;
  if (kafkaBrokers)
    await timed('groups of followers', () =>
      awaitFollowers({ KAFKA_BROKERS: kafkaBrokers, ...kafkaSecurity }, apps, names, replicas),
    );
  await startEdges(wiring, ports, processes, stack);
  const access: FleetAccess<S> = {
    urls: wiring.urls,
    operator: identities.operator,
    addresses: addressesOf(wiring.grpcPorts),
    adminAddresses: adminAddressesOf(wiring),
    ...accessLogins(apps.services, secrets(), engineAddresses),
    // Those of engines that run elsewhere are the operator's own.
    ...{ adminDatabaseUrl: engines.adminDatabaseUrl, redisUrl: engines.redis.first.url },
    ...{ kafkaBrokers, kafkaSecurity },
    enginesCa: wiring.enginesCa,
    objectStore: { endpoint, region, accessKey, secretKey, bucket },
    foreignKeys,
    logsFolder: data.logs,
    dataFolder: data.root,
    databaseFolder: locateFolder(data.postgres),
  };
  publishFleet(data, access);
  const running = stack.move();
  const stop = () => running.disposeAsync();
  return {
    ...access,
    services: firstOf(processes),
    replicas: processes,
    engines,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
