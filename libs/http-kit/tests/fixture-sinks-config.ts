import { commonConfig, readConfig } from '@longwave/service-kit';
import { z } from 'zod';

const schema = z.object({ ...commonConfig, HTTP_LISTEN: z.string(), SECRETS: z.string(), ENDS_BY: z.string() });
export type SinksConfig = z.output<typeof schema>;

export const readConfiguration = (environment: Readonly<Record<string, string | undefined>>) =>
  readConfig(schema, environment);
