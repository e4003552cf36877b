import path from 'node:path';
import { renderListenAddress, type KafkaVariable } from '@longwave/service-kit';
import {
  addressVariableOf,
  publicHosts,
  secretsInFiles,
  soleServiceOf,
  type PublicHost,
  type SecretVariable,
} from '@longwave/services';
import type { Apps } from './apps.ts';
import type { DataFolder } from './data-folder.ts';
import type { IdentityFiles } from './development-ca.ts';
import type { ObjectStoreAccess } from './object-store-server.ts';
import { replicaNames } from './replica-names.ts';

/** Public roots, without a slash at the end. */
export type FleetUrls = Readonly<Record<PublicHost, string>>;

/** The same, and the origin of presigned addresses: the object store as clients reach it. */
export type PublicUrls = FleetUrls & { readonly objects: string };

/** The variables of a service about TLS and login at Kafka. */
export type KafkaEnvironment = Readonly<Partial<Record<KafkaVariable, string>>>;

/** Everything that the environments of services are made from. */
export interface Wiring<S extends string> {
  readonly apps: Apps<S>;
  readonly data: DataFolder;
  readonly urls: PublicUrls;
  /** The address that the ports of public hosts are bound to. */
  readonly listen: string;
  /** Of every service. */
  readonly replicas: number;
  /** Ports of each replica in turn. */
  readonly grpcPorts: Readonly<Record<S, readonly number[]>>;
  readonly healthPorts: Readonly<Record<S, readonly number[]>>;
  readonly httpPorts: Readonly<Partial<Record<S, readonly number[]>>>;
  readonly identities: Readonly<Record<S, IdentityFiles>>;
  /** PEM file of the authority of PostgreSQL, Redis and Kafka, where these have TLS. */
  readonly enginesCa: string | undefined;
  readonly kafkaBrokers: string | undefined;
  /** How services connect to these brokers. */
  readonly kafkaSecurity: KafkaEnvironment | undefined;
  /** With a key, all services have that one; without, each has its own, in its file of secrets. */
  readonly objectStore: Pick<ObjectStoreAccess, 'endpoint' | 'region'> &
    Partial<Pick<ObjectStoreAccess, 'accessKey' | 'secretKey'>> & { readonly bucket: string };
  /** Paths of the secrets that are in files of their own. */
  readonly secretPaths: Readonly<Record<SecretVariable, string>>;
  /** Proxies in front of the installation; see `FleetOptions`. */
  readonly trustedProxies: string;
  readonly proxyProtocol: boolean;
}

const local = (port: number) => `127.0.0.1:${port}`;

const mapValues = <V, W>(record: Readonly<Record<string, V>>, change: (value: V) => W) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

/** Addresses of the engines, for those who use them; the logins are in the service's file of secrets. */
function engines<S extends string>(service: S, wiring: Wiring<S>): Record<string, string> {
  const { objects, presigns } = wiring.apps.services[service];
  const { objectStore, enginesCa, kafkaBrokers, kafkaSecurity, urls } = wiring;
  const { accessKey, secretKey } = objectStore;
  return {
    ...(enginesCa !== undefined && { NODE_EXTRA_CA_CERTS: enginesCa }),
    ...(kafkaBrokers && { KAFKA_BROKERS: kafkaBrokers, ...kafkaSecurity, KAFKAJS_NO_PARTITIONER_WARNING: '1' }),
    ...(objects && {
      S3_ENDPOINT: objectStore.endpoint,
      S3_REGION: objectStore.region,
      S3_BUCKET: objectStore.bucket,
      ...(accessKey !== undefined && secretKey !== undefined && { S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey }),
    }),
    ...(presigns && { S3_PUBLIC_ENDPOINT: urls.objects }),
  };
}

/** Whether a service is reached through an edge of this machine, which says who the client is. */
const isAtEdge = <S extends string>(service: S, { apps, replicas }: Wiring<S>): boolean =>
  replicas > 1 || publicHosts.every((host) => soleServiceOf(apps.services, host) !== service);

/**
 * The whole environment of one process of a service. Addresses, secrets and folders go only to the services whose entry names them.
 * @param replica from 0
 */
export function serviceEnvironment<S extends string>(
  service: S,
  replica: number,
  wiring: Wiring<S>,
): Record<string, string> {
  const { apps, data, urls, identities, grpcPorts, healthPorts, httpPorts, secretPaths } = wiring;
  const { grpc, calls, secrets: variables, folders = {}, files = {}, sharedFolders = [] } = apps.services[service];
  const httpPort = httpPorts[service]?.[replica];
  const foldersOf = ([variable, name]: readonly [string, string]) =>
    [
      variable,
      data.inside(sharedFolders.includes(variable) ? name : replicaNames(name, replica + 1)[replica]!),
    ] as const;
  return {
    NODE_ENV: 'production',
    LOG_LEVEL: 'info',
    HEALTH_LISTEN: local(healthPorts[service][replica]!),
    ...(grpc && { GRPC_LISTEN: local(grpcPorts[service][replica]!) }),
    ...(httpPort !== undefined && {
      ...(isAtEdge(service, wiring)
        ? { HTTP_LISTEN: local(httpPort), TRUSTED_PROXIES: '127.0.0.1/32' }
        : {
            HTTP_LISTEN: renderListenAddress({ host: wiring.listen, port: httpPort }),
            TRUSTED_PROXIES: wiring.trustedProxies,
            ...(wiring.proxyProtocol && { PROXY_PROTOCOL: 'on' }),
          }),
    }),
    TLS_CA: identities[service].ca,
    TLS_CERT: identities[service].cert,
    TLS_KEY: identities[service].key,
    BASE_URL: urls.base,
    MCP_URL: urls.mcp,
    API_URL: urls.api,
    MEDIA_URL: urls.media,
    ...Object.fromEntries(calls.map((name) => [addressVariableOf(name), grpcPorts[name].map(local).join()])),
    SECRETS_FILE: data.loginsFile(service),
    ...Object.fromEntries(
      variables.filter((name) => secretsInFiles.includes(name)).map((name) => [name, secretPaths[name]]),
    ),
    ...Object.fromEntries(Object.entries(folders).map(foldersOf)),
    ...mapValues(files, (file) => path.join(apps.filesFolder(service), file)),
    ...engines(service, wiring),
  };
}
