import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { anyTargeting, defaultSeparation, type PlanLineItem, type ServingPlanDocument } from '@longwave/events';
import { awayAddresses, developmentCa, startTestRedis } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { openChannel, readTls, rpcService, serveRpc, type RpcClient, type RpcService } from '@longwave/rpc';
import { CommandServiceService, type ExecuteRequest } from '@longwave/rpc/command';
import {
  BookingServiceService,
  ForecastServiceService,
  type ScheduledEpisode,
  type TrafficModifier,
} from '@longwave/rpc/forecast';
import { JobServiceService, type Job } from '@longwave/rpc/job';
import {
  PacingServiceService,
  SampleServiceService,
  type Committed,
  type PutFindingsRequest,
  type PutPlansRequest,
  type SampledPlay,
} from '@longwave/rpc/serving';
import { createLogger } from '@longwave/service-kit';
import { jobsChannel } from '@longwave/services';
import { Redis } from 'ioredis';
import { createApp } from '../src/app.ts';
import { readConfiguration } from '../src/config.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** What the stand-ins for management and internal-serving have, and what they were told. */
interface Told {
  readonly executed: ExecuteRequest[];
  /** How the next commands end; absent: accepted. */
  readonly answers: Problem[];
  readonly queue: Job[];
  readonly claimed: Map<string, Job>;
  readonly stopped: Set<string>;
  readonly lost: Set<string>;
  /** Plays of every workspace, the oldest first. */
  plays: SampledPlay[];
  plan: ServingPlanDocument;
  bookingVersion: number;
  modifiers: TrafficModifier[];
  committed: Committed[];
  /** Plans that internal-serving was given. */
  readonly put: PutPlansRequest[];
  /** Line items at risk that it was told of. */
  readonly found: PutFindingsRequest[];
  /** Jobs that were ended without a report. */
  readonly ended: Set<string>;
  releases: ScheduledEpisode[];
  /** Requests for the sample. */
  sampleReads: number;
  /** Requests for the booking: the workspace, and the digest of the plan that was known. */
  readonly knownDigests: string[];
  isSampleAway: boolean;
  /** Waits before the sample is sent. */
  beforeSample: () => Promise<void>;
}

/** Jobs, commands and bookings of management. */
const managementOf = (world: Told): readonly RpcService[] => [
  rpcService(
    JobServiceService,
    { claimJob: ['forecaster'], renewLease: ['forecaster'], endJob: ['forecaster'] },
    {
      claimJob: async ({ kinds }) => {
        const at = world.queue.findIndex((job) => kinds.includes(job.kind));
        if (at < 0) return { job: undefined };
        const [job] = world.queue.splice(at, 1);
        const leased = { ...job!, leaseId: newId('lse'), attempt: job!.attempt + 1 };
        world.claimed.set(leased.jobId, leased);
        return { job: leased };
      },
      endJob: async ({ jobId, leaseId }) => {
        const ended = world.claimed.get(jobId)?.leaseId === leaseId;
        if (ended) world.ended.add(jobId);
        return { ended };
      },
      renewLease: async ({ jobId, leaseId }) => ({
        held: world.claimed.get(jobId)?.leaseId === leaseId && !world.lost.has(jobId),
        stop: world.stopped.has(jobId),
      }),
    },
  ),
  rpcService(
    CommandServiceService,
    { execute: ['forecaster'] },
    {
      execute: async (request) => {
        world.executed.push(request);
        const problem = world.answers.shift();
        if (problem) throw problem;
        return { operationJson: '{}', resourceJson: '{}', status: 200, replayed: false };
      },
    },
  ),
  rpcService(
    BookingServiceService,
    { readBooking: ['forecaster'], listSellers: ['forecaster'] },
    {
      listSellers: async () => ({ sellers: [] }),
      readBooking: async ({ workspaceId, knownDigest }, _context, send) => {
        world.knownDigests.push(`${workspaceId} ${knownDigest}`);
        const planDigest = `${world.bookingVersion}`.padStart(64, '0');
        const head = { bookingVersion: BigInt(world.bookingVersion), planDigest, timeZone: 'UTC' };
        await send({
          content: { $case: 'head', value: { ...head, modifiers: world.modifiers, releases: world.releases } },
        });
        if (knownDigest === planDigest) return;
        const bytes = Buffer.from(JSON.stringify(world.plan));
        const half = Math.ceil(bytes.length / 2);
        for (const piece of [bytes.subarray(0, half), bytes.subarray(half)])
          await send({ content: { $case: 'plan', value: piece } });
      },
    },
  ),
];

const rangeOf = ({ fromMs, toMs }: { readonly fromMs: bigint; readonly toMs: bigint }) => ({
  has: (atMs: bigint) => atMs >= fromMs && atMs < toMs,
});

