import { createAddressSet, createSenderOf, readAudienceLists } from '@longwave/audience';
import { busFromConfig } from '@longwave/event-bus';
import { listenHttp } from '@longwave/http-kit';
import { createPool, databaseOutage, pingDatabase, repeatSweeps } from '@longwave/postgres';
import { openKeyFile } from '@longwave/principal';
import { openChannel, serveRpc, tlsFromConfig } from '@longwave/rpc';
import { ClientServiceService } from '@longwave/rpc/credential';
import type { Logger, RunningApp } from '@longwave/service-kit';
import { createCheckAccess } from './rpc/access.ts';
import { startBatchWorker } from './batches/batch-worker.ts';
import { createNoteLayouts } from './batches/known-layout-table.ts';
import type { Config } from './config.ts';
import { enterStages, entersStages } from './ads/enter-stages.ts';
import { consumeDecisions } from './ads/consume-decisions.ts';
import { consumeOpportunities } from './ads/consume-opportunities.ts';
import { consumeFacts } from './counting/consume-facts.ts';
import {
  moveKeptFrom,
  removeFacts,
  removePendingFacts,
  removeRequests,
  turnFactPartitions,
} from './counting/fact-retention.ts';
import { createAuthenticate } from './http/authenticate.ts';
import { basePath, createAudienceServer } from './http/server.ts';
import { createCountingMemory } from './counting/record-facts.ts';
import { adEventService } from './rpc/ad-event-service.ts';
import { cohortService } from './rpc/cohort-service.ts';
import { ledgerService } from './rpc/ledger-service.ts';
import { anomalyService } from './rpc/anomaly-service.ts';
import { audienceService } from './rpc/audience-service.ts';
import { evidenceService } from './rpc/evidence-service.ts';
import { listenerService } from './rpc/listener-service.ts';
import { removeUserAgents } from './counting/user-agent-table.ts';

/** How long auth-server may take to say whether a token still counts. */
const checkTokenMs = 2_000;

/** From one look for what a release before has counted to the next one: its slots come back to goals only after two hours. */
const enterStagesMs = 10_000;

/** Counts the audience: facts in from the bus, numbers out by gRPC. Owns schema `audience`. */
export async function createApp(config: Config, logger: Logger): Promise<RunningApp> {
  await using stack = new AsyncDisposableStack();
  const clock = () => new Date();
  const lists = readAudienceLists(config.AUDIENCE_DATA, Date.now);
  const pool = stack.adopt(
    createPool(() => config.DATABASE_URL, 'audience', {
      ...{ name: 'analytics-sink', copies: true },
      settings: entersStages,
    }),
    (it) => it.end(),
  );
  // Answers with numbers say up to when these are complete, so a read replica may lag.
  const numbers =
    config.DATABASE_REPLICA_URL === undefined
      ? pool
      : stack.adopt(
          createPool(() => config.DATABASE_REPLICA_URL!, 'audience', { name: 'analytics-sink numbers' }),
          (it) => it.end(),
        );
  const bus = stack.use(await busFromConfig(config, { clientName: 'analytics-sink', logger }));
  const principalKeys = openKeyFile(config.PRINCIPAL_KEYS, {
    now: Date.now,
    onError: (error) => logger.error({ err: error }, 'principal_keys.unreadable'),
  });
  const server = await serveRpc({
    listen: config.GRPC_LISTEN,
    tls: tlsFromConfig(config),
    services: [
      audienceService(numbers, createCheckAccess(principalKeys, clock)),
      anomalyService(pool, lists.listsVersion),
      listenerService(pool),
      adEventService(pool),
      cohortService(pool),
      ledgerService(pool),
      evidenceService(pool),
    ],
    onError: (error, method) => logger.error({ err: error, method }, 'rpc.failed'),
    toProblem: databaseOutage,
  });
  stack.defer(() => server.close());
  stack.use(consumeFacts({ bus, pool, lists, logger, note: createNoteLayouts(pool) }));
  stack.use(consumeDecisions({ bus, pool, listsVersion: lists.listsVersion, logger }));
  stack.use(consumeOpportunities({ bus, pool, logger }));
  const worker = stack.use(startBatchWorker({ pool, lists, memory: createCountingMemory(), clock, logger }));
  const userAgentMs = config.USER_AGENT_DAYS * 86_400_000;
  stack.use(
    repeatSweeps({
      sweeps: [
        {
          name: 'requests',
          remove: async (maxRows) => {
            await moveKeptFrom(pool, clock(), config.FACT_MONTHS);
            return removeRequests(pool, maxRows);
          },
        },
        { name: 'pending_facts', remove: (maxRows) => removePendingFacts(pool, maxRows) },
        { name: 'fact_partitions', remove: () => turnFactPartitions(pool) },
        { name: 'facts', remove: (maxRows) => removeFacts(pool, maxRows) },
        {
          name: 'user_agents',
          remove: (maxRows) => removeUserAgents(pool, new Date(clock().getTime() - userAgentMs), maxRows),
        },
      ],
      everyMs: config.SWEEP_EVERY_MS,
      onSwept: (name, rows) => logger.info({ name, rows }, 'sweep.removed'),
      onError: (name, error) => logger.warn({ name, err: error }, 'sweep.failed'),
    }),
  );
  stack.use(
    repeatSweeps({
      sweeps: [
        {
          name: 'stages',
          remove: (maxRows) =>
            enterStages(pool, lists.listsVersion, maxRows, (servingId, error) =>
              logger.warn({ serving_id: servingId, err: error }, 'stages.set_aside'),
            ),
        },
      ],
      everyMs: enterStagesMs,
      onSwept: (_, servings) => logger.info({ servings }, 'stages.entered'),
      onError: (_, error) => logger.warn({ err: error }, 'stages.failed'),
    }),
  );
  const tokenKeys = openKeyFile(config.ACCESS_TOKEN_KEYS, {
    now: Date.now,
    onError: (error) => logger.error({ err: error }, 'token_keys.unreadable'),
  });
  const authServer = openChannel(config.AUTH_SERVER_ADDRESS, 'auth-server', tlsFromConfig(config));
  stack.defer(() => authServer.close());
  const clients = authServer.client(ClientServiceService);
  const trustedProxies = createAddressSet(config.TRUSTED_PROXIES);
  const http = await listenHttp(
    config.HTTP_LISTEN,
    createAudienceServer({
      authenticate: createAuthenticate({
        findKey: (kid) => tokenKeys().find((key) => key.kid === kid),
        isActive: async ({ client_id: clientId, jti: tokenId }) =>
          (await clients.checkMachineToken({ clientId, tokenId }, { deadlineMs: checkTokenMs })).active,
        issuer: config.BASE_URL,
        audience: `${config.API_URL}${basePath}`,
        clock,
      }),
      senderOf: createSenderOf(trustedProxies),
      deps: { pool, clock, onAccepted: () => worker.wake() },
      issuer: config.BASE_URL,
      apiUrl: config.API_URL,
      pages: config,
      logger,
    }),
    { proxyProtocol: config.PROXY_PROTOCOL && trustedProxies },
  );
  stack.defer(() => http.close());
  logger.info({ lists: lists.listsVersion }, 'facts.following');
  const running = stack.move();
  return {
    readiness: {
      postgres: () => pingDatabase(pool),
      event_bus: () => bus.ping(),
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
