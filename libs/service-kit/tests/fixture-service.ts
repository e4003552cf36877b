import { z } from 'zod';
import { commonConfig, readConfig, runService, type Logger } from '../src/index.ts';

const schema = z.object({ ...commonConfig, MODE: z.enum(['serve', 'fail', 'fail_to_stop', 'chatter']) });

/** The smallest service: serves nothing, says when it is disposed and, as chatter, when it is asked. */
async function createApp({ MODE: mode }: z.output<typeof schema>, logger: Logger) {
  if (mode === 'fail') throw new Error('cannot reach postgresql://user:hunter2@db/longwave');
  return {
    readiness: {
      postgres: async () => {
        if (mode === 'chatter') logger.info({}, 'fixture.asked');
        return true;
      },
    },
    [Symbol.asyncDispose]: async () => {
      if (mode === 'fail_to_stop') throw new Error('cannot stop');
      logger.info({}, 'fixture.disposed');
    },
  };
}

await runService('fixture', {
  config: async () => ({ readConfiguration: (environment) => readConfig(schema, environment) }),
  app: async () => ({ createApp }),
});
