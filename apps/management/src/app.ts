import { createAddressSet, createSenderOf } from '@longwave/audience';
import { productCatalog } from '@longwave/command-catalog';
import {
  createApprovedRunner,
  createCommandExecutor,
  createCheckpointSigner,
  createReceiptLog,
  createReceiptSigner,
  createReviewPreview,
  createResourceReader,
  keepReceiptKeys,
  publicReceiptKey,
  startCheckpoints,
  startOutboxRelay,
  type ExecutorOptions,
} from '@longwave/command-pipeline';
import { archiveStreams, busFromConfig } from '@longwave/event-bus';
import { topics, tryParseTick, type DomainEvent } from '@longwave/events';
import { changesChannel, deliveryContract, jobsChannel, progressKeyOf } from '@longwave/services';
import { createGuardedFetch } from '@longwave/guarded-fetch';
import { connectRedis, createRateLimit, listenHttp, logRedisError } from '@longwave/http-kit';
import { verifyUnderLease } from '@longwave/http-kit/verify-under-lease';
import { objectStoreFromConfig } from '@longwave/object-store';
import { createPool, databaseProblem, pingDatabase } from '@longwave/postgres';
import { openKeyFile, openSigningKey } from '@longwave/principal';
import { serveRpc, tlsFromConfig } from '@longwave/rpc';
import { openRedis, type Logger, type RunningApp } from '@longwave/service-kit';
import { openSubscriber, type PollLoop } from '@longwave/worker-kit';
import { Redis } from 'ioredis';
import { createAccess } from './workspace/access/access.ts';
import { createDiagnostics } from './diagnostics/diagnostics.ts';
import { startClock } from './background/clock.ts';
import { dueTasks } from './due-tasks.ts';
import type { Config } from './config.ts';
import { followEvents } from './reactions.ts';
import { sendAsManagement } from './background/send-as-management.ts';
import { startJobRunner } from './background/job-runner.ts';
import { observeJobs } from './background/observe-jobs.ts';
import { createAuthenticate } from './http/authenticate.ts';
import { createChangeSignals } from './http/change-signals.ts';
import { createEventStreams } from './http/event-streams.ts';
import { withKeptCheckpoint } from './http/newest-checkpoint.ts';
import { pollChanges } from './http/poll-changes.ts';
import { basePath } from './http/public-documents.ts';
import { createManagementServer } from './http/server.ts';
import { createJobHandlers } from './job-handlers.ts';
import { startAlerts } from './commerce/alerts/tell-alerts.ts';
import { makegoodTasks } from './commerce/makegoods/makegood-tasks.ts';
import { createMeasureDelivery } from './commerce/makegoods/measure-delivery.ts';
import { createListItems } from './commerce/reconciliations/item-table.ts';
import { createFindQueuePlace } from './background/queue-forecast.ts';
import { createCountConfirmed } from './advertising/line-items/count-confirmed.ts';
import { startTrackers } from './advertising/trackers/start-trackers.ts';
import { createReadTally } from './advertising/trackers/tracker-tally-table.ts';
import { createCheckAvailability } from './commerce/forecasts/check-availability.ts';
import { startPacingPlans } from './commerce/forecasts/queue-pacing-plans.ts';
import { startDemandRefresh } from './advertising/demand-sources/refresh-sources.ts';
import { reachGoals } from './advertising/line-items/flight-tasks.ts';
import { createPublicFetch } from './outside/public-fetch.ts';
import { followRevocations } from './exchange/content/follow-revocations.ts';
import { startIntents } from './exchange/intents/publish-intents.ts';
import { createPreviewFeed } from './hosting/imports/preview-feed.ts';
import { createAwaitFeed, createCheckLiveFeed } from './hosting/podcasts/check-live-feed.ts';
import { platformsFromConfig } from './hosting/platforms/platforms.ts';
import { createPrepareArtwork } from './outside/prepare-artwork.ts';
import { createProbeDuration } from './outside/probe-duration.ts';
import { openServices } from './open-services.ts';
import { createRules } from './rules.ts';
import { createCheckRequester } from './workspace/reviews/check-requester.ts';
import { decideReview } from './workspace/reviews/decide-review.ts';
import { checkWorkspace } from './workspace/workspaces/check-workspace.ts';
import { managementServices } from './rpc/server.ts';
import { createSignExport } from './hosting/statistics-exports/sign-export.ts';
import { createProvisionWorkspace } from './workspace/workspaces/provision-workspace.ts';
import { createListDeliveries } from './workspace/webhooks/delivery-list-table.ts';
import { discloseSecrets } from './workspace/webhooks/disclose-secret.ts';
import { secretsFromConfig } from './workspace/webhooks/endpoint-secrets.ts';
import { startWebhooks } from './workspace/webhooks/start-webhooks.ts';
import {
  authorityReceipts,
  createGetAuthorityReceipt,
  findAuthorityKeys,
} from './workspace/receipts/authority-receipts.ts';
import { createSignStatement } from './commerce/billing/statement-documents.ts';
import { createReadLineFunnel } from './commerce/funnel/read-line-funnel.ts';
import { createReadStatementLedger } from './commerce/billing/read-statement-ledger.ts';
import { createSignReport } from './workspace/reports/sign-report.ts';
import { createUploadSigner } from './workspace/uploads/sign-upload.ts';

