import { hostname } from 'node:os';
import { forecastJobKinds } from '@longwave/events';
import { openChannel, serveRpc, tlsFromConfig } from '@longwave/rpc';
import { CommandServiceService } from '@longwave/rpc/command';
import { JobServiceService, type Job } from '@longwave/rpc/job';
import { PacingServiceService } from '@longwave/rpc/serving';
import type { Logger, RunningApp } from '@longwave/service-kit';
import { jobsChannel } from '@longwave/services';
import { leasedWorker, openSubscriber } from '@longwave/worker-kit';
import { createComputeThread, type ComputeThread } from './compute/thread.ts';
import type { ForecasterConfig } from './config.ts';
import { workOnJob } from './jobs/work-on-job.ts';
import { createAskBacktest } from './compute/ask-for-backtest.ts';
import { createCheck } from './compute/ask-in-time.ts';
import { forecasterServices } from './server.ts';

/** Management publishes on a channel after a job is committed; a worker that misses the call finds the job at its next poll. */
const pollMs = 2_000;
const maxRenewalMs = 2_000;

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

  const onRedisError = (error: unknown) => logger.warn({ err: error }, 'redis.unavailable');
  const wakeups = openSubscriber(() => config.REDIS_URL, {
    connectionName: 'forecaster-wakeups',
    onError: onRedisError,
  });
  stack.defer(() => wakeups.disconnect());

  const management = openChannel(config.MANAGEMENT_ADDRESS, 'management', tls);
  stack.defer(() => management.close());
  const jobs = management.client(JobServiceService);
  const commands = management.client(CommandServiceService);
  const serving = openChannel(config.INTERNAL_SERVING_ADDRESS, 'internal-serving', tls);
  stack.defer(() => serving.close());
  const pacing = serving.client(PacingServiceService);
  const workerId = `${hostname()}:${process.pid}`;
  const worker = stack.use(
    leasedWorker<Job>({
      concurrency: config.FORECASTER_CONCURRENCY,
      pollMs,
      claim: async (signal) => {
        const request = { workerId, kinds: [...forecastJobKinds], maxExpectedMs: undefined };
        return (await jobs.claimJob(request, { deadlineMs: 5_000, signal })).job;
      },
      leaseOf: ({ jobId, leaseId, leaseMs }) => ({
        leaseMs,
        renew: (signal) => jobs.renewLease({ jobId, leaseId }, { deadlineMs: maxRenewalMs, signal }),
      }),
      traceOf: ({ kind, traceparent }) => ({ kind, traceparent }),
      work: async (job, signal) => {
        const thread = idle.pop()!;
        try {
          await workOnJob(
            job,
            {
              ...{ commands, jobs, pacing, logger },
              forecast: (question, ended) => thread.ask(question, ended),
              makePlans: (question, ended) => thread.ask(question, ended),
              findRisks: (question, ended) => thread.ask(question, ended),
            },
            signal,
          );
        } finally {
          idle.push(thread);
        }
      },
      onError: (error, job) => logger.warn({ err: error }, job ? 'job.work_failed' : 'job.claim_failed'),
    }),
  );
  wakeups.on('message', () => worker.wake());
  wakeups.subscribe(jobsChannel).catch(onRedisError);

  const server = await serveRpc({
    listen: config.GRPC_LISTEN,
    tls,
    services: forecasterServices(
      createCheck(answering),
      createAskBacktest(() => createComputeThread(ofThread)),
    ),
    onError: (error, method) => logger.error({ err: error, method }, 'rpc.failed'),
  });
  stack.defer(() => server.close());

  const owned = stack.move();
  return { grpcPort: server.port, readiness: {}, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
