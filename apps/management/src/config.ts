import { addressRangesSetting } from '@longwave/audience';
import {
  addressSchema,
  busConfig,
  commonConfig,
  fetchConfig,
  pagesConfig,
  publicObjectStoreConfig,
  proxyProtocolSetting,
  readConfig,
  serviceAddressSchema,
} from '@longwave/service-kit';
import { z } from 'zod';

const root = z.url().transform((url) => url.replace(/\/+$/, ''));
const file = z.string().min(1).meta({ kind: 'file' });

/** @public docs/configuration.md is made of it. */
export const configuration = z.object({
  ...commonConfig,
  ...busConfig,
  ...publicObjectStoreConfig,
  ...fetchConfig,
  ...pagesConfig,
  GRPC_LISTEN: addressSchema.describe('Port of RPCs from other services, by mutual TLS; at a private address.'),
  HTTP_LISTEN: addressSchema.describe('Port of the Management API, public behind a proxy at `API_URL`.'),
  TRUSTED_PROXIES: addressRangesSetting.describe('Proxies whose `X-Forwarded-For` is believed.'),
  PROXY_PROTOCOL: proxyProtocolSetting,
  DATABASE_URL: z
    .string()
    .min(1)
    .meta({ secret: true })
    .describe('PostgreSQL with schema `product`, as the role of this service.'),
  AUTH_SERVER_ADDRESS: serviceAddressSchema.describe('auth-server, which verifies access tokens.'),
  ENCODER_ADDRESS: serviceAddressSchema.describe('encoder, which probes files and converts artwork.'),
  FORECASTER_ADDRESS: serviceAddressSchema.describe('forecaster, which says what is left to sell.'),
  ANALYTICS_SINK_ADDRESS: serviceAddressSchema.describe('analytics-sink, which answers with numbers.'),
  INTERNAL_SERVING_ADDRESS: serviceAddressSchema.describe('internal-serving, which explains and finds decisions.'),
  PUBLIC_DELIVERY_ADDRESS: serviceAddressSchema.describe(
    'public-delivery, which finds presentations of episodes, and the listeners of decisions, whom it also erases.',
  ),
  BASE_URL: root.describe('Public root of auth-server: the issuer of access tokens.'),
  API_URL: root.describe(
    'Public root of the ad server APIs; `/management/v1` below it is the resource that tokens are issued for.',
  ),
  MEDIA_URL: root.describe('Public root of Public Delivery; addresses of files and feeds start with it.'),
  PRINCIPAL_KEYS: file.describe('Public keys (JWKS) that statements about principals are verified with.'),
  RECEIPT_SIGNING_KEY: file.describe('Private Ed25519 JWK that signs receipts.'),
  CURSOR_KEY: z
    .string()
    .regex(/^[0-9a-f]{64}(,[0-9a-f]{64})*$/)
    .transform((keys): readonly Buffer[] => keys.split(',').map((key) => Buffer.from(key, 'hex')))
    .meta({ secret: true })
    .describe(
      '32 bytes in hex each, separated by commas, the newest first: it seals the cursors of lists, all of them open.',
    ),
  WEBHOOK_SECRET_KEYS: z
    .string()
    .regex(/^[0-9a-f]{64}(,[0-9a-f]{64})*$/)
    .transform((keys) => keys.split(','))
    .meta({ secret: true })
    .describe(
      '32 bytes in hex each, separated by commas, the newest first; the secrets of webhook endpoints are derived from them. Keep every key that an endpoint still uses.',
    ),
  WEBHOOK_DELIVERY_DAYS: z.coerce
    .number()
    .int()
    .min(4)
    .max(365)
    .default(30)
    .describe('Days that ended deliveries to webhook endpoints are kept.'),
  CLOCK_EVERY_MS: z.coerce
    .number()
    .int()
    .min(10)
    .max(60_000)
    .default(500)
    .describe('Milliseconds between two polls of the clock for what is due.'),
  FACT_ARCHIVE_DAYS: z.coerce
    .number()
    .int()
    .min(396)
    .default(400)
    .describe('Days that delivery facts and decisions stay in the archive of the Redis bus; 13 months at least.'),
  REPORT_DAYS: z.coerce
    .number()
    .int()
    .min(1)
    .max(3_650)
    .default(30)
    .describe('Days that the result of a report is kept.'),
  APPLE_PODCASTS_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Root of Apple’s interface for hosts, as its documentation names it ([platforms](platforms.md#you-run-an-installation)).',
    ),
  APPLE_PODCASTS_ISSUER_ID: z
    .string()
    .min(1)
    .optional()
    .describe('Issuer of the tokens for Apple, from the page of keys.'),
  APPLE_PODCASTS_KEY_ID: z.string().min(1).optional().describe('Name of the key for Apple.'),
  APPLE_PODCASTS_KEY_FILE: file
    .optional()
    .describe('Private key for Apple (`.p8`: P-256, PKCS #8 in PEM); a replaced file holds from the next request on.'),
  JOB_LEASE_MS: z.coerce
    .number()
    .int()
    .min(1000)
    .max(600_000)
    .default(30_000)
    .describe('Milliseconds after which a job without a sign of life is given to another worker.'),
});

export type Config = z.output<typeof configuration>;

/** Reads management's configuration; throws `ConfigError` naming everything that is wrong. */
export const readConfiguration = (environment: Readonly<Record<string, string | undefined>>): Readonly<Config> =>
  readConfig(configuration, environment);
