import path from 'node:path';
import type { DataFolder } from './data-folder.ts';
import type { IdentityFiles } from './development-ca.ts';
import type { ObjectStoreAccess } from './object-store-server.ts';
import type { Secrets } from './secrets.ts';
import type { FleetService } from './service-names.ts';
import { workspaceRoot } from './workspace-root.ts';

/** Public roots, without a slash at the end. */
export interface FleetUrls {
  readonly base: string;
  readonly mcp: string;
  readonly api: string;
  readonly media: string;
}

/** What is needed to write down any service's environment. */
export interface Wiring {
  readonly data: DataFolder;
  readonly urls: FleetUrls;
  readonly grpcPorts: Readonly<Record<FleetService, number>>;
  readonly healthPorts: Readonly<Record<FleetService, number>>;
  readonly httpPorts: Readonly<Partial<Record<FleetService, number>>>;
  readonly identities: Readonly<Record<FleetService, IdentityFiles>>;
  readonly databaseUrls: Readonly<Partial<Record<FleetService, string>>>;
  /** "127.0.0.1:port"; each service logs in as a user of its own name. */
  readonly redisAddress: string;
  readonly kafkaBrokers: string | undefined;
  /** The keys are each service's own. */
  readonly objectStore: Pick<ObjectStoreAccess, 'endpoint' | 'region'> & { readonly bucket: string };
  readonly secrets: Secrets;
}

const local = (port: number) => `127.0.0.1:${port}`;

function common(service: FleetService, wiring: Wiring): Record<string, string> {
  const { urls, identities, grpcPorts } = wiring;
  const httpPort = wiring.httpPorts[service];
  return {
    NODE_ENV: 'production',
    LOG_LEVEL: 'info',
    HEALTH_LISTEN: local(wiring.healthPorts[service]),
    GRPC_LISTEN: local(grpcPorts[service]),
    ...(httpPort !== undefined && { HTTP_LISTEN: local(httpPort) }),
    TLS_CA: identities[service].ca,
    TLS_CERT: identities[service].cert,
    TLS_KEY: identities[service].key,
    MANAGEMENT_ADDRESS: local(grpcPorts.management),
    AUTH_SERVER_ADDRESS: local(grpcPorts['auth-server']),
    ENCODER_ADDRESS: local(grpcPorts.encoder),
    PUBLIC_DELIVERY_ADDRESS: local(grpcPorts['public-delivery']),
    INTERNAL_SERVING_ADDRESS: local(grpcPorts['internal-serving']),
    ANALYTICS_SINK_ADDRESS: local(grpcPorts['analytics-sink']),
    BASE_URL: urls.base,
    MCP_URL: urls.mcp,
    API_URL: urls.api,
    MEDIA_URL: urls.media,
    REDIS_URL: `redis://${service}:${wiring.secrets.services[service].redisPassword}@${wiring.redisAddress}`,
    ...(wiring.kafkaBrokers && { KAFKA_BROKERS: wiring.kafkaBrokers, KAFKAJS_NO_PARTITIONER_WARNING: '1' }),
  };
}

/** Secrets and folders go only to the services that use them. */
function own(service: FleetService, { data, secrets, objectStore }: Wiring): Record<string, string> {
  const bucket = {
    S3_ENDPOINT: objectStore.endpoint,
    S3_PUBLIC_ENDPOINT: objectStore.endpoint,
    S3_REGION: objectStore.region,
    S3_BUCKET: objectStore.bucket,
    S3_ACCESS_KEY: secrets.services[service].s3AccessKey,
    S3_SECRET_KEY: secrets.services[service].s3SecretKey,
  };
  const audience = { AUDIENCE_DATA: path.join(workspaceRoot, 'libs/audience/data') };
  switch (service) {
    case 'auth-server':
      return {
        PRINCIPAL_PRIVATE_KEY: secrets.principalPrivateKeyFile,
        RECEIPT_SIGNING_KEY: secrets.receiptSigningKeyFile,
        ACCESS_TOKEN_SIGNING_KEYS: secrets.accessTokenSigningKeysFile,
      };
    case 'management':
      return {
        ...bucket,
        PRINCIPAL_KEYS: secrets.principalKeysFile,
        RECEIPT_SIGNING_KEY: secrets.receiptSigningKeyFile,
        CURSOR_KEY: secrets.cursorKey,
      };
    case 'encoder':
      return { ...bucket, ENCODER_WORK_FOLDER: data.inside('encoder') };
    case 'internal-serving':
      return bucket;
    case 'analytics-sink':
      return { ...audience, PRINCIPAL_KEYS: secrets.principalKeysFile, ACCESS_TOKEN_KEYS: secrets.accessTokenKeysFile };
    case 'public-delivery':
      return {
        ...bucket,
        ...audience,
        LISTENER_SECRET: secrets.listenerSecret,
        DELIVERY_TOKEN_SECRETS: secrets.deliveryTokenSecrets,
        CACHE_FOLDER: data.inside('delivery-cache'),
        JOURNAL_FOLDER: data.inside('delivery-journal'),
        DECIDE_DEADLINE_MS: '250',
      };
    case 'rest-gateway':
      return {};
  }
}

/** The whole environment of one service. */
export function serviceEnvironment(service: FleetService, wiring: Wiring): Record<string, string> {
  const databaseUrl = wiring.databaseUrls[service];
  return {
    ...common(service, wiring),
    ...own(service, wiring),
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
}
