import { z } from 'zod';
import { addressSchema, privatePortFaults } from './listen-address.ts';
import { publicOriginFaults } from './public-origins.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Raised with every wrong variable at once; its message is what the operator reads. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

/** The variables that a schema names, of an environment that has others too. */
function namedBy(schema: z.ZodType, environment: Environment): Environment {
  if (!(schema instanceof z.ZodObject)) return {};
  return Object.fromEntries(Object.keys(schema.shape).map((name) => [name, environment[name]]));
}

/**
 * Parses an environment with one schema and answers a frozen object. Variables the schema does not name are ignored. Ports for the
 * installation itself must have private addresses, and public addresses origins of their own.
 * Throws `ConfigError` naming all missing and malformed variables.
 */
export function readConfig<T extends z.ZodType>(schema: T, environment: Environment): Readonly<z.output<T>> {
  const result = schema.safeParse(environment);
  const named = namedBy(schema, environment);
  const faults = [
    ...(result.error?.issues ?? []).map((issue) => [issue.path.join('.') || '(all)', issue.message] as const),
    ...privatePortFaults(named),
    ...publicOriginFaults(named),
  ];
  if (result.success && faults.length === 0) return Object.freeze(result.data);
  const lines = faults.map(([name, fault]) => `  ${name}: ${fault}`);
  throw new ConfigError(`The configuration is not valid:\n${lines.join('\n')}`);
}

const file = z.string().min(1).meta({ kind: 'file' });

/** Variables every service reads. */
export const commonConfig = {
  LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('The least level of log lines.'),
  HEALTH_LISTEN: addressSchema.describe(
    'Port of `/healthz`, `/readyz` and `/metrics`, for the orchestrator; at a private address.',
  ),
  PRIVATE_PORTS_ON_ALL_ADDRESSES: z
    .enum(['true', 'false'])
    .default('false')
    .describe(
      'Whether `HEALTH_LISTEN` and `GRPC_LISTEN` may be `0.0.0.0` or `[::]`: only where a network policy keeps outsiders away, as in a pod.',
    ),
  TLS_CA: file.describe('The authority (PEM) of the mutual TLS between services.'),
  TLS_CERT: file.describe('The certificate (PEM) of this service.'),
  TLS_KEY: file.describe('The private key (PEM) of the certificate.'),
};

const page = z.url({ protocol: /^https?$/ }).optional();

/** Pages of the operator, which metadata of protected resources name (RFC 9728 §2). */
export const pagesConfig = {
  POLICY_URL: page.describe('Page about how programs may use the data; the metadata of the resource name it.'),
  TERMS_URL: page.describe('Page with the terms of service; the metadata of the resource name it.'),
};

/** "one, two": what stands between commas. */
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean),
);

/** A Redis with the keys, channels and streams of the manifest. */
const redisUrl = z.url({ protocol: /^rediss?$/ }).meta({ secret: true });

/** Variables of services that use the event bus: Kafka when KAFKA_BROKERS is set, else Redis Streams. */
export const busConfig = {
  REDIS_URL: redisUrl.describe('Redis, with the login of this service; without Kafka also the event bus.'),
  KAFKA_BROKERS: list
    .transform((brokers) => (brokers.length > 0 ? brokers : undefined))
    .optional()
    .meta({ kind: 'list' })
    .describe('Apache Kafka as the event bus: `host:port`, separated by commas.'),
};

/** Variables of services that fetch addresses which clients name. */
export const fetchConfig = {
  FETCH_ALLOW_ORIGINS: list
    .pipe(z.array(z.url({ protocol: /^https?$/ })))
    .prefault('')
    .meta({ kind: 'list' })
    .describe(
      'Origins, separated by commas, that may be fetched although they are private or plain http; only their names may be in `/etc/hosts`.',
    ),
};

/** Variables of services that use the object store. */
export const objectStoreConfig = {
  S3_ENDPOINT: z.url().describe('The object store, as services reach it.'),
  S3_REGION: z.string().default('us-east-1').describe('Region of the bucket.'),
  S3_BUCKET: z.string().default('longwave').describe('The bucket of the installation.'),
  S3_ACCESS_KEY: z.string().min(1).meta({ secret: true }).describe('Access key of this service.'),
  S3_SECRET_KEY: z.string().min(1).meta({ secret: true }).describe('Secret key of this service.'),
};

/** Variables of services that give clients addresses of the object store. */
export const publicObjectStoreConfig = {
  ...objectStoreConfig,
  S3_PUBLIC_ENDPOINT: z
    .url()
    .optional()
    .describe(
      'The object store, as clients reach it; presigned addresses carry it. Without it they carry `S3_ENDPOINT`.',
    ),
};

type ValuesOf<S extends z.ZodRawShape> = Readonly<z.output<z.ZodObject<S>>>;

/** Configuration of the clients made from these variables; see `tlsFromConfig`, `busFromConfig` and `objectStoreFromConfig`. */
export type TlsConfig = Pick<ValuesOf<typeof commonConfig>, 'TLS_CA' | 'TLS_CERT' | 'TLS_KEY'>;
export type BusConfig = ValuesOf<typeof busConfig>;
export type ObjectStoreConfig = ValuesOf<typeof objectStoreConfig> &
  Partial<ValuesOf<Pick<typeof publicObjectStoreConfig, 'S3_PUBLIC_ENDPOINT'>>>;
