import { z } from 'zod';
import { followFile } from './follow-file.ts';
import { kafkaFaults } from './kafka-security.ts';
import { addressSchema, privatePortFaults } from './listen-address.ts';
import { proxyProtocolFaults } from './proxy-protocol-setting.ts';
import { publicOriginFaults } from './public-origins.ts';
import { readSecretsFile } from './secrets-file.ts';

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

function parseConfig<T extends z.ZodType>(schema: T, environment: Environment): Readonly<z.output<T>> {
  const result = schema.safeParse(environment);
  const named = namedBy(schema, environment);
  const faults = [
    ...(result.error?.issues ?? []).map((issue) => [issue.path.join('.') || '(all)', issue.message] as const),
    ...privatePortFaults(named),
    ...publicOriginFaults(named),
    ...kafkaFaults(named),
    ...proxyProtocolFaults(named),
  ];
  if (result.success && faults.length === 0) return Object.freeze(result.data);
  const lines = faults.map(([name, fault]) => `  ${name}: ${fault}`);
  throw new ConfigError(`The configuration is not valid:\n${lines.join('\n')}`);
}

/** Whether each variable of a schema is declared a secret. */
function declaredSecrets(schema: z.ZodType): ReadonlyMap<string, boolean> {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const named = Object.entries(properties) as (readonly [string, { readonly secret?: unknown }])[];
  return new Map(named.map(([name, { secret }]) => [name, secret === true]));
}

/**
 * The secrets of a schema in a file, which may have those of other schemas. Throws `ConfigError` for a file that is not one of secrets, or
 * that has a variable of the schema which is none.
 */
function secretsOf(schema: z.ZodType, file: string): Environment {
  let secrets: Environment;
  try {
    secrets = readSecretsFile(file);
  } catch {
    // The error of a parser would show what it could not parse.
    throw new ConfigError(`The configuration is not valid:\n  SECRETS_FILE: ${file} is not a JSON object of texts`);
  }
  const declared = declaredSecrets(schema);
  const foreign = Object.keys(secrets).filter((name) => declared.get(name) === false);
  if (foreign.length === 0) return Object.fromEntries(Object.entries(secrets).filter(([name]) => declared.get(name)));
  throw new ConfigError(
    `The configuration is not valid:\n  SECRETS_FILE: ${file} names what is no secret here: ${foreign.join(', ')}`,
  );
}

/**
 * Parses an environment with one schema and answers a frozen object. Variables the schema does not name are ignored. Ports for the
 * installation itself must have private addresses, public addresses origins of their own, a login at Kafka all of its parts, and
 * `PROXY_PROTOCOL` needs `TRUSTED_PROXIES`.
 *
 * Secrets may stand in the file that `SECRETS_FILE` names, where the environment has none. Their members answer what the file says
 * now, so who reads them again has a rotated secret without a restart; a file that is not valid any more changes nothing.
 * Throws `ConfigError` naming all missing and malformed variables.
 */
export function readConfig<T extends z.ZodType>(schema: T, environment: Environment): Readonly<z.output<T>> {
  const { SECRETS_FILE: file, ...own } = environment;
  if (file === undefined) return parseConfig(schema, environment);
  const read = () => parseConfig(schema, { ...secretsOf(schema, file), ...own });
  const first = read();
  const now = followFile(file, first, read, (error) => process.emitWarning(String((error as Error).message)));
  const config = { ...(first as Record<string, unknown>) };
  for (const name of Object.keys(secretsOf(schema, file)))
    Object.defineProperty(config, name, { enumerable: true, get: () => (now() as Record<string, unknown>)[name] });
  return Object.freeze(config) as Readonly<z.output<T>>;
}

const file = z.string().min(1).meta({ kind: 'file' });

/** Variables every service reads. */
export const commonConfig = {
  SECRETS_FILE: file
    .optional()
    .describe(
      'A JSON object with secrets of this service by variable, those that the environment does not have; read again when it changes.',
    ),
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

/** Variables of clients of Apache Kafka; all of them are optional. */
const kafkaConfig = {
  KAFKA_BROKERS: list
    .transform((brokers) => (brokers.length > 0 ? brokers : undefined))
    .optional()
    .meta({ kind: 'list' })
    .describe('Apache Kafka as the event bus: `host:port`, separated by commas.'),
  KAFKA_TLS: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Whether connections to Kafka are TLS; authorities of your own are named by `NODE_EXTRA_CA_CERTS`.'),
  KAFKA_SASL_MECHANISM: z
    .enum(['plain', 'scram-sha-256', 'scram-sha-512'])
    .optional()
    .describe(
      'How this service logs in at Kafka (SASL); `plain` needs `KAFKA_TLS=true`. Without it there is no login.',
    ),
  KAFKA_USERNAME: z.string().min(1).optional().describe('User of this service at Kafka.'),
  KAFKA_PASSWORD: z.string().min(1).optional().meta({ secret: true }).describe('Password of that user.'),
};

/** Parses the variables of Kafka alone, as a program has them that is no service. Throws `ConfigError`. */
export const readKafkaConfig = (environment: Environment): Omit<BusConfig, 'REDIS_URL'> =>
  readConfig(z.object(kafkaConfig), environment);

/** Variables of services that use the event bus: Kafka when KAFKA_BROKERS is set, else Redis Streams. */
export const busConfig = {
  REDIS_URL: redisUrl.describe('Redis, with the login of this service; without Kafka also the event bus.'),
  ...kafkaConfig,
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
