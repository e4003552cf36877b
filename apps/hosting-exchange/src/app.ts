import { createAddressSet, createSenderOf } from '@longwave/audience';
import { startOutboxRelay } from '@longwave/command-pipeline/outbox';
import { busFromConfig } from '@longwave/event-bus';
import { topics } from '@longwave/events';
import { createGuardedFetch } from '@longwave/guarded-fetch';
import { connectRedis, createRateLimit, listenHttp, logRedisError } from '@longwave/http-kit';
import { createPool, databaseOutage, pingDatabase, repeatSweeps, silentSessionMs } from '@longwave/postgres';
import { openKeyFile } from '@longwave/principal';
import { openChannel, serveRpc, tlsFromConfig } from '@longwave/rpc';
import { EvidenceServiceService } from '@longwave/rpc/audience';
import { CommandServiceService } from '@longwave/rpc/command';
import { ClientServiceService } from '@longwave/rpc/credential';
import { ReceiptServiceService } from '@longwave/rpc/receipt';
import { OperationServiceService } from '@longwave/rpc/resource';
import { observeGauge, type Logger, type RunningApp } from '@longwave/service-kit';
import { pollLoop } from '@longwave/worker-kit';
import { findAuthority } from './authorities/authority-table.ts';
import type { Config } from './config.ts';
import { startEvidenceImports } from './evidence/import-evidence.ts';
import { createAuthenticate } from './http/authenticate.ts';
import { basePath, createExchangeServer } from './http/server.ts';
import { createVerifySignedRequest } from './http/verify-signed-request.ts';
import { countOverdue } from './intents/intent-table.ts';
import { createAcceptMessages } from './messages/accept-messages.ts';
import { createFetchRules } from './messages/fetch-rules.ts';
import { removeRecords } from './messages/idempotency-table.ts';
import { createSettleStream, settleLeftBehind } from './messages/settle-stream.ts';
import { followProduct } from './projection/follow-product.ts';
import { exchangeService } from './rpc/exchange-service.ts';

/** How long auth-server may take to say whether a token still counts. */
const checkTokenMs = 2_000;
/** A message that has waited so long for its command was left behind by a crash. */
const unsettledMs = 5_000;
const dayMs = 86_400_000;

