import { addressRangesSetting } from '@longwave/audience';
import {
  addressSchema,
  busConfig,
  commonConfig,
  fetchConfig,
  pagesConfig,
  proxyProtocolSetting,
  readConfig,
  serviceAddressSchema,
} from '@longwave/service-kit';
import { z } from 'zod';

/** @public docs/configuration.md is made of it. */
export const configuration = z.object({
  ...commonConfig,
  ...busConfig,
  ...pagesConfig,
  // Rows of evidence that a platform publishes at an address.
  ...fetchConfig,
  GRPC_LISTEN: addressSchema.describe('Port of RPCs from other services, by mutual TLS; at a private address.'),
  HTTP_LISTEN: addressSchema.describe('Port of the Hosting Exchange API, public behind a proxy at `API_URL`.'),
  TRUSTED_PROXIES: addressRangesSetting.describe('Proxies whose `X-Forwarded-For` is believed.'),
  PROXY_PROTOCOL: proxyProtocolSetting,
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .meta({ secret: true })
    .describe('PostgreSQL with schema `exchange`, as the role of this service.'),
  REDIS_URL: busConfig.REDIS_URL.describe(
    'Redis, with the login of this service: counts requests and remembers the nonces of signed ones; without Kafka also the event bus.',
  ),
  ACCESS_TOKEN_KEYS: z
    .string()
    .min(1)
    .meta({ kind: 'file' })
    .describe('Public keys (JWKS) that access tokens are verified with; read again when the file changes.'),
  AUTH_SERVER_ADDRESS: serviceAddressSchema.describe('auth-server, which knows whether clients are active.'),
  MANAGEMENT_ADDRESS: serviceAddressSchema.describe('management, which executes the commands of messages.'),
  ANALYTICS_SINK_ADDRESS: serviceAddressSchema.describe('analytics-sink, which keeps the rows of evidence.'),
  BASE_URL: z.url().describe('Public root of auth-server, without a slash at the end: the issuer of access tokens.'),
  API_URL: z
    .url()
    .describe('Public root of the ad server APIs, without a slash at the end: the audience of tokens lies under it.'),
  MEDIA_URL: z.url().describe('Public root of Public Delivery, without a slash at the end: aliases answer below it.'),
  REQUESTS_PER_MINUTE: z.coerce.number().int().min(1).default(3_000).describe('Requests of one client in a minute.'),
  INTENT_OVERDUE_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .default(300)
    .describe('Seconds after which a serving intent without an acknowledgement is overdue.'),
  IDEMPOTENCY_DAYS: z.coerce
    .number()
    .int()
    .min(90)
    .default(90)
    .describe('Days that the answers of resolutions and acknowledgements are kept for repetitions of their requests.'),
});

export type Config = Readonly<z.output<typeof configuration>>;

/** Throws `ConfigError` naming every wrong variable. */
export function readConfiguration(environment: Readonly<Record<string, string | undefined>>): Config {
  return readConfig(configuration, environment);
}
