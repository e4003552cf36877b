import { hostname } from 'node:os';
import { busFromConfig, subscribeWhenReachable } from '@longwave/event-bus';
import { topics } from '@longwave/events';
import { objectStoreFromConfig } from '@longwave/object-store';
import { createPool, pingDatabase, repeatSweeps } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { serveRpc, tlsFromConfig } from '@longwave/rpc';
import type { Logger, RunningApp } from '@longwave/service-kit';
import { pollLoop, sleep } from '@longwave/worker-kit';
import type { ServingConfig } from './config.ts';
import { connectRedis } from './connect-redis.ts';
import { createAnnouncements } from './decisions/announce-decisions.ts';
import { archivedBefore, createDecisionArchive } from './decisions/decision-archive.ts';
import { createDecidePlay } from './decisions/decide-play.ts';
import { createDecisionReader } from './decisions/decision-reader.ts';
import { createDecisionWriter } from './decisions/decision-writer.ts';
import { createFindDecisions } from './decisions/find-decisions.ts';
import { createInsert } from './decisions/insert-packed.ts';
import { createTextLists } from './decisions/known-texts.ts';
import { createPreviewPlay } from './decisions/preview-play.ts';
import { createReplayDecisions } from './decisions/replay-decision.ts';
import { createServingNode } from './leases/serving-node.ts';
import { sessionName } from './leases/serving-mode-table.ts';
import { removeClosedNodes } from './leases/serving-node-table.ts';
import { createListenerMemory } from './listeners/listener-memory.ts';
import { createPublishOpportunities } from './numbers/publish-opportunities.ts';
import { removeOldOpportunities } from './numbers/opportunity-table.ts';
import { removeOldVerdicts, saveVerdicts } from './numbers/verdict-table.ts';
import { createVerdictTally } from './numbers/verdict-tally.ts';
import { removeClosedLeases } from './pacer/lease-grant-table.ts';
import { pacingService } from './pacer/pacing-service.ts';
import { startPacer } from './pacer/start-pacer.ts';
import { createCurrentPlans } from './plans/current-plans.ts';
import { createPlanFollower, planFollowerGroup } from './plans/follow-plans.ts';
import type { PlannedLine } from './plans/paced-lines.ts';
import { createForgetSampled } from './sample/forget-sampled.ts';
import { createPlayListeners } from './sample/play-listeners.ts';
import { createSampleHours } from './sample/sample-hours.ts';
import { sampleService } from './sample/sample-service.ts';
import { servingServices } from './server.ts';
import { createShareCounts, shareWindowStart } from './shares/share-counts.ts';
import { removeOldShares, sumShares } from './shares/share-table.ts';
import { createCurrentSuspensions } from './suspensions/current-suspensions.ts';
import { createStateFollower, stateFollowerGroup } from './suspensions/follow-states.ts';

/** Decisions of this time are announced together: nobody waits for them, and small batches cost their readers more. */
const announceAfterMs = 200;
/** How often every node polls for new plans, halts and shares. */
const refreshMs = 1_000;
/** How long buckets of listeners are in memory before their codes are written for the sample. */
const noteListenersMs = 10_000;
/** How often a process writes the verdicts that it has counted. */
const flushVerdictsMs = 10_000;
/** How often a process looks whether an hour can be sampled. */
const sampleMs = 60_000;

/** Days that opportunities and verdicts by the hour are kept. */
const numberDays = 100;
/** How long a node that starts waits for its first leases before it serves, and a new plan for those of its line items before it is used. */
const firstLeasesMs = 2_000;

export interface ServingApp extends RunningApp {
  readonly grpcPort: number;
}

