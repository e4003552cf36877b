import { addressRangesSetting } from '@longwave/audience';
import {
  addressSchema,
  busConfig,
  commonConfig,
  objectStoreConfig,
  proxyProtocolSetting,
  readConfig,
  serviceAddressSchema,
} from '@longwave/service-kit';
import { z } from 'zod';
import { listenerSecretsPattern, parseListenerSecrets } from './listeners/listener-secrets.ts';

const key32 = z
  .string()
  .regex(/^[0-9a-f]{64}$/i, 'expected 32 bytes in hex')
  .transform((text) => Buffer.from(text, 'hex'));

const tokenSecrets = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine((parts) => new Set(parts.map((part) => part.toLowerCase())).size === parts.length, 'a secret occurs twice')
  .pipe(z.array(key32));

const root = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));
const folder = z.string().min(1).meta({ kind: 'folder' });
const bytes = z.coerce.number().int().min(0);

const stores = {
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .meta({ secret: true })
    .describe('PostgreSQL with schema `delivery`, as the role of this service.'),
  CLEAN_BINDING_HOURS: z.coerce
    .number()
    .int()
    .min(48)
    .default(48)
    .describe(
      'Hours that bindings without ads are kept: the 24 for which a listener keeps a file, and a day more for late requests.',
    ),
  BINDING_DAYS: z.coerce
    .number()
    .int()
    .min(188)
    .default(190)
    .describe(
      'Days that bindings with ads stay in PostgreSQL: their tokens open for 180 days and what is left of the week of their key. Then they move to the object store.',
    ),
  SWEEP_EVERY_MS: z.coerce
    .number()
    .int()
    .min(1)
    .max(86_400_000)
    .default(3_600_000)
    .describe('Milliseconds between two removals of rows whose time is over.'),
  CACHE_FOLDER: folder.describe('Segments on the local disk; may be emptied at any time.'),
  CACHE_MAX_BYTES: bytes.default(10 * 1024 ** 3).describe('Bound of the segments in `CACHE_FOLDER`.'),
  MEMORY_CACHE_MAX_BYTES: bytes
    .default(64 * 1024 ** 2)
    .describe('Blocks of segments that were read lately, in memory: many listeners of one file share them.'),
  FEED_CACHE_MAX_BYTES: bytes.default(256 * 1024 ** 2).describe('Rendered feeds inside of `CACHE_FOLDER`.'),
  JOURNAL_FOLDER: folder.describe('Facts not yet published; must survive a restart, one folder per process.'),
};

const announcements = {
  WEBSUB_HUB: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('The WebSub hub that is told when a feed changed.'),
  PODPING_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('The address that receives podpings: `https://podping.cloud/`.'),
  PODPING_TOKEN: z
    .string()
    .min(1)
    .optional()
    .meta({ secret: true })
    .describe('Token of this sender of podpings; comes together with `PODPING_URL`.'),
  ANNOUNCE_AFTER_MS: z.coerce
    .number()
    .int()
    .min(1)
    .max(600_000)
    .default(5_000)
    .describe('Milliseconds after a change until it is announced; further changes until then are announced with it.'),
};

/** @public docs/configuration.md is made of it. */
export const configuration = z
  .object({
    ...commonConfig,
    ...busConfig,
    ...objectStoreConfig,
    ...stores,
    ...announcements,
    HTTP_LISTEN: addressSchema.describe('The port of `MEDIA_URL`.'),
    GRPC_LISTEN: addressSchema.describe('Port of RPCs from other services, by mutual TLS; at a private address.'),
    INTERNAL_SERVING_ADDRESS: serviceAddressSchema.describe('internal-serving, which chooses ads.'),
    HOSTING_EXCHANGE_ADDRESS: serviceAddressSchema.describe(
      "hosting-exchange, which learns what of another platform's content is in force; it need not be there.",
    ),
    BASE_URL: root.describe('Public address of REST API v1, which the page at `/` names.'),
    MEDIA_URL: root.describe('Public address of `HTTP_LISTEN`; its host is part of every token.'),
    DELIVERY_TOKEN_SECRETS: tokenSecrets
      .meta({ secret: true })
      .describe(
        'Secrets of 32 bytes in hex, separated by commas: the first one mints, all of them open. Weekly keys are derived from them.',
      ),
    LISTENER_SECRET: z
      .string()
      .regex(listenerSecretsPattern, 'expected 32 bytes in hex, or several with @YYYY-MM, separated by commas')
      .transform(parseListenerSecrets)
      .meta({ secret: true })
      .describe(
        'Master of the listener keys, 32 bytes in hex. A new one stands before it with the month in which it begins: `hex@2027-01,hex`.',
      ),
    TRUSTED_PROXIES: addressRangesSetting.describe('Proxies whose `X-Forwarded-For` is believed.'),
    PROXY_PROTOCOL: proxyProtocolSetting,
    INTERNAL_ADDRESSES: addressRangesSetting.describe(
      'Our own monitors, validators and offices: their requests are never counted (rule 14 of [counting](counting.md)).',
    ),
    DECIDE_DEADLINE_MS: z.coerce
      .number()
      .int()
      .min(1)
      .max(10_000)
      .default(250)
      .describe('Milliseconds that a listener waits for ads.'),
    NEW_PLAYS_PER_ADDRESS_AND_MINUTE: z.coerce
      .number()
      .int()
      .min(1)
      .max(1_000_000)
      .default(60)
      .describe(
        'Plays that may begin at one address in a minute (IPv6: in its /64), in this process; addresses of the safe list may begin any number. Those beyond share one file without ads.',
      ),
    GEO_DATABASE: z
      .string()
      .min(1)
      .optional()
      .meta({ kind: 'file' })
      .describe('Another MMDB than the bundled country list.'),
    AUDIENCE_DATA: folder.optional().describe('A copy of `libs/audience/data`, in place of the bundled lists.'),
  })
  .refine((config) => (config.PODPING_URL === undefined) === (config.PODPING_TOKEN === undefined), {
    path: ['PODPING_TOKEN'],
    message: 'PODPING_URL and PODPING_TOKEN come together',
  });

export type DeliveryConfig = z.infer<typeof configuration>;

export const readConfiguration = (environment: Readonly<Record<string, string | undefined>>): DeliveryConfig =>
  readConfig(configuration, environment);
