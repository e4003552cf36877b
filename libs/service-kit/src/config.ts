import { z } from 'zod';

/** Raised with every wrong variable at once; its message is what the operator reads. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

/**
 * Parses an environment with one schema and answers a frozen object. Variables the schema does not name are ignored.
 * Throws `ConfigError` naming all missing and malformed variables.
 */
export function readConfig<T extends z.ZodType>(
  schema: T,
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<z.output<T>> {
  const result = schema.safeParse(environment);
  if (result.success) return Object.freeze(result.data);
  const lines = result.error.issues.map((issue) => `  ${issue.path.join('.') || '(all)'}: ${issue.message}`);
  throw new ConfigError(`The configuration is not valid:\n${lines.join('\n')}`);
}

const isAddress = (text: string) => /^[^\s:]+:\d{1,5}$/.test(text) && Number(text.split(':')[1]) <= 65_535;
const address = z.string().refine(isAddress, 'expected host:port');

/** Variables every service reads. */
export const commonConfig = {
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  /** Liveness and readiness for the orchestrator. */
  HEALTH_LISTEN: address,
  TLS_CA: z.string().min(1),
  TLS_CERT: z.string().min(1),
  TLS_KEY: z.string().min(1),
};

const page = z.url({ protocol: /^https?$/ }).optional();

/** Pages of the operator, which metadata of protected resources name (RFC 9728 §2). */
export const pagesConfig = {
  /** How programs may use the data. */
  POLICY_URL: page,
  /** The terms of service. */
  TERMS_URL: page,
};

/** "one, two": what stands between commas. */
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean),
);

/** Variables of services that use the event bus: Kafka when KAFKA_BROKERS is set, else Redis Streams. */
export const busConfig = {
  REDIS_URL: z.url({ protocol: /^rediss?$/ }),
  KAFKA_BROKERS: list.transform((brokers) => (brokers.length > 0 ? brokers : undefined)).optional(),
};

/** Variables of services that fetch addresses which clients name. */
export const fetchConfig = {
  /** Origins, separated by commas, that may be fetched although they are private or plain http. */
  FETCH_ALLOW_ORIGINS: list.pipe(z.array(z.url({ protocol: /^https?$/ }))).prefault(''),
};

/** Variables of services that use the object store. */
export const objectStoreConfig = {
  S3_ENDPOINT: z.url(),
  /** Host that clients outside reach; signed into presigned URLs. Default: S3_ENDPOINT. */
  S3_PUBLIC_ENDPOINT: z.url().optional(),
  S3_REGION: z.string().default('us-east-1'),
  S3_BUCKET: z.string().default('longwave'),
  S3_ACCESS_KEY: z.string().min(1),
  S3_SECRET_KEY: z.string().min(1),
};

type ValuesOf<S extends z.ZodRawShape> = Readonly<z.output<z.ZodObject<S>>>;

/** Configuration of the clients made from these variables; see `tlsFromConfig`, `busFromConfig` and `objectStoreFromConfig`. */
export type TlsConfig = Pick<ValuesOf<typeof commonConfig>, 'TLS_CA' | 'TLS_CERT' | 'TLS_KEY'>;
export type BusConfig = ValuesOf<typeof busConfig>;
export type ObjectStoreConfig = ValuesOf<typeof objectStoreConfig>;

export { address as addressSchema };
