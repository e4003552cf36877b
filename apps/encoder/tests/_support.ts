import path from 'node:path';
import { Redis } from 'ioredis';
import { awayAddresses, developmentCa, startTestObjectStore, startTestRedis } from '@longwave/fleet';
import { createObjectStore, type ObjectStore } from '@longwave/object-store';
import { Problem } from '@longwave/problems';
import { readTls, rpcService, serveRpc, type Tls } from '@longwave/rpc';
import { CommandServiceService, type ExecuteRequest } from '@longwave/rpc/command';
import { JobServiceService, type Job } from '@longwave/rpc/job';
import { readConfiguration, type EncoderConfig } from '../src/config.ts';
import { temporaryFolder } from './_media.ts';
import { startWebHost, type WebHost } from './_web-host.ts';

/** A stand-in for management: a queue of jobs with leases, and a record of commands. */
interface ManagementStandIn {
  readonly address: string;
  readonly executed: ExecuteRequest[];
  readonly renewals: string[];
  enqueue(job: Partial<Job> & Pick<Job, 'jobId' | 'kind' | 'subjectId' | 'inputJson'>): void;
  /** Lease id of a claimed job. */
  leaseOf(jobId: string): string | undefined;
  stop(jobId: string): void;
  loseLease(jobId: string): void;
  /** From now on a waiting job is expected to take an hour. */
  expectLong(jobId: string): void;
  /** Puts a claimed job back, as the end of its lease does. */
  expire(jobId: string): void;
  /** How the next commands end; absent: accepted. */
  readonly answers: Problem[];
}

async function startManagement(tls: Tls, leaseMs: number): Promise<ManagementStandIn & { close(): Promise<void> }> {
  const queue: Job[] = [];
  const claimed = new Map<string, Job>();
  const stopped = new Set<string>();
  const lost = new Set<string>();
  const long = new Set<string>();
  const executed: ExecuteRequest[] = [];
  const renewals: string[] = [];
  const answers: Problem[] = [];
  let leases = 0;
  const server = await serveRpc({
    listen: '127.0.0.1:0',
    tls,
    onError: () => {},
    services: [
      rpcService(
        JobServiceService,
        { claimJob: ['encoder'], renewLease: ['encoder'], endJob: [] },
        {
          claimJob: async ({ kinds, maxExpectedMs = Infinity }) => {
            const expectedMs = ({ jobId }: Job) => (long.has(jobId) ? 3_600_000 : 0);
            const index = queue.findIndex((job) => kinds.includes(job.kind) && expectedMs(job) <= maxExpectedMs);
            if (index < 0) return { job: undefined };
            const [job] = queue.splice(index, 1);
            const leased = { ...job!, leaseId: `lse_${++leases}`, attempt: job!.attempt + 1 };
            claimed.set(leased.jobId, leased);
            return { job: leased };
          },
          endJob: async () => ({ ended: false }),
          renewLease: async ({ jobId, leaseId }) => {
            renewals.push(leaseId);
            return { held: claimed.get(jobId)?.leaseId === leaseId && !lost.has(jobId), stop: stopped.has(jobId) };
          },
        },
      ),
      rpcService(
        CommandServiceService,
        { execute: ['encoder'] },
        {
          execute: async (request) => {
            executed.push(request);
            const problem = answers.shift();
            if (problem) throw problem;
            return { operationJson: '{}', resourceJson: '{}', status: 200, replayed: false };
          },
        },
      ),
    ],
  });
  return {
    address: `127.0.0.1:${server.port}`,
    executed,
    renewals,
    answers,
    enqueue: (job) =>
      void queue.push({
        leaseId: '',
        leaseMs,
        workspaceId: 'ws_1',
        subjectType: 'productions',
        subjectVersion: 2,
        attempt: 0,
        ...job,
      }),
    leaseOf: (jobId) => claimed.get(jobId)?.leaseId,
    stop: (jobId) => void stopped.add(jobId),
    expectLong: (jobId) => void long.add(jobId),
    loseLease: (jobId) => void lost.add(jobId),
    expire: (jobId) => void queue.push(claimed.get(jobId)!),
    close: () => server.close(100),
  };
}

export interface World extends AsyncDisposable {
  readonly folder: string;
  readonly management: ManagementStandIn;
  /** A host elsewhere on the web. */
  readonly web: WebHost;
  readonly store: ObjectStore;
  readonly redis: Redis;
  readonly environment: Readonly<Record<string, string>>;
  readonly config: EncoderConfig;
  tls(name: 'management' | 'public-delivery'): Tls;
  /** Keys of media blobs in the store. */
  mediaKeys(): Promise<string[]>;
}

/** Everything around the encoder: a real Redis, a real S3 server, certificates, and a stand-in for management. */
export async function createWorld(): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const temporary = temporaryFolder();
  stack.defer(() => temporary[Symbol.dispose]());
  const folder = temporary.path;
  const identities = await developmentCa(
    path.join(folder, 'tls'),
    ['management', 'encoder', 'public-delivery'],
    new Date(),
  );

  const web = stack.use(await startWebHost());
  const redisServer = stack.use(await startTestRedis());
  const redis = stack.adopt(new Redis(redisServer.url), (client) => client.disconnect());
  const s3 = stack.use(await startTestObjectStore());
  const store = createObjectStore(s3);
  await store.ensureBucket();
  const management = await startManagement(readTls(identities.management), 30_000);
  stack.defer(() => management.close());
  const { ca, cert, key } = identities.encoder;
  const environment = {
    LOG_LEVEL: 'silent',
    HEALTH_LISTEN: '127.0.0.1:0',
    TLS_CA: ca,
    TLS_CERT: cert,
    TLS_KEY: key,
    S3_ENDPOINT: s3.endpoint,
    S3_REGION: s3.region,
    S3_BUCKET: s3.bucket,
    S3_ACCESS_KEY: s3.accessKey,
    S3_SECRET_KEY: s3.secretKey,
    REDIS_URL: redisServer.url,
    GRPC_LISTEN: '127.0.0.1:0',
    ...awayAddresses('encoder'),
    MANAGEMENT_ADDRESS: management.address,
    MEDIA_URL: 'http://127.0.0.1:9',
    FETCH_ALLOW_ORIGINS: web.origin,
    ENCODER_CONCURRENCY: '2',
    ENCODER_SHORT_CONCURRENCY: '0',
    ENCODER_WORK_FOLDER: path.join(folder, 'work'),
  };
  const owned = stack.move();
  return {
    folder,
    management,
    web,
    store,
    redis,
    environment,
    config: readConfiguration(environment),
    tls: (name) => readTls(identities[name]),
    mediaKeys: async () => {
      const keys: string[] = [];
      for await (const { key } of store.list('media/')) keys.push(key);
      return keys;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
