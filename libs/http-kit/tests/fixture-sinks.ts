import { commonConfig, readConfig, runService } from '@longwave/service-kit';
import { z } from 'zod';

const schema = z.object({ ...commonConfig, HTTP_LISTEN: z.string(), SECRETS: z.string(), ENDS_BY: z.string() });
export type SinksConfig = z.output<typeof schema>;

await runService('fixture', {
  config: async () => ({ readConfiguration: (environment) => readConfig(schema, environment) }),
  app: () => import('./fixture-sinks-app.ts'),
});
