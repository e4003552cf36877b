import { addressRangesSetting } from '@longwave/audience';
import {
  addressSchema,
  busConfig,
  commonConfig,
  fetchConfig,
  objectStoreConfig,
  pagesConfig,
  readConfig,
} from '@longwave/service-kit';
import { z } from 'zod';

const root = z.url().transform((url) => url.replace(/\/+$/, ''));

const schema = z.object({
  ...commonConfig,
  ...busConfig,
  ...objectStoreConfig,
  ...fetchConfig,
  ...pagesConfig,
  GRPC_LISTEN: addressSchema,
  /** The Management API; public behind the ingress. */
  HTTP_LISTEN: addressSchema,
  /** Address ranges of proxies whose X-Forwarded-For is believed. */
  TRUSTED_PROXIES: addressRangesSetting,
  DATABASE_URL: z.string().min(1),
  /** auth-server's gRPC, which verifies access tokens. */
  AUTH_SERVER_ADDRESS: addressSchema,
  ENCODER_ADDRESS: addressSchema,
  ANALYTICS_SINK_ADDRESS: addressSchema,
  INTERNAL_SERVING_ADDRESS: addressSchema,
  PUBLIC_DELIVERY_ADDRESS: addressSchema,
  /** Public root of auth-server, without a slash at the end: the issuer of access tokens. */
  BASE_URL: root,
  /** Public root of the ad server APIs, without a slash at the end. */
  API_URL: root,
  /** Public root of Public Delivery; file and feed addresses start with it. */
  MEDIA_URL: root,
  /** File with the public keys (JWKS) that principal statements are verified with. */
  PRINCIPAL_KEYS: z.string().min(1),
  /** File with the private Ed25519 JWK that signs receipts. */
  RECEIPT_SIGNING_KEY: z.string().min(1),
  /** 32 bytes, hex; seals list cursors. */
  CURSOR_KEY: z.string().regex(/^[0-9a-f]{64}$/),
  /** 32 bytes in hex each, separated by commas, the newest first; the secrets of webhook endpoints are derived from them. */
  WEBHOOK_SECRET_KEYS: z
    .string()
    .regex(/^[0-9a-f]{64}(,[0-9a-f]{64})*$/)
    .transform((keys) => keys.split(',')),
  /** Days that ended deliveries to webhook endpoints are kept. */
  WEBHOOK_DELIVERY_DAYS: z.coerce.number().int().min(4).max(365).default(30),
  /** Milliseconds between two polls of the clock for what is due. */
  CLOCK_EVERY_MS: z.coerce.number().int().min(10).max(60_000).default(500),
  /** Days that delivery facts and decisions stay in the archive of the Redis bus; 13 months at least. */
  FACT_ARCHIVE_DAYS: z.coerce.number().int().min(396).default(400),
  /** Days that the result of a report is kept. */
  REPORT_DAYS: z.coerce.number().int().min(1).max(3_650).default(30),
  JOB_LEASE_MS: z.coerce.number().int().min(1000).max(600_000).default(30_000),
});

export type Config = z.output<typeof schema>;

/** Reads management's configuration; throws `ConfigError` naming everything that is wrong. */
export const readConfiguration = (environment: Readonly<Record<string, string | undefined>>): Readonly<Config> =>
  readConfig(schema, environment);