/** Opportunities of the plays by hour and episode. */
const hoursOf = (plays: readonly SampledPlay[]) =>
  [...Map.groupBy(plays, ({ atMs, episodeId }) => `${atMs / BigInt(hourMs)} ${episodeId}`).values()].map((same) => {
    const { podcastId: podcast, episodeId, publishedAtMs, language, contentCategories, atMs } = same[0]!;
    return {
      ...{ podcastId: podcast, episodeId, publishedAtMs, language, contentCategories },
      hourMs: (atMs / BigInt(hourMs)) * BigInt(hourMs),
      opportunities: BigInt(same.length),
    };
  });

/** The sample of internal-serving. */
const servingOf = (world: Told): readonly RpcService[] => [
  rpcService(
    SampleServiceService,
    { readSample: ['forecaster'], readPlayHours: ['forecaster'], readCommitted: ['forecaster'] },
    {
      readSample: async (request, _context, send) => {
        world.sampleReads++;
        await world.beforeSample();
        if (world.isSampleAway) throw new Problem('temporarily_unavailable');
        const range = rangeOf(request);
        await send({ plays: world.plays.filter(({ atMs }) => range.has(atMs)), layouts: [layout] });
      },
      readPlayHours: async (request, _context, send) => {
        const range = rangeOf(request);
        await send({ hours: hoursOf(world.plays).filter((row) => range.has(row.hourMs)) });
      },
      readCommitted: async () => ({ lineItems: world.committed }),
    },
  ),
  rpcService(
    PacingServiceService,
    {
      ...{ readPacing: [], readPacingHours: [], readFunnel: [], listAlerts: [], readAlertEvents: [] },
      putPlans: ['forecaster'],
      putFindings: ['forecaster'],
    },
    {
      readPacing: async () => ({ lineItems: [] }),
      readPacingHours: async () => ({ hours: [] }),
      readFunnel: async () => ({ hours: [], opportunitiesUntilMs: 0n }),
      listAlerts: async () => ({ alerts: [] }),
      readAlertEvents: async () => ({ events: [] }),
      putPlans: async (request) => {
        world.put.push(request);
        return { changed: request.plans.length, removed: 0 };
      },
      putFindings: async (request) => {
        world.found.push(request);
        return {};
      },
    },
  ),
];

export interface World extends Told, AsyncDisposable {
  /** Puts a job into the queue and calls the forecaster; answers its id. @param attempt tries before */
  enqueue(input: object, attempt?: number, workspaceId?: string): string;
  /** The same of a job that makes the plans of a workspace. */
  enqueuePlans(workspaceId: string, attempt?: number): string;
  /** A client of the forecaster with the certificate of a caller. */
  clientAs(name: 'management' | 'operator'): RpcClient<typeof ForecastServiceService>;
  /** Commands that report about a job. */
  reportsOf(jobId: string): readonly ExecuteRequest[];
}

