/** The smallest service: answers by HTTP and gRPC with a greeting from its schema, and counts its answers in Redis. */
import { readFile } from 'node:fs/promises';
import { listenHttp } from '@longwave/http-kit';
import { createPool } from '@longwave/postgres';
import { readTls, rpcService, serveRpc } from '@longwave/rpc';
import { ProbeServiceService } from '@longwave/rpc/probe';
import { addressSchema, commonConfig, readConfig, runService, type RunningApp } from '@longwave/service-kit';
import { Redis } from 'ioredis';
import { z } from 'zod';

const schema = z.object({
  ...commonConfig,
  GRPC_LISTEN: addressSchema,
  HTTP_LISTEN: addressSchema,
  DATABASE_URL: z.url().meta({ secret: true }),
  REDIS_URL: z.url().meta({ secret: true }),
  MANAGEMENT_ADDRESS: addressSchema,
  PRINCIPAL_KEYS: z.string().min(1),
  GREETER_FOLDER: z.string().min(1),
  GREETER_WORDS: z.string().min(1),
});

async function createApp(config: z.output<typeof schema>): Promise<RunningApp> {
  await using stack = new AsyncDisposableStack();
  await readFile(config.PRINCIPAL_KEYS);
  await readFile(config.GREETER_WORDS);
  const pool = stack.adopt(createPool(config.DATABASE_URL, 'greetings', { name: 'greeter' }), (it) => it.end());
  const redis = stack.adopt(new Redis(config.REDIS_URL), (it) => it.disconnect());
  const greet = async () => {
    const { rows } = await pool.query<{ text: string; role: string }>(
      'SELECT text, current_user AS role FROM greeting',
    );
    return { ...rows[0], count: await redis.incr('greeter:count') };
  };
  const rpc = await serveRpc({
    listen: config.GRPC_LISTEN,
    tls: readTls({ ca: config.TLS_CA, cert: config.TLS_CERT, key: config.TLS_KEY }),
    services: [
      rpcService(
        ProbeServiceService,
        { probe: ['operator'], prepareArtwork: [] },
        {
          probe: async () => ({
            outcome: {
              $case: 'unreadable' as const,
              value: { code: 'greeting', detail: JSON.stringify(await greet()) },
            },
          }),
          prepareArtwork: () => Promise.reject(new Error('is called by nobody')),
        },
      ),
    ],
    onError: () => undefined,
  });
  stack.defer(() => rpc.close());
  const http = await listenHttp(config.HTTP_LISTEN, (_request, response) => {
    greet().then(
      (greeting) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(greeting)),
      () => response.writeHead(500).end(),
    );
  });
  stack.defer(() => http.close());
  const owned = stack.move();
  return {
    readiness: { redis: async () => (await redis.ping()) === 'PONG' },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

await runService('greeter', {
  config: async () => ({ readConfiguration: (environment) => readConfig(schema, environment) }),
  app: async () => ({ createApp }),
});
