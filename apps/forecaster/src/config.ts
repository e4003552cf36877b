import { addressSchema, busConfig, commonConfig, readConfig, serviceAddressSchema } from '@longwave/service-kit';
import { z } from 'zod';

/** @public docs/configuration.md is made of it. */
export const configuration = z.object({
  ...commonConfig,
  REDIS_URL: busConfig.REDIS_URL.describe('Redis, with the login of this service: calls that there is work.'),
  GRPC_LISTEN: addressSchema.describe('Port of RPCs from other services, by mutual TLS; at a private address.'),
  MANAGEMENT_ADDRESS: serviceAddressSchema.describe('management, which gives out jobs and knows what is sold.'),
  INTERNAL_SERVING_ADDRESS: serviceAddressSchema.describe('internal-serving, which has the sample of plays.'),
  FORECASTER_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(64)
    .default(2)
    .describe(
      'Forecasts at a time, each with a core and the samples that it has read; one more answers questions of sellers.',
    ),
  FORECASTER_PLAYS_MAX: z.coerce
    .number()
    .int()
    .min(1000)
    .max(1_000_000)
    .default(40_000)
    .describe(
      'Plays of a full simulation: 40,000 leave an error of about 1.5 per cent, and a quarter of them twice that.',
    ),
});

export type ForecasterConfig = Readonly<z.output<typeof configuration>>;

/** Configuration from the environment. Throws `ConfigError` naming everything that is wrong. */
export const readConfiguration = (environment: Readonly<Record<string, string | undefined>>): ForecasterConfig =>
  readConfig(configuration, environment);
