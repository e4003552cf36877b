import {
  addressSchema,
  busConfig,
  commonConfig,
  objectStoreConfig,
  readConfig,
  serviceAddressSchema,
} from '@longwave/service-kit';
import { z } from 'zod';

/** @public docs/configuration.md is made of it. */
export const configuration = z.object({
  ...commonConfig,
  ...busConfig,
  ...objectStoreConfig,
  GRPC_LISTEN: addressSchema.describe('Port of RPCs from other services, by mutual TLS; at a private address.'),
  ANALYTICS_SINK_ADDRESS: serviceAddressSchema.describe(
    'analytics-sink, which says what became of decided servings. Without it nothing returns to a goal.',
  ),
  DATABASE_URL: z
    .string()
    .min(1)
    .meta({ secret: true })
    .describe('PostgreSQL with schema `serving`, as the role of this service.'),
  DECISION_DAYS: z.coerce
    .number()
    .int()
    .min(180)
    .default(180)
    .describe(
      'Days that decisions stay in PostgreSQL: at least as long as a token of their play may live. Then they move to the object store.',
    ),
  SWEEP_EVERY_MS: z.coerce
    .number()
    .int()
    .min(1)
    .max(86_400_000)
    .default(3_600_000)
    .describe('Milliseconds between two moves of old decisions.'),
});

export type ServingConfig = Readonly<z.output<typeof configuration>>;

/** Configuration from the environment. Throws `ConfigError` naming everything that is wrong. */
export const readConfiguration = (environment: Readonly<Record<string, string | undefined>>): ServingConfig =>
  readConfig(configuration, environment);
