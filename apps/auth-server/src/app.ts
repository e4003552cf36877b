import { randomBytes } from 'node:crypto';
import { identityCatalog } from '@longwave/command-catalog';
import {
  createCheckpointSigner,
  createCommandExecutor,
  createReceiptLog,
  createReceiptSigner,
  createResourceReader,
  keepReceiptKeys,
  publicReceiptKey,
  startCheckpoints,
  startOutboxRelay,
} from '@longwave/command-pipeline';
import { busFromConfig } from '@longwave/event-bus';
import { topics } from '@longwave/events';
import { createGuardedFetch, type GuardedFetch } from '@longwave/guarded-fetch';
import { createPool, databaseOutage, pingDatabase } from '@longwave/postgres';
import { openKeyFile, openSigningKey, publicPartsOf } from '@longwave/principal';
import { openChannel, serveRpc, tlsFromConfig } from '@longwave/rpc';
import { CommandServiceService } from '@longwave/rpc/command';
import type { Logger, RunningApp } from '@longwave/service-kit';
import { accountRules } from './accounts/account-rules.ts';
import type { AuthServerConfig } from './config.ts';
import { credentialRules } from './credentials/credential-rules.ts';
import { verifyCredential } from './credentials/verify-credential.ts';
import { createAnswerGrant } from './grants/answer-grant.ts';
import { followProduct } from './grants/follow-product.ts';
import { startPages } from './http/start-pages.ts';
import { issueMachineToken } from './machine-tokens/issue-machine-token.ts';
import { machineTokenRules } from './machine-tokens/machine-token-rules.ts';
import { membershipRules } from './memberships/membership-rules.ts';
import { readPlans } from './plans.ts';
import { authServices } from './rpc/server.ts';
import { clientRules } from './oauth/client-rules.ts';
import { keepCommandLineClient } from './oauth/command-line-client.ts';
import { resourcesOf } from './oauth/resources.ts';
import { sweepRows } from './sweep-rows.ts';
import { createSendCommand } from './send-command.ts';
import { giveOwners } from './users/give-owners.ts';
import { userRules } from './users/user-rules.ts';
import { createAwaitHolders } from './verification/await-holders.ts';
import { createFollowChanges } from './verification/follow-changes.ts';
import { awaitsHolders } from './verification/verification-table.ts';

export interface AuthServerApp extends RunningApp {
  readonly port: number;
  readonly grpcPort: number;
}

/** Builds and starts auth-server over schema `identity`. Disposing ends calls in hand, then the relay. */
export async function createApp(
  config: AuthServerConfig,
  logger: Logger,
  overrides: { readonly clock?: () => Date; readonly fetchDocument?: GuardedFetch } = {},
): Promise<AuthServerApp> {
  const { clock = () => new Date() } = overrides;
  await using stack = new AsyncDisposableStack();
  const plans = readPlans(config.PLANS_FILE);
  const pool = createPool(() => config.DATABASE_URL, 'identity', { name: 'auth-server', settings: awaitsHolders });
  stack.defer(() => pool.end());

  const bus = stack.use(await busFromConfig(config, { clientName: 'auth-server', logger }));
  const relay = stack.use(
    startOutboxRelay({
      pool,
      topic: topics.identity,
      publish: (messages) => bus.publish(messages),
      onError: (error) => logger.warn({ err: error }, 'outbox.relay_failed'),
    }),
  );

  const receiptKey = openSigningKey(config.RECEIPT_SIGNING_KEY, {
    now: Date.now,
    onError: (error) => logger.error({ err: error }, 'receipt_key.unreadable'),
  });
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
    signReceipt: createReceiptSigner(receiptKey),
    clock,
    onCommitted: ({ type }, subjectId) => {
      relay.wake();
      if (type === 'account.create' || type === 'account.create_without_workspace') owners.wake();
      if (type === 'membership.invite') pages.mailInvitations();
      if (type === 'user.remove_second_factor') pages.mailSecondFactorOff(subjectId);
    },
  });
  const receiptKeys = stack.use(
    keepReceiptKeys({
      pool,
      present: () => publicReceiptKey(receiptKey()),
      onError: (error) => logger.warn({ err: error }, 'receipt_keys.not_read'),
    }),
  );
  stack.use(
    startCheckpoints({
      ...{ pool, clock },
      sign: createCheckpointSigner(receiptKey),
      origin: config.BASE_URL,
      onError: (error) => logger.error({ err: error }, 'checkpoint.failed'),
    }),
  );
  stack.use(keepCommandLineClient({ pool, execute, logger }));
  stack.use(sweepRows({ pool, clock, logger }));
  const owners = stack.use(giveOwners({ pool, send: createSendCommand(execute), logger }));
  const resources = resourcesOf({ base: config.BASE_URL, mcp: config.MCP_URL, api: config.API_URL });
  const principalKeyFile = [
    config.PRINCIPAL_PRIVATE_KEY,
    { now: Date.now, onError: (error: unknown) => logger.error({ err: error }, 'principal_key.unreadable') },
  ] as const;
  const principalKey = openSigningKey(...principalKeyFile);
  // Leases are renewed while all other connections verify: else a load that ends them would keep them from coming back.
  const leases = createPool(() => config.DATABASE_URL, 'identity', {
    name: 'auth-server',
    max: 2,
    settings: awaitsHolders,
  });
  stack.defer(() => leases.end());
  const changes = stack.use(
    createFollowChanges({
      pool: leases,
      onError: (error) => logger.warn({ err: error }, 'verification.changes_not_read'),
    }),
  );
  // Answers that wait hold up no renewal: that would keep them waiting.
  const holders = createPool(() => config.DATABASE_URL, 'identity', {
    name: 'auth-server',
    max: 1,
    settings: awaitsHolders,
  });
  stack.defer(() => holders.end());
  const awaitHolders = createAwaitHolders(holders, changes.wake);
  const { position } = changes;
  const verify = verifyCredential({ pool, plans, resources, principalKey, position, clock, logger });

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
  // Management publishes the answer, so it has every earlier key.
  await receiptKeys.ready;
  const server = await serveRpc({
    listen: config.GRPC_LISTEN,
    tls: tlsFromConfig(config),
    services: authServices({
      ...{ execute, awaitHolders, reader, verify, issue, pool, plans, clock, receiptKeys },
      followChanges: changes.follow,
      receipts: createReceiptLog(pool),
      principalKeys: publicPartsOf(openKeyFile(...principalKeyFile)),
    }),
    onError: (error, method) => logger.error({ err: error, method }, 'rpc.failed'),
    toProblem: databaseOutage,
  });
  stack.defer(() => server.close());

  const fetchDocument = overrides.fetchDocument ?? createGuardedFetch({ allowOrigins: config.FETCH_ALLOW_ORIGINS });
  const management = openChannel(config.MANAGEMENT_ADDRESS, 'management', tlsFromConfig(config));
  stack.defer(() => management.close());
  const answerGrant = createAnswerGrant({ ...management.client(CommandServiceService), principalKey, clock });
  const pages = stack.use(
    await startPages({
      config,
      pool,
      plans,
      resources,
      fetchDocument,
      execute,
      awaitHolders,
      answerGrant,
      clock,
      logger,
    }),
  );

  stack.use(followProduct({ bus, pool, logger, onSaved: pages.mailInvitations }));

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