/** Builds and starts internal-serving. It starts without Redis and object store too, and uses them when they come. */
export async function createApp(
  config: ServingConfig,
  logger: Logger,
  overrides: { readonly clock?: () => Date; readonly firstLeasesMs?: number } = {},
): Promise<ServingApp> {
  const clock = overrides.clock ?? (() => new Date());
  const mostWaitMs = overrides.firstLeasesMs ?? firstLeasesMs;
  const reasonOf = (event: string) => (error: unknown) => logger.warn({ reason: (error as Error).message }, event);
  await using stack = new AsyncDisposableStack();
  const tls = tlsFromConfig(config);
  const pool = createPool(() => config.DATABASE_URL, 'serving', { name: sessionName, max: 20, readsKeys: true });
  stack.defer(() => pool.end());
  const redis = connectRedis(() => config.REDIS_URL, reasonOf('redis.unavailable'));
  stack.defer(() => redis.disconnect());
  const store = objectStoreFromConfig(config);
  const bus = stack.use(await busFromConfig(config, { clientName: 'internal-serving', logger }));

  const plans = createCurrentPlans(pool, store, clock, logger);
  const listeners = createListenerMemory(redis, logger);
  const shares = createShareCounts((lineItemIds, since) => sumShares(pool, lineItemIds, since), clock);
  const suspensions = createCurrentSuspensions(pool);
  const node = stack.use(
    createServingNode(pool, {
      name: `${hostname()}:${process.pid}`,
      monotonicMs: () => performance.now(),
      onError: reasonOf('leases.report_failed'),
    }),
  );
  stack.use(
    pollLoop({
      everyMs: refreshMs,
      run: () => shares.read(plans.listShared()),
      onError: reasonOf('shares.read_failed'),
    }),
  );
  const pacer = stack.use(startPacer(config, { pool, plans, tls, logger }));
  /** A new plan is used once the line items that it adds can serve: no play of its first moments goes without them. */
  function awaitLeases(added: readonly PlannedLine[], signal: AbortSignal): Promise<void> {
    pacer.wake();
    const nowMs = clock().getTime();
    const begun = added.filter((line) => line.windowStartMs <= nowMs && nowMs < line.windowEndMs);
    return node.awaitLeases(
      begun.map((line) => line.lineItemId),
      mostWaitMs,
      signal,
    );
  }
  const refreshing = stack.use(
    pollLoop({
      everyMs: refreshMs,
      run: async (signal) => {
        if (!(await plans.refresh((added) => awaitLeases(added, signal)))) return;
        // Line items that left give back their leases, and those that still have none get them.
        pacer.wake();
        node.hasten();
      },
      onError: reasonOf('plans.refresh_failed'),
    }),
  );
  // Apart from the plans: an object store that hangs must not hold up a halt.
  const suspending = stack.use(
    pollLoop({
      everyMs: refreshMs,
      run: () => suspensions.refresh(),
      onError: reasonOf('suspensions.refresh_failed'),
    }),
  );

  // Plans are read once before serving, so that the first calls are not refused as too early.
  await plans.refresh().catch(reasonOf('plans.refresh_failed'));
  for (const [group, handle] of [
    [planFollowerGroup, createPlanFollower(pool, () => refreshing.wake())],
    [stateFollowerGroup, createStateFollower(pool, () => suspending.wake())],
  ] as const)
    stack.use(
      subscribeWhenReachable(bus, {
        ...{ topic: topics.product, group, handle },
        onRetry: (error, during) => reasonOf(during === 'subscribe' ? 'events.follow_failed' : 'events.retried')(error),
      }),
    );

  const texts = createTextLists(pool, reasonOf('known_texts.not_stored'));
  const reader = createDecisionReader(texts, (error) => logger.error({ err: error }, 'decision.unreadable'));
  const announcements = createAnnouncements(pool, reader, (messages) => bus.publish(messages));
  const announcing = stack.use(
    pollLoop({
      everyMs: refreshMs,
      run: async (signal) => {
        await sleep(announceAfterMs, signal);
        if (!signal.aborted) await announcements.publish();
      },
      onError: reasonOf('decisions.announce_failed'),
    }),
  );
  const write = createDecisionWriter(
    createInsert(pool, texts, (batchId, filled) => {
      announcements.add(batchId, filled);
      announcing.wake();
    }),
  );
  const decisions = createDecisionArchive(pool, store, reader);
  const sampling = createSampleHours(pool, reader, clock);
  const numbersFrom = () => new Date(clock().getTime() - numberDays * 86_400_000);
  stack.use(
    repeatSweeps({
      sweeps: [
        {
          name: 'old_decisions',
          remove: (maxRows) => decisions.moveOld(archivedBefore(clock(), config.DECISION_DAYS), maxRows),
        },
        { name: 'closed_nodes', remove: (maxRows) => removeClosedNodes(pool, shareWindowStart(clock()), maxRows) },
        { name: 'old_shares', remove: (maxRows) => removeOldShares(pool, shareWindowStart(clock()), maxRows) },
        { name: 'play_sample', remove: (maxRows) => sampling.removeOld(maxRows) },
        { name: 'old_opportunities', remove: (maxRows) => removeOldOpportunities(pool, numbersFrom(), maxRows) },
        { name: 'old_verdicts', remove: (maxRows) => removeOldVerdicts(pool, numbersFrom(), maxRows) },
        { name: 'closed_leases', remove: (maxRows) => removeClosedLeases(pool, maxRows) },
      ],
      everyMs: config.SWEEP_EVERY_MS,
      onSwept: (name, rows) => logger.info({ name, rows }, 'sweep.archived'),
      onError: (name, error) => logger.warn({ name, err: error }, 'sweep.failed'),
    }),
  );
  const playListeners = createPlayListeners(pool);
  stack.defer(() => playListeners.flush().catch(reasonOf('play_listeners.not_written')));
  stack.use(
    pollLoop({
      everyMs: noteListenersMs,
      sleepsFirst: true,
      run: () => playListeners.flush(),
      onError: reasonOf('play_listeners.not_written'),
    }),
  );
  const verdicts = createVerdictTally((sums) => saveVerdicts(pool, sums));
  // After the last decision.
  stack.defer(() => verdicts.flush().catch(reasonOf('verdicts.not_written')));
  stack.use(
    pollLoop({
      everyMs: flushVerdictsMs,
      sleepsFirst: true,
      run: () => verdicts.flush(),
      onError: reasonOf('verdicts.not_written'),
    }),
  );
  const publishing = stack.use(
    pollLoop({
      everyMs: sampleMs,
      run: createPublishOpportunities(pool, (messages) => bus.publish(messages)),
      onError: reasonOf('opportunities.publish_failed'),
    }),
  );
  // Off the listener's path: an hour is sampled minutes after its end, by one process.
  stack.use(
    pollLoop({
      everyMs: sampleMs,
      run: async () => {
        const isSampled = await sampling.sampleNext();
        if (isSampled) publishing.wake();
        return isSampled;
      },
      onError: reasonOf('sample.failed'),
    }),
  );
  if (plans.listPaced().length > 0) await node.awaitGrants(mostWaitMs);
  const decidePlay = createDecidePlay({
    ...{ noteListener: playListeners.add, countVerdicts: verdicts.add },
    ...{ decisions, plans, suspensions, node, listeners, shares, write, logger },
  });
  const server = await serveRpc({
    listen: config.GRPC_LISTEN,
    tls,
    services: [
      ...servingServices(
        decidePlay,
        createPreviewPlay({ node, plans, suspensions, shares }),
        createReplayDecisions(pool, store, decisions),
        createFindDecisions(pool, reader),
        listeners,
        createForgetSampled(pool, playListeners, clock),
      ),
      sampleService(pool),
      pacingService(pool),
    ],
    onError: (error, method) => {
      if (error instanceof Problem) logger.warn({ method, reason: error.message }, 'rpc.refused');
      else logger.error({ err: error, method }, 'rpc.failed');
    },
  });
  // Once the last play has ended others have its leases: they do not wait for anything else to end.
  stack.defer(async () => {
    await server.close();
    await node[Symbol.asyncDispose]();
  });

  const owned = stack.move();
  return {
    grpcPort: server.port,
    readiness: {
      postgres: () => pingDatabase(pool),
      plans: async () => plans.isReady(),
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
