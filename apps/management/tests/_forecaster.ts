import path from 'node:path';
import {
  awayAddresses,
  developmentCa,
  freePorts,
  removeDataFolder,
  startChild,
  startTestRedis,
  temporaryDataFolder,
  workspaceRoot,
  type Child,
} from '@longwave/fleet';
import { openChannel, readTls, rpcService, serveRpc, type RpcService } from '@longwave/rpc';
import { ForecastServiceService } from '@longwave/rpc/forecast';
import { SampleServiceService, type PlayHour, type SampledPlay } from '@longwave/rpc/serving';
import { until } from '@longwave/test-kit';
import { createCheckAvailability, type CheckAvailability } from '../src/commerce/forecasts/check-availability.ts';
import { bookingService } from '../src/rpc/booking-service.ts';
import type { TestManagement } from './_management.ts';

const hourMs = 3_600_000;

/** A forecaster as a process of its own, which reads the real bookings; a stand-in for internal-serving has the past. */
export interface TestForecaster extends AsyncDisposable {
  readonly checkAvailability: CheckAvailability;
  readonly process: Child;
}

/** Each play has a pre-roll of one slot. */
const layouts = [
  {
    breaks: [{ key: 'pre', position: 'pre', maxSlots: 1, maxDurationMs: 60_000n, positionMs: 0n, slotRules: [] }],
  },
];

/** So many plays an hour of one old episode, each of another listener, in the days before now. */
function evenPlays(days: number, perHour: number): { readonly plays: SampledPlay[]; readonly hours: PlayHour[] } {
  const untilMs = Math.floor(Date.now() / hourMs) * hourMs;
  const at = Array.from({ length: days * 24 }, (_, hour) => untilMs - (days * 24 - hour) * hourMs);
  const shared = {
    ...{ podcastId: 'pod_1', episodeId: 'ep_1', language: 'de', contentCategories: [] },
    publishedAtMs: BigInt(untilMs - 200 * 24 * hourMs),
  };
  const playAt = (atMs: number, listener: number): SampledPlay => ({
    ...{ ...shared, atMs: BigInt(atMs), country: 'DE', region: '', device: 'mobile', operatingSystem: 'iOS' },
    ...{ app: 'Overcast', surface: 'progressive', explicit: false, adLoadLimitMs: 0n, streamFormat: 'mp3' },
    ...{ streamFormats: [], layout: 0, weight: 1, lineItemIds: [], noAdReason: 'no_candidates' },
    listener: Buffer.from(listener.toString(16).padStart(12, '0'), 'hex'),
  });
  return {
    plays: at.flatMap((startMs, hour) =>
      Array.from({ length: perHour }, (_, n) => playAt(startMs + n * Math.floor(hourMs / perHour), hour * perHour + n)),
    ),
    hours: at.map((startMs) => ({ ...shared, hourMs: BigInt(startMs), opportunities: BigInt(perHour) })),
  };
}

function sampleService(perHour: number): RpcService {
  const { plays, hours } = evenPlays(35, perHour);
  return rpcService(
    SampleServiceService,
    { readSample: ['forecaster'], readPlayHours: ['forecaster'], readCommitted: ['forecaster'] },
    {
      readSample: async ({ fromMs, toMs }, _context, send) => {
        const asked = plays.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
        for (let at = 0; at < asked.length; at += 5_000) await send({ layouts, plays: asked.slice(at, at + 5_000) });
      },
      readPlayHours: async ({ fromMs, toMs }, _context, send) =>
        send({ hours: hours.filter(({ hourMs: at }) => at >= fromMs && at < toMs) }),
      readCommitted: async () => ({ lineItems: [] }),
    },
  );
}

/** Starts a forecaster beside management, and a past of so many plays an hour for five weeks. */
export async function startTestForecaster(management: TestManagement, perHour: number): Promise<TestForecaster> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.adopt(temporaryDataFolder(), removeDataFolder);
  const names = ['management', 'internal-serving', 'forecaster'] as const;
  const [identities, redis, [grpcPort, healthPort]] = await Promise.all([
    developmentCa<(typeof names)[number]>(folder.inside('tls'), names, new Date()),
    startTestRedis().then((it) => stack.use(it)),
    freePorts(2),
  ]);
  const serve = async (name: 'management' | 'internal-serving', services: readonly RpcService[]) => {
    const server = await serveRpc({
      ...{ listen: '127.0.0.1:0', tls: readTls(identities[name]), services, onError: () => undefined },
    });
    stack.defer(() => server.close(100));
    return `127.0.0.1:${server.port}`;
  };
  const { ca, cert, key } = identities.forecaster;
  const child = await startChild({
    name: 'forecaster',
    command: process.execPath,
    args: [path.join(workspaceRoot, 'apps/forecaster/src/main.ts')],
    env: {
      ...awayAddresses('forecaster'),
      ...{ LOG_LEVEL: 'error', HEALTH_LISTEN: `127.0.0.1:${healthPort}`, GRPC_LISTEN: `127.0.0.1:${grpcPort}` },
      ...{ TLS_CA: ca, TLS_CERT: cert, TLS_KEY: key, REDIS_URL: redis.url, FORECASTER_CONCURRENCY: '1' },
      MANAGEMENT_ADDRESS: await serve('management', [bookingService(management)]),
      INTERNAL_SERVING_ADDRESS: await serve('internal-serving', [sampleService(perHour)]),
    },
    logFile: folder.logFile('forecaster'),
    pidFolder: folder.pids,
    stopSignal: 'SIGTERM',
  });
  stack.defer(async () => void (await child.stop()));
  await until(async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok, { despiteErrors: true });
  const channel = openChannel(`127.0.0.1:${grpcPort}`, 'forecaster', readTls(identities.management));
  stack.defer(() => channel.close());
  const owned = stack.move();
  return {
    checkAvailability: createCheckAvailability(channel.client(ForecastServiceService).checkAvailability),
    process: child,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
