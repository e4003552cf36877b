import { addressSchema, busConfig, commonConfig, objectStoreConfig, readConfig } from '@longwave/service-kit';
import { z } from 'zod';

const schema = z.object({
  ...commonConfig,
  ...busConfig,
  ...objectStoreConfig,
  GRPC_LISTEN: addressSchema,
  DATABASE_URL: z.string().min(1),
});

export type ServingConfig = Readonly<z.output<typeof schema>>;

/** Configuration from the environment. Throws `ConfigError` naming everything that is wrong. */
export const readServingConfig = (environment: Readonly<Record<string, string | undefined>>): ServingConfig =>
  readConfig(schema, environment);
