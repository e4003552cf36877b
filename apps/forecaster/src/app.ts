import { forecastJobKinds } from '@longwave/events';
import { openChannel, serveRpc, tlsFromConfig } from '@longwave/rpc';
import { CommandServiceService } from '@longwave/rpc/command';
import { BookingServiceService } from '@longwave/rpc/forecast';
import { JobServiceService, type Job } from '@longwave/rpc/job';
import { PacingServiceService } from '@longwave/rpc/serving';
import type { Logger, RunningApp } from '@longwave/service-kit';
import { workOnJobs } from '@longwave/worker-kit/jobs';
import type { Question } from './compute/question.ts';
import { createComputeThread, type ComputeThread } from './compute/thread.ts';
import type { ForecasterConfig } from './config.ts';
import { createListSellers } from './inputs/list-sellers.ts';
import { workOnJob } from './jobs/work-on-job.ts';
import { createAskBacktest } from './compute/ask-for-backtest.ts';
import { createCheck } from './compute/ask-in-time.ts';
import { makeAhead } from './compute/make-ahead.ts';
import { forecasterServices } from './server.ts';

export interface ForecasterApp extends RunningApp {
  readonly grpcPort: number;
}

/** Builds and starts the forecaster: its threads, the worker, and the answers to sellers. Disposing ends the work in hand. */
export async function createApp(config: ForecasterConfig, logger: Logger): Promise<ForecasterApp> {
  await using stack = new AsyncDisposableStack();
  const tls = tlsFromConfig(config);
  const { TLS_CA, TLS_CERT, TLS_KEY, MANAGEMENT_ADDRESS, INTERNAL_SERVING_ADDRESS, FORECASTER_PLAYS_MAX } = config;
  const ofThread = { TLS_CA, TLS_CERT, TLS_KEY, MANAGEMENT_ADDRESS, INTERNAL_SERVING_ADDRESS, FORECASTER_PLAYS_MAX };
  const startThread = () => stack.use(createComputeThread(ofThread));
  const idle: ComputeThread[] = Array.from({ length: config.FORECASTER_CONCURRENCY }, startThread);
  const answering = startThread();

  const management = openChannel(config.MANAGEMENT_ADDRESS, 'management', tls);
  stack.defer(() => management.close());
  const jobs = management.client(JobServiceService);
  const commands = management.client(CommandServiceService);
  const serving = openChannel(config.INTERNAL_SERVING_ADDRESS, 'internal-serving', tls);
  stack.defer(() => serving.close());
  const pacing = serving.client(PacingServiceService);
  const onError = (error: unknown) => logger.warn({ err: error }, 'ahead.failed');
  const listSellers = createListSellers(management.client(BookingServiceService));
  const ahead = stack.use(makeAhead(answering, { onError, listSellers }));
  const work = async (job: Job, signal: AbortSignal) => {
    const thread = idle.pop()!;
    const ask = <Q extends Question>(question: Q, ended: AbortSignal) => thread.ask(question, { ended });
    try {
      const asks = { forecast: ask, makePlans: ask, findRisks: ask };
      await workOnJob(job, { commands, jobs, pacing, logger, ...asks }, signal);
    } finally {
      idle.push(thread);
    }
  };
  const slots = { concurrency: config.FORECASTER_CONCURRENCY, kinds: async () => forecastJobKinds, work };
  stack.use(workOnJobs([slots], { name: 'forecaster', jobs, redisUrl: () => config.REDIS_URL, logger }));

  const server = await serveRpc({
    listen: config.GRPC_LISTEN,
    tls,
    services: forecasterServices(
      ahead.noting(createCheck(answering)),
      createAskBacktest(() => createComputeThread(ofThread)),
    ),
    onError: (error, method) => logger.error({ err: error, method }, 'rpc.failed'),
  });
  stack.defer(() => server.close());

  const owned = stack.move();
  return {
    grpcPort: server.port,
    readiness: { sellers: async () => ahead.isReady() },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
