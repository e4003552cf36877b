import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { identityCatalog } from '@longwave/command-catalog';
import {
  createCommandExecutor,
  createReceiptSigner,
  createResourceReader,
  startOutboxRelay,
} from '@longwave/command-pipeline';
import { busFromConfig } from '@longwave/event-bus';
import { topics } from '@longwave/events';
import { createPool, databaseOutage, pingDatabase } from '@longwave/postgres';
import { serveRpc, tlsFromConfig } from '@longwave/rpc';
import type { Logger, RunningApp } from '@longwave/service-kit';
import { pollLoop } from '@longwave/worker-kit';
import type { JWK } from 'jose';
import { accountRules } from './accounts/account-rules.ts';
import type { AuthServerConfig } from './config.ts';
import { credentialRules } from './credentials/credential-rules.ts';
import { verifyCredential } from './credentials/verify-credential.ts';
import { followPodcasts } from './grants/follow-podcasts.ts';
import { startPages } from './http/start-pages.ts';
import { issueMachineToken } from './machine-tokens/issue-machine-token.ts';
import { machineTokenRules } from './machine-tokens/machine-token-rules.ts';
import { membershipRules } from './memberships/membership-rules.ts';
import { readPlans } from './plans.ts';
import { authServices } from './rpc/server.ts';
import { clientRules } from './oauth/client-rules.ts';
import { registerCommandLineClient } from './oauth/command-line-client.ts';
import { createSendCommand } from './send-command.ts';
import { giveOwners } from './users/give-owners.ts';
import { userRules } from './users/user-rules.ts';

const readKey = (path: string): JWK => JSON.parse(readFileSync(path, 'utf8')) as JWK;

export interface AuthServerApp extends RunningApp {
  readonly port: number;
  readonly grpcPort: number;
}

/** Builds and starts auth-server over schema `identity`. Disposing ends calls in hand, then the relay. */
export async function createApp(
  config: AuthServerConfig,
  logger: Logger,
  overrides: { readonly clock?: () => Date } = {},
): Promise<AuthServerApp> {
  const { clock = () => new Date() } = overrides;
  await using stack = new AsyncDisposableStack();
  const plans = readPlans(config.PLANS_FILE);
  const pool = createPool(config.DATABASE_URL, 'identity', { name: 'auth-server' });
  stack.defer(() => pool.end());

  const bus = stack.use(busFromConfig(config, { clientName: 'auth-server', logger }));
  const relay = stack.use(
    startOutboxRelay({
      pool,
      topic: topics.identity,
      publish: (messages) => bus.publish(messages),
      onError: (error) => logger.warn({ err: error }, 'outbox.relay_failed'),
    }),
  );

  const execute = createCommandExecutor({
    pool,
    catalog: identityCatalog,
    rules: {
      ...userRules,
      ...accountRules(plans),
      ...credentialRules,
      ...membershipRules,
      ...machineTokenRules,
      ...clientRules,
    },
    signReceipt: await createReceiptSigner(readKey(config.RECEIPT_SIGNING_KEY)),
    clock,
    onCommitted: ({ type }) => {
      relay.wake();
      if (type === 'account.create') owners.wake();
    },
  });
  // The database may be away at the start; one success is enough.
  let isRegistered = false;
  stack.use(
    pollLoop({
      run: async () => {
        if (!isRegistered) await registerCommandLineClient(pool, execute);
        isRegistered = true;
      },
      everyMs: 60_000,
      onError: (error) => logger.warn({ err: error }, 'oauth.command_line_client_missing'),
    }),
  );
  const owners = stack.use(giveOwners({ pool, send: createSendCommand(execute), logger }));
  const principalKey = readKey(config.PRINCIPAL_PRIVATE_KEY);
  const { d: _private, ...publicPrincipalKey } = principalKey;
  const verify = verifyCredential({ pool, plans, principalKey, clock, logger });

  const issue = issueMachineToken(execute, {
    issuer: config.BASE_URL,
    audience: `${config.API_URL}/audience/v1`,
    keysFile: config.ACCESS_TOKEN_SIGNING_KEYS,
  });

  const reader = stack.use(
    createResourceReader({
      pool,
      schema: 'identity',
      catalog: identityCatalog,
      // Only the operator uses these pages, so cursors may end with the process.
      cursorKey: randomBytes(32),
      clock,
    }),
  );
  stack.use(followPodcasts({ bus, pool, logger }));
  const server = await serveRpc({
    listen: config.GRPC_LISTEN,
    tls: tlsFromConfig(config),
    services: authServices({ execute, reader, verify, issue, pool, principalKeys: [publicPrincipalKey], clock }),
    onError: (error, method) => logger.error({ err: error, method }, 'rpc.failed'),
    toProblem: databaseOutage,
  });
  stack.defer(() => server.close());

  const pages = stack.use(await startPages({ config, pool, plans, execute, clock, logger }));

  const owned = stack.move();
  return {
    port: pages.port,
    grpcPort: server.port,
    readiness: {
      database: () => pingDatabase(pool),
      bus: () => bus.ping(),
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
