import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import {
  addressSchema,
  busConfig,
  commonConfig,
  fetchConfig,
  objectStoreConfig,
  readConfig,
  serviceAddressSchema,
} from '@longwave/service-kit';
import { z } from 'zod';

/** @public docs/configuration.md is made of it. */
export const configuration = z.object({
  ...commonConfig,
  ...objectStoreConfig,
  ...fetchConfig,
  REDIS_URL: busConfig.REDIS_URL.describe(
    'Redis, with the login of this service: wakes, and the progress of productions.',
  ),
  GRPC_LISTEN: addressSchema.describe('Port of RPCs from other services, by mutual TLS; at a private address.'),
  MANAGEMENT_ADDRESS: serviceAddressSchema.describe('management, which gives out jobs.'),
  ENCODER_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(256)
    .default(Math.max(1, availableParallelism() - 1))
    .meta({ defaultText: "one less than the machine's cores" })
    .describe('Jobs at a time.'),
  ENCODER_SHORT_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(0)
    .max(256)
    .default(1)
    .describe(
      'Further jobs at a time, only such as are expected to take less than 20 s: an ad does not wait for a long episode.',
    ),
  ENCODER_PROBE_CONCURRENCY: z.coerce.number().int().min(1).max(256).default(4).describe('Probes at a time.'),
  ENCODER_ARTWORK_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(256)
    .default(2)
    .describe('Images at a time; each takes one core and about 100 MB.'),
  MEDIA_URL: z
    .url({ protocol: /^https?$/ })
    .describe('Our own media host, whose files may be sources, also at a private address.'),
  ENCODER_WORK_FOLDER: z
    .string()
    .min(1)
    .default(path.join(tmpdir(), 'longwave-encoder'))
    .meta({ kind: 'folder', defaultText: 'in the temporary folder' })
    .describe('Sources and unfinished segments; needs room for the largest source of every slot, and 512 MB.'),
  ENCODER_SOURCE_BYTES_MAX: z.coerce
    .number()
    .int()
    .min(1)
    .default(20 * 1024 ** 3)
    .describe('Larger sources are refused. An upload may have 20 GB.'),
});

export type EncoderConfig = Readonly<z.output<typeof configuration>>;

/** Configuration from the environment. Throws `ConfigError` naming everything that is wrong. */
export const readConfiguration = (environment: Readonly<Record<string, string | undefined>>): EncoderConfig =>
  readConfig(configuration, environment);