/** A forecaster and everything around it: a real Redis, certificates, and stand-ins for the services that it calls. */
export async function createWorld(): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(path.join(tmpdir(), 'longwave-forecaster-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const names = ['management', 'internal-serving', 'forecaster', 'operator'] as const;
  const identities = await developmentCa(path.join(folder, 'tls'), names, new Date());
  const redisServer = stack.use(await startTestRedis());
  const redis = stack.adopt(new Redis(redisServer.url), (client) => client.disconnect());
  const told: Told = {
    ...{ executed: [], answers: [], queue: [], claimed: new Map(), stopped: new Set(), lost: new Set() },
    ...{
      plays: [],
      plan: planOf([]),
      bookingVersion: 7,
      modifiers: [],
      committed: [],
      sampleReads: 0,
      isSampleAway: false,
    },
    ...{ put: [], found: [], ended: new Set(), releases: [], knownDigests: [] },
    beforeSample: async () => undefined,
  };
  const serve = async (name: 'management' | 'internal-serving', of: (world: Told) => readonly RpcService[]) => {
    const options = { listen: '127.0.0.1:0', tls: readTls(identities[name]), onError: () => undefined };
    const server = await serveRpc({ ...options, services: of(told) });
    stack.defer(() => server.close(100));
    return `127.0.0.1:${server.port}`;
  };
  const { ca, cert, key } = identities.forecaster;
  const config = readConfiguration({
    ...awayAddresses('forecaster'),
    ...{ LOG_LEVEL: 'silent', HEALTH_LISTEN: '127.0.0.1:0', GRPC_LISTEN: '127.0.0.1:0', REDIS_URL: redisServer.url },
    ...{ TLS_CA: ca, TLS_CERT: cert, TLS_KEY: key, FORECASTER_CONCURRENCY: '1', FORECASTER_PLAYS_MAX: '2000' },
    MANAGEMENT_ADDRESS: await serve('management', managementOf),
    INTERNAL_SERVING_ADDRESS: await serve('internal-serving', servingOf),
  });
  const app = stack.use(await createApp(config, createLogger('forecaster', 'silent')));
  const clients = new Map<string, RpcClient<typeof ForecastServiceService>>();
  const openClient = (name: 'management' | 'operator') => {
    const channel = openChannel(`127.0.0.1:${app.grpcPort}`, 'forecaster', readTls(identities[name]));
    stack.defer(() => channel.close());
    return channel.client(ForecastServiceService);
  };
  for (const name of ['management', 'operator'] as const) clients.set(name, openClient(name));
  const owned = stack.move();
  const enqueue = (
    given: Pick<Job, 'kind' | 'workspaceId' | 'subjectType' | 'subjectId' | 'attempt' | 'inputJson'>,
  ) => {
    const jobId = newId('job');
    told.queue.push({ ...{ jobId, leaseId: '', leaseMs: 30_000, subjectVersion: 1 }, ...given });
    void redis.publish(jobsChannel, '');
    return jobId;
  };
  return Object.assign(told, {
    enqueue: (input: object, attempt = 0, workspaceId = 'ws_1') =>
      enqueue({
        ...{ kind: 'run_forecast', workspaceId, subjectType: 'forecasts', subjectId: newId('fcs') },
        ...{ attempt, inputJson: JSON.stringify(input) },
      }),
    enqueuePlans: (workspaceId: string, attempt = 0) =>
      enqueue({
        ...{ kind: 'make_pacing_plans', workspaceId, subjectType: 'workspaces', subjectId: workspaceId },
        ...{ attempt, inputJson: '{}' },
      }),
    clientAs: (name: 'management' | 'operator') => clients.get(name)!,
    reportsOf: (jobId: string) => told.executed.filter(({ reasonJson }) => reasonJson.includes(jobId)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  });
}

/** The breaks of every play: one mid-roll of one slot. */
const layout = {
  breaks: [
    {
      ...{ key: 'mid', position: 'mid', maxSlots: 1, maxDurationMs: 60_000n, positionMs: 600_000n },
      slotRules: [],
    },
  ],
};

export const podcastId = newId('pod');

/** A play of the past. */
function playAt(atMs: number, given: Partial<SampledPlay> = {}): SampledPlay {
  return {
    ...{ atMs: BigInt(atMs), podcastId, episodeId: 'ep_1', country: 'DE', region: '', device: 'mobile' },
    ...{ operatingSystem: 'iOS', app: 'Overcast', surface: 'progressive', language: 'de', explicit: false },
    ...{ contentCategories: [], publishedAtMs: BigInt(Date.now() - 200 * dayMs), adLoadLimitMs: 0n },
    ...{ streamFormat: 'mp3', streamFormats: [], layout: 0, listener: Buffer.alloc(6), weight: 1, lineItemIds: [] },
    noAdReason: 'no_candidates',
    ...given,
  };
}

/** So many plays of the day that begins at a time, evenly, each of another listener. */
export function playsOfDay(fromMs: number, count: number, given: Partial<SampledPlay> = {}): SampledPlay[] {
  return Array.from({ length: count }, (_, at) => {
    const listener = Buffer.alloc(6);
    listener.writeUInt32BE(((fromMs / hourMs + at) * 2_654_435_761) % 2 ** 32);
    return playAt(Math.floor(fromMs + at * (dayMs / count)), { listener, ...given });
  });
}

/** Plays of whole days up to this hour, so many each day. */
export function evenPlays(days: number, perDay: number, given: Partial<SampledPlay> = {}): SampledPlay[] {
  const untilMs = Math.floor(Date.now() / hourMs) * hourMs;
  return Array.from({ length: days }, (_, day) => playsOfDay(untilMs - (days - day) * dayMs, perDay, given)).flat();
}

export const planOf = (lines: PlanLineItem[]): ServingPlanDocument => ({
  ...{ format: 2, workspace_id: 'ws_1', effective_from: '2026-01-01T00:00:00.000Z', inputs: [], floors: [] },
  ...{ separation: defaultSeparation, line_items: lines },
});

/** A window in days from now. */
export const windowOf = (from: number, to: number) => ({
  start: new Date(Date.now() + from * dayMs).toISOString(),
  end: new Date(Date.now() + to * dayMs).toISOString(),
});

/** A guaranteed line item over a window in days from now. */
export const guaranteed = (
  quantity: number,
  [from, to]: readonly [number, number],
  given: Partial<PlanLineItem> = {},
): PlanLineItem => ({
  ...{ line_item_id: newId('li'), campaign_id: newId('cmp'), advertiser_id: newId('adv'), type: 'guaranteed' },
  ...{ priority: 5, weight: 1, window: windowOf(from, to), billable: true, cpm_micros: 1 },
  goal: { unit: 'impressions', quantity },
  ...{ break_positions: ['pre', 'mid', 'post'], targeting: anyTargeting, frequency_caps: [], separation_groups: [] },
  ...{ ad_product_categories: [], creative_rotation: 'weighted' },
  creatives: [
    {
      ...{ creative_id: newId('crv'), weight: 1, sequence_no: 1, window: null, place: 'any', production: 'produced' },
      click_url: null,
      media: [{ stream_format: 'any', loudness_lufs: null, segment_digest: '', size_bytes: 1, duration_ms: 30_000 }],
    },
  ],
  ...given,
});