/** Builds management in reading order and starts it; disposing stops it in reverse. */
export async function createApp(
  config: Config,
  logger: Logger,
  overrides: { readonly clock?: () => Date } = {},
): Promise<RunningApp> {
  const clock = overrides.clock ?? (() => new Date());
  await using stack = new AsyncDisposableStack();
  const tls = tlsFromConfig(config);
  const pool = stack.adopt(
    createPool(() => config.DATABASE_URL, 'product', { name: 'management', max: 20 }),
    (p) => p.end(),
  );
  // Reads have connections and a time of their own, so that heavy lists hold up no command.
  const readPool = stack.adopt(
    createPool(() => config.DATABASE_URL, 'product', {
      ...{ name: 'management-reads', max: 8, statementTimeoutMs: 5_000 },
      readsPages: true,
    }),
    (p) => p.end(),
  );
  const redis = stack.adopt(
    openRedis(
      () => config.REDIS_URL,
      (url) => new Redis(url, { maxRetriesPerRequest: 1, commandTimeout: 5_000, socketTimeout: 6_000 }),
    ),
    (r) => r.disconnect(),
  );
  redis.on('error', (error: Error) => logger.warn({ err: error }, 'redis.unavailable'));
  const bus = stack.use(await busFromConfig(config, { clientName: 'management', logger }));
  const store = objectStoreFromConfig(config);
  await store.ensureBucket();
  // Kafka keeps topics on disk; Redis keeps streams in memory.
  if (!config.KAFKA_BROKERS)
    stack.use(
      archiveStreams({
        redisUrl: () => config.REDIS_URL,
        clientName: 'management',
        store,
        topics: [
          { topic: topics.product },
          { topic: topics.identity },
          { topic: topics.exchange },
          { topic: topics.deliveryFacts, keepDays: config.FACT_ARCHIVE_DAYS },
          { topic: topics.decisions, keepDays: config.FACT_ARCHIVE_DAYS },
          { topic: topics.opportunities, keepDays: config.FACT_ARCHIVE_DAYS },
        ],
        logger,
      }),
    );
  const asked = openServices(config, tls, stack);
  const { probe, ledger, stores, findPlan, findPresentation, listAdEvents } = asked;
  const countConfirmed = createCountConfirmed(asked.countAds, clock);
  const measureDelivery = createMeasureDelivery({ countConfirmed, ledger });
  const checkAvailability = createCheckAvailability(asked.checkAvailability);
  const guardedFetch = createGuardedFetch({
    allowOrigins: [new URL(config.MEDIA_URL).origin, ...config.FETCH_ALLOW_ORIGINS],
  });

  const publicFetch = createPublicFetch(guardedFetch);
  const platforms = platformsFromConfig(config);
  const secrets = secretsFromConfig(() => config.WEBHOOK_SECRET_KEYS);

  const receiptKey = openSigningKey(config.RECEIPT_SIGNING_KEY, {
    now: Date.now,
    onError: (error) => logger.error({ err: error }, 'receipt_key.unreadable'),
  });
  // Set when both run. A commit before that is found by their first poll.
  const wake: { relay?: PollLoop; jobs?: PollLoop; webhooks?: Pick<PollLoop, 'wake'> } = {};
  /** A worker that misses the call finds the job at its next poll. */
  const callWorkers = (reason: string) => void redis.publish(jobsChannel, reason).catch(() => undefined);
  const pipeline: ExecutorOptions<typeof productCatalog> = {
    pool,
    catalog: productCatalog,
    rules: createRules({
      pool,
      store,
      mediaUrl: config.MEDIA_URL,
      probeDuration: createProbeDuration(probe),
      prepareArtwork: createPrepareArtwork(probe),
      fetch: guardedFetch,
      publicFetch,
      ...{ countConfirmed, checkAvailability, sumUnitCosts: asked.sumUnitCosts },
      webhooks: { secrets, allowOrigins: config.FETCH_ALLOW_ORIGINS },
      reportDays: config.REPORT_DAYS,
      findPlan,
      submissions: { platforms, contract: deliveryContract, findPresentation },
      ...{ ledger, clock },
    }),
    signReceipt: createReceiptSigner(receiptKey),
    clock,
    decideReview,
    checkRequester: createCheckRequester(pool),
    checkWorkspace,
    onCommitted: (definition) => {
      wake.relay?.wake();
      if (definition.subject === 'webhook_endpoints') wake.webhooks?.wake();
      if (definition.mode !== 'async') return;
      wake.jobs?.wake();
      callWorkers(definition.type);
    },
  };
  const execute = createCommandExecutor(pipeline);
  /** For gateways and the Management API, whose clients are shown new secrets. */
  const executeAndDisclose = discloseSecrets(execute, { pool, secrets, clock });
  const onError = (event: string) => (error: unknown) => logger.error({ err: error }, event);
  wake.relay = stack.use(
    startOutboxRelay({
      pool,
      topic: topics.product,
      publish: async (messages) => {
        await bus.publish(messages);
        const workspaceIds = new Set(messages.map(({ payload }) => (payload as DomainEvent).workspace_id));
        // A stream that misses the call finds the changes at its next poll.
        redis.publish(changesChannel, JSON.stringify([...workspaceIds])).catch(() => undefined);
      },
      onError: onError('relay.failed'),
    }),
  );
  stack.use(observeJobs(pool));
  const outside = { pool, store, execute, fetch: guardedFetch, clock, random: Math.random };
  wake.jobs = stack.use(
    startJobRunner({
      pool,
      execute,
      handlers: createJobHandlers({
        ...{ ...outside, platforms },
        ...{ ...asked.forJobs, ledger },
        ...stores,
      }),
      leaseMs: config.JOB_LEASE_MS,
      onError: (error, job) => logger.error({ err: error, job_id: job?.id, kind: job?.kind }, 'job.failed'),
    }),
  );
  const send = sendAsManagement(execute, logger);
  for (const subscription of followEvents({
    ...{ bus, pool, store, send, logger, clock },
    runApproved: createApprovedRunner(pipeline),
  }))
    stack.use(subscription);
  const roots = { baseUrl: config.BASE_URL, apiUrl: config.API_URL };
  wake.webhooks = stack.use(
    startWebhooks({
      ...{ pool, bus, execute, secrets, clock, logger, roots },
      allowOrigins: config.FETCH_ALLOW_ORIGINS,
      keepDays: config.WEBHOOK_DELIVERY_DAYS,
    }),
  );
  stack.use(startAlerts({ pool, roots, clock, logger, serving: asked.alerts, onTold: () => wake.webhooks?.wake() }));
  stack.use(startTrackers({ pool, clock, logger, listAdEvents, allowOrigins: config.FETCH_ALLOW_ORIGINS }));
  stack.use(
    startClock({
      pool,
      execute,
      tasks: [...dueTasks, reachGoals(countConfirmed), ...makegoodTasks(measureDelivery, logger)],
      clock,
      everyMs: config.CLOCK_EVERY_MS,
      onError: (error, task) => logger.warn({ err: error, task }, 'clock.task_failed'),
    }),
  );
  stack.use(
    followRevocations({
      ...{ pool, send, clock },
      everyMs: config.CLOCK_EVERY_MS,
      onError: onError('exchange.revocation_failed'),
    }),
  );
  stack.use(startDemandRefresh({ ...outside, everyMs: 1_000, onError: onError('demand.refresh_failed') }));
  stack.use(
    startPacingPlans({
      ...{ pool, clock, everyMs: config.CLOCK_EVERY_MS },
      onQueued: () => callWorkers('make_pacing_plans'),
      onError: onError('pacing_plans.not_queued'),
    }),
  );
  stack.use(startIntents({ pool, execute, clock, everyMs: 1_000, onError: onError('exchange.intent_failed') }));

  const cursorKey = () => config.CURSOR_KEY;
  const origin = `${config.API_URL}${basePath}`;
  const sign = createCheckpointSigner(receiptKey);
  stack.use(startCheckpoints({ pool, sign, origin, clock, onError: onError('checkpoint.failed') }));
  const receiptsOfAuthServer = asked.receipts;
  const receiptKeys = stack.use(
    keepReceiptKeys({
      pool,
      present: () => publicReceiptKey(receiptKey()),
      findFurther: findAuthorityKeys(receiptsOfAuthServer),
      onError: (error) => logger.warn({ err: error }, 'receipt_keys.not_read'),
    }),
  );

  const reader = stack.use(
    createResourceReader({
      pool: readPool,
      schema: 'product',
      catalog: productCatalog,
      cursorKey,
      clock,
    }),
  );
  // Prisma opens its engine with the first query; a user should not wait for it.
  await reader.getResource('ws_warm_up', 'podcasts', 'pod_warm_up').catch(() => undefined);
  const access = createAccess(pool);
  const receipts = withKeptCheckpoint(createReceiptLog(readPool), clock);
  const listDeliveries = createListDeliveries(readPool);
  const uploads = createUploadSigner(pool, store, clock);
  const principalKeys = openKeyFile(config.PRINCIPAL_KEYS, {
    now: Date.now,
    onError: (error) => logger.error({ err: error }, 'principal_keys.unreadable'),
  });
  const server = await serveRpc({
    listen: config.GRPC_LISTEN,
    tls,
    services: managementServices({
      pool,
      execute: executeAndDisclose,
      reader,
      access,
      findQueuePlace: createFindQueuePlace(pool),
      checkLiveFeed: createCheckLiveFeed(config.MEDIA_URL, publicFetch),
      awaitFeed: createAwaitFeed(config.MEDIA_URL, publicFetch),
      previewFeed: createPreviewFeed(guardedFetch),
      signExport: createSignExport(pool, store, clock),
      uploads,
      listDeliveries,
      receipts,
      receiptKeys,
      principalKeys,
      leaseMs: config.JOB_LEASE_MS,
      clock,
    }),
    onError: (error, method) => logger.error({ err: error, method }, 'rpc.failed'),
    toProblem: databaseProblem,
  });
  stack.defer(() => server.close());
  const diagnostics = createDiagnostics({ pool, serving: stores.serving, clock });
  // A request never waits for a lost Redis: then it is not counted.
  const counters = stack.adopt(
    await connectRedis(() => config.REDIS_URL, {
      connectionName: 'management-rates',
      commandTimeout: 500,
      onError: logRedisError(logger),
    }),
    (connection) => connection.disconnect(),
  );
  const changeSignals = createChangeSignals();
  const subscriber = stack.adopt(
    openSubscriber(() => config.REDIS_URL, { connectionName: 'management-changes', onError: logRedisError(logger) }),
    (r) => r.disconnect(),
  );
  subscriber.on('message', (_channel, ids: string) => changeSignals.changed(JSON.parse(ids) as string[]));
  subscriber.subscribe(changesChannel).catch(logRedisError(logger));
  stack.use(pollChanges({ pool: readPool, signals: changeSignals, onError: onError('changes.poll_failed') }));
  const verifier = stack.use(verifyUnderLease(asked.credentials, onError('verification.changes_not_followed')));
  const eventStreams = createEventStreams();
  // The first answer of /keys has every earlier key.
  await receiptKeys.ready;
  const trustedProxies = createAddressSet(config.TRUSTED_PROXIES);
  const http = await listenHttp(
    config.HTTP_LISTEN,
    createManagementServer({
      authenticate: createAuthenticate(verifier, principalKeys, clock, config.BASE_URL),
      countRequest: createRateLimit(counters, clock, logger),
      senderOf: createSenderOf(trustedProxies),
      deps: {
        access,
        readAccess: createAccess(readPool),
        execute: executeAndDisclose,
        ...{ listDeliveries, listAlerts: asked.listAlerts, findPerson: asked.findPerson },
        ...{ readTally: createReadTally(readPool), listReconciliationItems: createListItems(readPool) },
        reader,
        receipts: {
          commands: receipts,
          authority: withKeptCheckpoint(authorityReceipts(receiptsOfAuthServer), clock),
        },
        getAuthorityReceipt: createGetAuthorityReceipt(receiptsOfAuthServer),
        diagnostics,
        uploads,
        provisionWorkspace: createProvisionWorkspace(pool, execute),
        cursorKey,
        clock,
        previewReview: createReviewPreview(pipeline),
        eventStreams,
        changeSignals,
        findProgress: async (id) => tryParseTick(await counters.get(progressKeyOf(id)).catch(() => null)),
        signReport: createSignReport(pool, store, clock),
        signStatement: createSignStatement(pool, store, clock),
        readStatementLedger: createReadStatementLedger(pool, ledger),
        readLineFunnel: createReadLineFunnel({ ...asked.forFunnels, pool, clock }),
      },
      receiptKeys,
      issuer: config.BASE_URL,
      apiUrl: config.API_URL,
      pages: config,
      logger,
    }),
    { proxyProtocol: config.PROXY_PROTOCOL && trustedProxies },
  );
  stack.defer(() => http.close());
  // Streams end first: the server waits for its answers.
  stack.use(eventStreams);

  const running = stack.move();
  return {
    readiness: {
      postgres: () => pingDatabase(pool),
      event_bus: () => bus.ping(),
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
