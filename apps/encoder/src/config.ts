import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { addressSchema, commonConfig, fetchConfig, objectStoreConfig, readConfig } from '@longwave/service-kit';
import { z } from 'zod';

const schema = z.object({
  ...commonConfig,
  ...objectStoreConfig,
  ...fetchConfig,
  REDIS_URL: z.url({ protocol: /^rediss?$/ }),
  GRPC_LISTEN: addressSchema,
  MANAGEMENT_ADDRESS: addressSchema,
  /** Jobs at a time. Default: one core less than there are. */
  ENCODER_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(256)
    .default(Math.max(1, availableParallelism() - 1)),
  /** Further jobs at a time, only such as are expected to be short: an ad does not wait for a long episode. */
  ENCODER_SHORT_CONCURRENCY: z.coerce.number().int().min(0).max(256).default(1),
  ENCODER_PROBE_CONCURRENCY: z.coerce.number().int().min(1).max(256).default(4),
  /** Images at a time; each takes one core and about 100 MB. */
  ENCODER_ARTWORK_CONCURRENCY: z.coerce.number().int().min(1).max(256).default(2),
  /** Files of our own media host may be sources, also at a private address. */
  MEDIA_URL: z.url({ protocol: /^https?$/ }),
  /** Sources and unfinished segments; needs room for the largest source of every slot. */
  ENCODER_WORK_FOLDER: z.string().min(1).default(path.join(tmpdir(), 'longwave-encoder')),
  /** An upload may have 20 GB. */
  ENCODER_SOURCE_BYTES_MAX: z.coerce
    .number()
    .int()
    .min(1)
    .default(20 * 1024 ** 3),
});

export type EncoderConfig = Readonly<z.output<typeof schema>>;

/** Configuration from the environment. Throws `ConfigError` naming everything that is wrong. */
export const readConfiguration = (environment: Readonly<Record<string, string | undefined>>): EncoderConfig =>
  readConfig(schema, environment);
