import { rm } from 'node:fs/promises';
import { createGuardedFetch } from '@longwave/guarded-fetch';
import { objectStoreFromConfig } from '@longwave/object-store';
import { openChannel, serveRpc, tlsFromConfig } from '@longwave/rpc';
import { CommandServiceService } from '@longwave/rpc/command';
import { JobServiceService, type Job } from '@longwave/rpc/job';
import { createGate, openRedis, type Logger, type RunningApp } from '@longwave/service-kit';
import { workOnJobs } from '@longwave/worker-kit/jobs';
import { Redis } from 'ioredis';
import { createPrepareArtwork } from './artwork/prepare-artwork.ts';
import type { EncoderConfig } from './config.ts';
import { claimableKinds } from './jobs/claimable-kinds.ts';
import { watchRoom } from './jobs/free-disk.ts';
import { openWorkFolder } from './jobs/work-folder.ts';
import { workOnJob, type JobDeps } from './jobs/work-on-job.ts';
import { createProbe } from './probe/probe.ts';
import { encoderServices } from './server.ts';

/** The longest job of a slot for short work: about twelve minutes of sound. */
const maxShortJobMs = 20_000;

export interface EncoderApp extends RunningApp {
  readonly grpcPort: number;
}

/** Builds and starts the encoder: the probe service and the worker. Disposing ends the work in hand. */
export async function createApp(config: EncoderConfig, logger: Logger): Promise<EncoderApp> {
  await using stack = new AsyncDisposableStack();
  const tls = tlsFromConfig(config);
  const store = objectStoreFromConfig(config);
  const guardedFetch = createGuardedFetch({ allowOrigins: [config.MEDIA_URL, ...config.FETCH_ALLOW_ORIGINS] });
  const workFolder = await openWorkFolder(config.ENCODER_WORK_FOLDER);
  stack.defer(() => rm(workFolder, { recursive: true, force: true }));

  const onRedisError = (error: unknown) => logger.warn({ err: error }, 'redis.unavailable');
  const redis = openRedis(
    () => config.REDIS_URL,
    (url) =>
      new Redis(url, {
        ...{ enableOfflineQueue: false, maxRetriesPerRequest: 1 },
        // Work does not wait for its ticks.
        ...{ commandTimeout: 2_000, socketTimeout: 3_000 },
      }),
  ).on('error', onRedisError);
  stack.defer(() => redis.disconnect());

  const management = openChannel(config.MANAGEMENT_ADDRESS, 'management', tls);
  stack.defer(() => management.close());
  const jobs = management.client(JobServiceService);
  const deps: JobDeps = {
    store,
    guardedFetch,
    redis,
    commands: management.client(CommandServiceService),
    workFolder,
    maxSourceBytes: config.ENCODER_SOURCE_BYTES_MAX,
    logger,
  };
  const isRoom = watchRoom(workFolder, (room) =>
    room ? logger.info({ folder: workFolder }, 'disk.has_room') : logger.error({ folder: workFolder }, 'disk.full'),
  );
  const findsObjects = async () => (await store.find('readiness'), true);
  const slotsOf = (concurrency: number, maxExpectedMs?: number) => ({
    ...{ concurrency, maxExpectedMs },
    kinds: async (running: readonly Job[]) => {
      if (!(await isRoom())) return [];
      await findsObjects();
      return claimableKinds(running, concurrency);
    },
    work: (job: Job, signal: AbortSignal) => workOnJob(job, deps, signal),
  });
  const slots = [slotsOf(config.ENCODER_CONCURRENCY), slotsOf(config.ENCODER_SHORT_CONCURRENCY, maxShortJobMs)];
  stack.use(workOnJobs(slots, { name: 'encoder', jobs, redisUrl: () => config.REDIS_URL, logger }));

  const server = await serveRpc({
    listen: config.GRPC_LISTEN,
    tls,
    services: encoderServices({
      probe: createProbe({
        store,
        guardedFetch,
        maxSourceBytes: config.ENCODER_SOURCE_BYTES_MAX,
        gate: createGate(config.ENCODER_PROBE_CONCURRENCY),
      }),
      prepareArtwork: createPrepareArtwork({
        store,
        guardedFetch,
        gate: createGate(config.ENCODER_ARTWORK_CONCURRENCY),
        workFolder,
      }),
    }),
    onError: (error, method) => logger.error({ err: error, method }, 'rpc.failed'),
  });
  stack.defer(() => server.close());

  const owned = stack.move();
  return {
    grpcPort: server.port,
    readiness: {
      objects: findsObjects,
      redis: async () => (await redis.ping()) === 'PONG',
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
