import { addressRangesSetting } from '@longwave/audience';
import { addressSchema, busConfig, commonConfig, objectStoreConfig, readConfig } from '@longwave/service-kit';
import { z } from 'zod';

const key32 = z
  .string()
  .regex(/^[0-9a-f]{64}$/i, 'expected 32 bytes in hex')
  .transform((text) => Buffer.from(text, 'hex'));

const tokenSecrets = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine((parts) => new Set(parts.map((part) => part.toLowerCase())).size === parts.length, 'a secret occurs twice')
  .pipe(z.array(key32));

const configSchema = z
  .object({
    ...commonConfig,
    ...busConfig,
    ...objectStoreConfig,
    /** The public media port. */
    HTTP_LISTEN: addressSchema,
    /** The port of RPCs from other services, by mutual TLS. */
    GRPC_LISTEN: addressSchema,
    DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
    INTERNAL_SERVING_ADDRESS: addressSchema,
    /** hosting-exchange, which learns what of another platform's content is in force; it need not be there. */
    HOSTING_EXCHANGE_ADDRESS: addressSchema,
    /** Public address of REST API v1, which the page at `/` names. */
    BASE_URL: z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, '')),
    /** Public address of HTTP_LISTEN; its host is part of every token. */
    MEDIA_URL: z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, '')),
    /** Secrets of 32 bytes in hex, separated by commas: the first one mints, all of them open. Weekly keys are derived from them. */
    DELIVERY_TOKEN_SECRETS: tokenSecrets,
    /** Master of the listener keys, 32 bytes in hex. */
    LISTENER_SECRET: key32,
    /** Proxies whose X-Forwarded-For is believed. */
    TRUSTED_PROXIES: addressRangesSetting,
    /** Our own monitors, validators and offices: their requests are never counted (rule 14 of docs/counting.md). */
    INTERNAL_ADDRESSES: addressRangesSetting,
    DECIDE_DEADLINE_MS: z.coerce.number().int().min(1).max(10_000).default(250),
    /**
     * Plays that may begin at one address in a minute (IPv6: in its /64), in this process; addresses of the safe list may begin any
     * number. Those beyond share one file without ads.
     */
    NEW_PLAYS_PER_ADDRESS_AND_MINUTE: z.coerce.number().int().min(1).max(1_000_000).default(60),
    /** How long bindings without ads are kept: the 24 h for which a listener keeps a file, and a day more for late requests. */
    CLEAN_BINDING_HOURS: z.coerce.number().int().min(48).default(48),
    /**
     * How long bindings with ads stay in PostgreSQL: their tokens open for 180 days and what is left of the week of their key. Then they
     * move to the object store.
     */
    BINDING_DAYS: z.coerce.number().int().min(188).default(190),
    /** How often rows whose time is over are removed. */
    SWEEP_EVERY_MS: z.coerce.number().int().min(1).max(86_400_000).default(3_600_000),
    /** Segments on the local disk; may be emptied at any time. */
    CACHE_FOLDER: z.string().min(1),
    CACHE_MAX_BYTES: z.coerce
      .number()
      .int()
      .min(0)
      .default(10 * 1024 ** 3),
    /** Blocks of segments that were read lately, in memory: many listeners of one file share them. */
    MEMORY_CACHE_MAX_BYTES: z.coerce
      .number()
      .int()
      .min(0)
      .default(64 * 1024 ** 2),
    /** Rendered feeds inside of CACHE_FOLDER. */
    FEED_CACHE_MAX_BYTES: z.coerce
      .number()
      .int()
      .min(0)
      .default(256 * 1024 ** 2),
    /** The WebSub hub that is told when a feed changed; none by default. */
    WEBSUB_HUB: z.url({ protocol: /^https?$/ }).optional(),
    /** The address that receives podpings, https://podping.cloud/, and the token of this sender; neither by default. */
    PODPING_URL: z.url({ protocol: /^https?$/ }).optional(),
    PODPING_TOKEN: z.string().min(1).optional(),
    /** How long after a change it is announced; further changes until then are announced with it. */
    ANNOUNCE_AFTER_MS: z.coerce.number().int().min(1).max(600_000).default(5_000),
    /** Facts not yet published; must survive a restart, one folder per process. */
    JOURNAL_FOLDER: z.string().min(1),
    /** Another MMDB than the bundled country list. */
    GEO_DATABASE: z.string().min(1).optional(),
    /** The bundled lists of libs/audience/data, or a copy of them. */
    AUDIENCE_DATA: z.string().min(1).optional(),
  })
  .refine((config) => (config.PODPING_URL === undefined) === (config.PODPING_TOKEN === undefined), {
    path: ['PODPING_TOKEN'],
    message: 'PODPING_URL and PODPING_TOKEN come together',
  });

export type DeliveryConfig = z.infer<typeof configSchema>;

export const readConfiguration = (environment: Readonly<Record<string, string | undefined>>): DeliveryConfig =>
  readConfig(configSchema, environment);
