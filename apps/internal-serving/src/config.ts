import { addressSchema, busConfig, commonConfig, objectStoreConfig, readConfig } from '@longwave/service-kit';
import { z } from 'zod';

const schema = z.object({
  ...commonConfig,
  ...busConfig,
  ...objectStoreConfig,
  GRPC_LISTEN: addressSchema,
  DATABASE_URL: z.string().min(1),
  /** How long decisions stay in PostgreSQL: at least as long as a token of their play may live. Then they move to the object store. */
  DECISION_DAYS: z.coerce.number().int().min(180).default(180),
  /** How often old decisions are moved. */
  SWEEP_EVERY_MS: z.coerce.number().int().min(1).max(86_400_000).default(3_600_000),
});

export type ServingConfig = Readonly<z.output<typeof schema>>;

/** Configuration from the environment. Throws `ConfigError` naming everything that is wrong. */
export const readConfiguration = (environment: Readonly<Record<string, string | undefined>>): ServingConfig =>
  readConfig(schema, environment);
