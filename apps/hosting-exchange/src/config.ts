import { addressRangesSetting } from '@longwave/audience';
import { addressSchema, busConfig, commonConfig, fetchConfig, pagesConfig, readConfig } from '@longwave/service-kit';
import { z } from 'zod';

const schema = z.object({
  ...commonConfig,
  ...busConfig,
  ...pagesConfig,
  // Rows of evidence that a platform publishes at an address.
  ...fetchConfig,
  GRPC_LISTEN: addressSchema,
  /** The Hosting Exchange API; public behind the ingress. */
  HTTP_LISTEN: addressSchema,
  /** Address ranges of proxies whose X-Forwarded-For is believed. */
  TRUSTED_PROXIES: addressRangesSetting,
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /** Counts requests, and remembers the nonces of signed requests. */
  REDIS_URL: z.string().min(1),
  /** File with the public keys (JWKS) that access tokens are verified with; read again when it changes. */
  ACCESS_TOKEN_KEYS: z.string().min(1),
  /** auth-server's gRPC, which knows whether clients are active. */
  AUTH_SERVER_ADDRESS: addressSchema,
  /** management's gRPC, which executes the commands of messages. */
  MANAGEMENT_ADDRESS: addressSchema,
  /** analytics-sink's gRPC, which keeps the rows of evidence. */
  ANALYTICS_SINK_ADDRESS: addressSchema,
  /** Public root of auth-server, without a slash at the end: the issuer of access tokens. */
  BASE_URL: z.url(),
  /** Public root of the ad server APIs, without a slash at the end. */
  API_URL: z.url(),
  /** Public root of Public Delivery, without a slash at the end: aliases answer below it. */
  MEDIA_URL: z.url(),
  /** Requests of one client in a minute. */
  REQUESTS_PER_MINUTE: z.coerce.number().int().min(1).default(3_000),
  /** After so many seconds a serving intent without an acknowledgement is overdue. */
  INTENT_OVERDUE_SECONDS: z.coerce.number().int().min(1).default(300),
  /** How many days the answers of resolutions and acknowledgements are kept for repetitions of their requests. */
  IDEMPOTENCY_DAYS: z.coerce.number().int().min(90).default(90),
});

export type Config = Readonly<z.output<typeof schema>>;

/** Throws `ConfigError` naming every wrong variable. */
export function readConfiguration(environment: Readonly<Record<string, string | undefined>>): Config {
  return readConfig(schema, environment);
}
