import { fileURLToPath } from 'node:url';
import { createAddressSet, readAudienceLists, judgeUserAgent } from '@longwave/audience';
import { createTokenKeys } from '@longwave/delivery-token';
import { createEventBus } from '@longwave/event-bus';
import { createObjectStore } from '@longwave/object-store';
import { createPool } from '@longwave/postgres';
import { openChannel, readTls } from '@longwave/rpc';
import { ServingServiceService } from '@longwave/rpc/serving';
import { listenHttp, type Logger, type RunningApp } from '@longwave/service-kit';
import type { DeliveryConfig } from './config.ts';
import { openFactSink } from './facts/fact-sink.ts';
import { createFindFeed } from './feed/find-feed.ts';
import { contractRoute } from './http/contract-route.ts';
import { feedRoutes } from './http/feed-routes.ts';
import { fileRoutes } from './http/file-routes.ts';
import { mediaRoutes } from './http/media-routes.ts';
import { createRouter } from './http/route.ts';
import { loadPlaces } from './listener/country.ts';
import { createIdentifyListener } from './listener/identify-listener.ts';
import { createSegmentCache } from './media/segment-cache.ts';
import { createChoosePlay } from './play/choose-play.ts';
import { createPlayTokens } from './play/play-token.ts';
import { followEvents } from './projection/follow-events.ts';

const service = 'public-delivery';

/** What a test may replace. */
export interface Overrides {
  readonly now?: () => Date;
}

export interface DeliveryApp extends RunningApp {
  /** The media port in use. */
  readonly port: number;
}

/** Builds the service: projection follower, media port, facts. Disposing finishes responses, then publishes what facts it can. */
export async function createApp(
  config: DeliveryConfig,
  logger: Logger,
  { now = () => new Date() }: Overrides = {},
): Promise<DeliveryApp> {
  await using building = new AsyncDisposableStack();

  const pool = building.adopt(createPool(config.DATABASE_URL, 'delivery', { name: service, max: 20 }), (each) =>
    each.end(),
  );
  const bus = building.use(
    createEventBus(
      config.KAFKA_BROKERS
        ? { kind: 'kafka', brokers: config.KAFKA_BROKERS, clientId: service, logger }
        : { kind: 'redis', redisUrl: config.REDIS_URL, clientName: service, logger },
    ),
  );
  const store = createObjectStore({
    endpoint: config.S3_ENDPOINT,
    publicEndpoint: config.S3_PUBLIC_ENDPOINT,
    region: config.S3_REGION,
    bucket: config.S3_BUCKET,
    accessKey: config.S3_ACCESS_KEY,
    secretKey: config.S3_SECRET_KEY,
  });
  const tls = readTls({ ca: config.TLS_CA, cert: config.TLS_CERT, key: config.TLS_KEY });
  const channel = building.adopt(openChannel(config.INTERNAL_SERVING_ADDRESS, 'internal-serving', tls), (each) =>
    each.close(),
  );
  const serving = channel.client(ServingServiceService);

  const lists = readAudienceLists(
    config.AUDIENCE_DATA ?? fileURLToPath(new URL('../../../libs/audience/data', import.meta.url)),
    () => now().getTime(),
  );
  const identify = createIdentifyListener({
    secret: config.LISTENER_SECRET,
    trustedProxies: createAddressSet(config.TRUSTED_PROXIES),
    networks: lists.networks,
    findPlace: await loadPlaces(config.GEO_DATABASE),
  });
  const facts = building.use(await openFactSink(bus, config.JOURNAL_FOLDER, logger));
  const segments = await createSegmentCache({
    folder: config.CACHE_FOLDER,
    maxBytes: config.CACHE_MAX_BYTES,
    store,
    logger,
  });
  const mediaUrl = config.MEDIA_URL;
  const tokens = createPlayTokens(createTokenKeys(config.DELIVERY_TOKEN_KEYS), new URL(mediaUrl).host);
  const choosePlay = createChoosePlay({ pool, serving, segments, decideDeadlineMs: config.DECIDE_DEADLINE_MS, logger });

  building.use(followEvents(bus, service, pool, tokens.mintAlias, logger));
  const router = createRouter(
    [
      contractRoute,
      ...feedRoutes(createFindFeed(pool, mediaUrl)),
      ...mediaRoutes({
        pool,
        identify,
        choosePlay,
        mayCount: ({ addressVerdict, userAgent }) =>
          addressVerdict === 'ok' && judgeUserAgent(lists.userAgents, userAgent) === 'ok',
        tokens,
        segments,
        facts,
        listsVersion: lists.listsVersion,
        mediaUrl,
        now,
      }),
      ...fileRoutes(pool, store),
    ],
    logger,
    now,
  );
  const http = building.adopt(await listenHttp(config.HTTP_LISTEN, router), (each) => each.close());

  const running = building.move();
  return {
    port: http.port,
    // Neither the bus nor the decision may take playback away, so neither is asked.
    readiness: { postgres: () => pool.query('select 1').then(() => true) },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