/** The Hosting Exchange. Owns schema `exchange`; everything that serves is a resource of management, made by its commands. */
export async function createApp(
  config: Config,
  logger: Logger,
  overrides: { readonly clock?: () => Date } = {},
): Promise<RunningApp> {
  await using stack = new AsyncDisposableStack();
  const clock = overrides.clock ?? (() => new Date());
  const tls = tlsFromConfig(config);
  const pool = stack.adopt(
    createPool(() => config.DATABASE_URL, 'exchange', { name: 'hosting-exchange', max: 20 }),
    (it) => it.end(),
  );
  const redis = await connectRedis(() => config.REDIS_URL, {
    connectionName: 'hosting-exchange',
    commandTimeout: 500,
    onError: logRedisError(logger),
  });
  stack.defer(() => redis.disconnect());
  const bus = stack.use(await busFromConfig(config, { clientName: 'hosting-exchange', logger }));
  const kept = <C extends { readonly close: () => void }>(channel: C): C => stack.adopt(channel, (it) => it.close());
  const authServer = kept(openChannel(config.AUTH_SERVER_ADDRESS, 'auth-server', tls));
  const management = kept(openChannel(config.MANAGEMENT_ADDRESS, 'management', tls));
  const sink = kept(openChannel(config.ANALYTICS_SINK_ADDRESS, 'analytics-sink', tls));
  const evidence = sink.client(EvidenceServiceService);
  const commands = management.client(CommandServiceService);

  const rpc = await serveRpc({
    listen: config.GRPC_LISTEN,
    tls,
    services: [exchangeService({ pool, clock })],
    onError: (error, method) => logger.error({ err: error, method }, 'rpc.failed'),
    toProblem: databaseOutage,
  });
  stack.defer(() => rpc.close());
  stack.use(
    startOutboxRelay({
      pool,
      topic: topics.exchange,
      publish: (messages) => bus.publish(messages),
      onError: (error) => logger.warn({ err: error }, 'relay.failed'),
    }),
  );
  stack.use(followProduct({ bus, pool, logger }));

  const locks = stack.adopt(
    createPool(() => config.DATABASE_URL, 'exchange', {
      ...{ name: 'hosting-exchange-settling', max: 20 },
      settings: { idle_session_timeout: String(silentSessionMs) },
    }),
    (it) => it.end(),
  );
  const settle = createSettleStream({ pool, locks, send: (...call) => commands.execute(...call), clock });
  stack.use(
    pollLoop({
      everyMs: 1_000,
      run: () =>
        settleLeftBehind(pool, settle, new Date(clock().getTime() - unsettledMs), {
          settled: ({ streamId }, refusal) =>
            logger.info({ stream_id: streamId, refused: refusal?.code }, 'stream.settled'),
          failed: ({ streamId }, error) => logger.warn({ err: error, stream_id: streamId }, 'stream.unsettled'),
        }),
      onError: (error) => logger.warn({ err: error }, 'stream.sweep_failed'),
    }),
  );
  const fetch = createGuardedFetch({ allowOrigins: config.FETCH_ALLOW_ORIGINS });
  stack.use(
    startEvidenceImports({
      ...{ pool, fetch, clock, logger, sink: evidence },
      send: (...call) => commands.execute(...call),
    }),
  );
  stack.use(
    repeatSweeps({
      sweeps: [
        {
          name: 'idempotency_records',
          remove: (maxRows) =>
            removeRecords(pool, new Date(clock().getTime() - config.IDEMPOTENCY_DAYS * dayMs), maxRows),
        },
      ],
      everyMs: 3_600_000,
      onSwept: (name, rows) => logger.info({ name, rows }, 'sweep.removed'),
      onError: (name, error) => logger.warn({ name, err: error }, 'sweep.failed'),
    }),
  );
  const overdueMs = config.INTENT_OVERDUE_SECONDS * 1000;
  stack.use(
    observeGauge(
      'longwave.exchange.intents.overdue',
      {
        unit: '{intent}',
        description: 'Newest serving intents that their platforms have not acknowledged for too long',
      },
      async () => [{ value: await countOverdue(pool, new Date(clock().getTime() - overdueMs)), labels: {} }],
    ),
  );

  const tokenKeys = openKeyFile(config.ACCESS_TOKEN_KEYS, {
    now: Date.now,
    onError: (error) => logger.error({ err: error }, 'token_keys.unreadable'),
  });
  const clients = authServer.client(ClientServiceService);
  const trustedProxies = createAddressSet(config.TRUSTED_PROXIES);
  const http = await listenHttp(
    config.HTTP_LISTEN,
    createExchangeServer({
      authenticate: createAuthenticate({
        findKey: (kid) => tokenKeys().find((key) => key.kid === kid),
        isActive: async ({ client_id: clientId, jti: tokenId }) =>
          (await clients.checkMachineToken({ clientId, tokenId }, { deadlineMs: checkTokenMs })).active,
        issuer: config.BASE_URL,
        audience: `${config.API_URL}${basePath}`,
        clock,
      }),
      countRequest: createRateLimit(redis, clock, logger),
      senderOf: createSenderOf(trustedProxies),
      verifySigned: createVerifySignedRequest({ pool, redis, apiUrl: config.API_URL, clock }),
      findAuthority: ({ workspaceId, authorityId }) => findAuthority(pool, workspaceId, authorityId, clock()),
      deps: {
        ...{ pool, clock, settle, evidence, overdueMs },
        accept: createAcceptMessages({
          ...{ pool, settle, clock },
          fetchRules: createFetchRules(new Set(config.FETCH_ALLOW_ORIGINS)),
        }),
        operations: management.client(OperationServiceService),
        receipts: management.client(ReceiptServiceService),
        mediaUrl: config.MEDIA_URL,
      },
      requestsPerMinute: config.REQUESTS_PER_MINUTE,
      issuer: config.BASE_URL,
      apiUrl: config.API_URL,
      pages: config,
      logger,
    }),
    { proxyProtocol: config.PROXY_PROTOCOL && trustedProxies },
  );
  stack.defer(() => http.close());
  const running = stack.move();
  return {
    readiness: { postgres: () => pingDatabase(pool), event_bus: () => bus.ping() },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
