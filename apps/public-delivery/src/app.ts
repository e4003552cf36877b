import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAddressSet, describeUserAgent, readAudienceLists } from '@longwave/audience';
import { followTokenKeys } from '@longwave/delivery-token';
import { busFromConfig } from '@longwave/event-bus';
import { listenHttp } from '@longwave/http-kit';
import { objectStoreFromConfig } from '@longwave/object-store';
import { createPool, databaseOutage, repeatSweeps } from '@longwave/postgres';
import { deliveryContract, type DeliveryContract } from '@longwave/services';
import { openChannel, serveRpc, tlsFromConfig, type RpcChannel } from '@longwave/rpc';
import { ExchangeServiceService } from '@longwave/rpc/exchange';
import { ServingServiceService } from '@longwave/rpc/serving';
import type { Logger, RunningApp } from '@longwave/service-kit';
import { announceFeeds } from './feeds/announce-feeds.ts';
import { podpingPort, websubPort } from './feeds/announcement-ports.ts';
import type { DeliveryConfig } from './config.ts';
import { createServingTokens } from './reports/serving-token.ts';
import { createPlayerReports } from './reports/player-reports.ts';
import { openFactSink } from './facts/fact-sink.ts';
import { createFindFeed } from './feeds/find-feed.ts';
import { contractRoute } from './http/contract-route.ts';
import { eventRoutes } from './reports/event-routes.ts';
import { feedRoutes } from './feeds/feed-routes.ts';
import { uploadRoutes } from './companions/upload-routes.ts';
import { frontPageRoute } from './http/front-page-route.ts';
import { listenerFileRoutes } from './companions/listener-file-routes.ts';
import { createAnswerAudio } from './progressive/answer-audio.ts';
import { audioRoutes } from './progressive/audio-routes.ts';
import { playFileRoutes } from './companions/play-file-routes.ts';
import { createRouter } from './http/route.ts';
import { shownFileRoutes } from './companions/shown-file-routes.ts';
import { playerRoutes } from './feeds/player-routes.ts';
import { createFindSitePage } from './site/find-site-page.ts';
import { oembedRoutes } from './site/oembed-routes.ts';
import { siteRoutes } from './site/site-routes.ts';
import { traceApp } from './listeners/app-trace.ts';
import { loadPlaces } from './listeners/country.ts';
import { createIdentifyListener } from './listeners/identify-listener.ts';
import { createOnlyLooks } from './listeners/only-looks.ts';
import { openCaches } from './segments/open-caches.ts';
import { createBindings } from './plays/bindings.ts';
import { archiveBindings } from './plays/archive-bindings.ts';
import { createBoundPlays } from './plays/bound-plays.ts';
import { createDecideAds } from './decisions/decide-ads.ts';
import { createPartSource } from './arrangements/part-source.ts';
import { createDocumentCache } from './feeds/document-cache.ts';
import { createChoosePlay } from './plays/choose-play.ts';
import { createComposer } from './progressive/create-composer.ts';
import { createFindListenersPlay } from './plays/find-listeners-play.ts';
import { createFindPlay } from './plays/find-play.ts';
import { createKnownArrangements } from './arrangements/known-arrangements.ts';
import { createNewPlayLimit } from './plays/new-play-limit.ts';
import { createResumePlay } from './plays/resume-play.ts';
import { createCleanBindingSweep } from './plays/binding-table.ts';
import { watchRunningPlays } from './plays/running-plays.ts';
import { createPlayTokens } from './plays/play-token.ts';
import { followRevokedWeeks } from './plays/revoked-weeks.ts';
import { createDecidePreview } from './previews/decide-preview.ts';
import { createOpenPreview } from './previews/open-preview.ts';
import { previewRoutes } from './previews/preview-routes.ts';
import { removePreviews } from './previews/preview-table.ts';
import { createPreviewTokens } from './previews/preview-token.ts';
import { acknowledgeIntents } from './projection/apply/acknowledge-intents.ts';
import { followEvents } from './projection/apply/follow-events.ts';
import { createRecentProjection } from './projection/recent-projection.ts';
import { createAnswerEntry } from './hls-plays/answer-entry.ts';
import { createBoundAds } from './hls-plays/bound-ads.ts';
import { createFindHlsPlay } from './hls-plays/find-hls-play.ts';
import { hlsPlayRoutes } from './hls-plays/hls-play-routes.ts';
import { createHlsTokens } from './hls-plays/hls-tokens.ts';
import { createOpenHlsPlay, createResumeHlsPlay } from './hls-plays/open-hls-play.ts';
import { createListBreakAds } from './hls-plays/list-break-ads.ts';
import { opportunityRoutes } from './hls-plays/opportunity-routes.ts';
import { presentationBindingRoutes } from './hls-plays/presentation-binding-routes.ts';
import { createSendTrack } from './hls-plays/send-track.ts';
import { findLatestHlsPlay, removeHlsPlays } from './plays/hls-play-table.ts';
import { createLoadIndex } from './presentations/load-index.ts';
import { createOpenPresentations } from './presentations/open-presentation.ts';
import { presentEpisodes } from './projection/apply/present-episodes.ts';
import { createPresentationFiles } from './presentations/presentation-files.ts';
import { presentationRoutes } from './presentations/presentation-routes.ts';
import { createKeptTranscripts } from './companions/kept-transcripts.ts';
import { deliveryServices } from './server.ts';

const service = 'public-delivery';

/** Parts that a test may replace. */
export interface Overrides {
  readonly now?: () => Date;
  readonly contract?: DeliveryContract;
}

export interface DeliveryApp extends RunningApp {
  /** The media port in use. */
  readonly port: number;
  readonly grpcPort: number;
}

/** Builds the service: projection follower, media port, facts, calls of other services. Disposing finishes responses, then publishes what facts it can. */
export async function createApp(
  config: DeliveryConfig,
  logger: Logger,
  { now = () => new Date(), contract = deliveryContract }: Overrides = {},
): Promise<DeliveryApp> {
  await using building = new AsyncDisposableStack();

  const openPool = (options: { readonly max: number; readonly statementTimeoutMs?: number }) =>
    building.adopt(
      createPool(() => config.DATABASE_URL, 'delivery', { name: service, readsKeys: true, ...options }),
      (each) => each.end(),
    );
  // A listener waits for a network that has broken no longer than for these statements; what works behind has time.
  const pool = openPool({ max: 20, statementTimeoutMs: 5_000 });
  const workPool = openPool({ max: 8 });
  const bus = building.use(await busFromConfig(config, { clientName: service, logger }));
  const store = objectStoreFromConfig(config);
  const tls = tlsFromConfig(config);
  const held = (channel: RpcChannel) => building.adopt(channel, (each) => each.close());
  const toServing = held(openChannel(config.INTERNAL_SERVING_ADDRESS, 'internal-serving', tls));
  const toExchange = held(openChannel(config.HOSTING_EXCHANGE_ADDRESS, 'hosting-exchange', tls));
  const serving = toServing.client(ServingServiceService);
  const exchange = toExchange.client(ExchangeServiceService);

  const lists = readAudienceLists(
    config.AUDIENCE_DATA ?? fileURLToPath(new URL('../../../libs/audience/data', import.meta.url)),
    () => now().getTime(),
  );
  const trustedProxies = createAddressSet(config.TRUSTED_PROXIES);
  const identify = createIdentifyListener({
    secrets: () => config.LISTENER_SECRET,
    trustedProxies,
    networks: lists.networks,
    isPreload: lists.isPreload,
    findWebPlayer: lists.findWebPlayer,
    internalAddresses: createAddressSet(config.INTERNAL_ADDRESSES),
    findPlace: await loadPlaces(config.GEO_DATABASE),
  });
  const facts = building.use(await openFactSink({ bus, folder: config.JOURNAL_FOLDER, logger, now }));
  const { segments, artworks } = building.use(await openCaches(config, store, logger));
  const documents = await createDocumentCache(path.join(config.CACHE_FOLDER, 'feeds'), config.FEED_CACHE_MAX_BYTES);
  const mediaUrl = config.MEDIA_URL;
  const hubUrl = config.WEBSUB_HUB;
  const ports = [
    ...(hubUrl ? [websubPort(hubUrl)] : []),
    ...(config.PODPING_URL ? [podpingPort(config.PODPING_URL, config.PODPING_TOKEN!)] : []),
  ];
  const announcements = { names: ports.map((port) => port.name), afterMs: config.ANNOUNCE_AFTER_MS };
  const revoked = building.use(await followRevokedWeeks(pool, logger));
  const keys = followTokenKeys(() => config.DELIVERY_TOKEN_SECRETS, revoked.epochOf);
  const host = new URL(mediaUrl).host;
  const tokens = createPlayTokens(keys, host);
  const previewTokens = createPreviewTokens(keys, host);
  const servingTokens = createServingTokens(keys, host);
  const arrangements = createKnownArrangements(pool);
  const findPlay = createFindPlay(pool, arrangements, tokens);
  const runningPlays = building.use(watchRunningPlays(pool, now, logger));
  const projection = createRecentProjection(pool);
  const traceAgent = (userAgent: string) => traceApp(lists.userAgents, userAgent);
  const bindings = createBindings(pool, arrangements);
  const compose = createComposer({ projection, artworks, segments, logger });
  const plays = createBoundPlays({ arrangements, bindings, compose });
  const mayBegin = createNewPlayLimit(config.NEW_PLAYS_PER_ADDRESS_AND_MINUTE);
  const onlyLooks = createOnlyLooks(lists);
  const choosePlay = createChoosePlay({
    ...{ projection, bindings, arrangements, plays },
    decideAds: createDecideAds({
      ...{ serving, projection, segments, logger },
      describe: (userAgent) => describeUserAgent(lists.userAgents, userAgent),
      deadlineMs: config.DECIDE_DEADLINE_MS,
    }),
    traceApp: traceAgent,
    mayBegin,
    findHlsPlay: (listenerKeys, episodeId) => findLatestHlsPlay(pool, listenerKeys, episodeId),
  });

  const loadIndex = createLoadIndex(store);
  const presentations = createOpenPresentations(pool, loadIndex);
  const hlsTokens = createHlsTokens(keys, host);
  const findHlsPlay = createFindHlsPlay({ pool, presentations, projection });
  const ads = createBoundAds({ pool, bindings, plays, choosePlay, projection, loadIndex, logger });
  const listAds = createListBreakAds({ identify, onlyLooks, ads });
  const readTranscript = createKeptTranscripts(store);
  const files = createPresentationFiles(readTranscript);

  const applying = { mintAlias: tokens.mintAlias, announcements, onApplied: projection.forget };
  building.use(followEvents(bus, service, workPool, applying, logger));
  building.use(
    presentEpisodes({
      ...{ pool: workPool, loadIndex, files, segments, store, announcements, contract, logger, now },
      onPresented: projection.forget,
    }),
  );
  building.use(acknowledgeIntents({ pool: workPool, exchange, logger, now }));
  const everyMs = Math.min(1_000, config.ANNOUNCE_AFTER_MS);
  building.use(announceFeeds({ pool: workPool, ports, mediaUrl, everyMs, logger }));
  const cleanBefore = () => new Date(now().getTime() - config.CLEAN_BINDING_HOURS * 3_600_000);
  const oldBefore = () => new Date(now().getTime() - config.BINDING_DAYS * 86_400_000);
  const removeCleanBindings = createCleanBindingSweep(workPool);
  building.use(
    repeatSweeps({
      sweeps: [
        { name: 'clean_bindings', remove: (maxRows) => removeCleanBindings(cleanBefore(), maxRows) },
        {
          name: 'old_hls_plays',
          remove: (maxRows) => removeHlsPlays(workPool, oldBefore(), cleanBefore(), maxRows),
        },
        { name: 'old_previews', remove: (maxRows) => removePreviews(workPool, now(), maxRows) },
        { name: 'old_bindings', remove: (maxRows) => archiveBindings(workPool, store, oldBefore(), maxRows) },
      ],
      everyMs: config.SWEEP_EVERY_MS,
      onSwept: (name, rows) => logger.info({ name, rows }, 'sweep.removed'),
      onError: (name, error) => logger.warn({ name, err: error }, 'sweep.failed'),
    }),
  );
  const partSource = createPartSource(pool, segments, artworks);
  const router = createRouter(
    [
      contractRoute,
      frontPageRoute(config.BASE_URL),
      ...feedRoutes({
        findFeed: createFindFeed(pool, documents, { mediaUrl, hubUrl, usesPodping: config.PODPING_URL !== undefined }),
        ...{ mediaUrl, hubUrl, now },
      }),
      ...siteRoutes({
        findPage: createFindSitePage({ pool, readTranscript, logger, mediaUrl }),
        baseUrl: config.BASE_URL,
      }),
      ...oembedRoutes({ pool, mediaUrl }),
      // These come before the audio, whose last segment takes any name.
      ...playerRoutes({ pool, mediaUrl }),
      ...listenerFileRoutes({
        ...{ pool, store, identify },
        findListenersPlay: createFindListenersPlay(pool, arrangements, traceAgent),
      }),
      ...playFileRoutes({ pool, store, findPlay, servingTokens, projection, mediaUrl }),
      ...previewRoutes({ pool, partSource, projection, tokens: previewTokens }),
      ...presentationRoutes({ projection, presentations, files, segments }),
      ...hlsPlayRoutes({
        ...{ identify, files, facts, mediaUrl, segments, ads, listAds, tokens: hlsTokens },
        findPlay: findHlsPlay,
        sendTrack: createSendTrack({ identify, segments, runningPlays, facts, listsVersion: lists.listsVersion, now }),
      }),
      ...opportunityRoutes({ listAds, projection, servingTokens, mediaUrl, tokens: hlsTokens, findPlay: findHlsPlay }),
      ...presentationBindingRoutes({ bindings, mediaUrl, tokens: hlsTokens, findPlay: findHlsPlay }),
      ...audioRoutes({
        ...{ pool, projection, findPlay },
        answerEntry: createAnswerEntry({
          ...{ projection, presentations, identify, onlyLooks, mayBegin, mediaUrl, tokens: hlsTokens },
          openPlay: createOpenHlsPlay({ pool, projection, bindings, plays }),
          resumePlay: createResumeHlsPlay(pool),
        }),
        answer: createAnswerAudio({
          ...{ identify, choosePlay, runningPlays, tokens, facts, mediaUrl, now },
          resumePlay: createResumePlay({ projection, bindings, plays }),
          onlyLooks,
          partSource,
          listsVersion: lists.listsVersion,
        }),
      }),
      ...eventRoutes(
        createPlayerReports({ pool, identify, tokens: servingTokens, facts, listsVersion: lists.listsVersion }),
        logger,
      ),
      ...shownFileRoutes({ pool, store, artworks }),
      ...uploadRoutes(pool, store),
    ],
    logger,
    now,
  );
  const rpc = building.adopt(
    await serveRpc({
      listen: config.GRPC_LISTEN,
      tls,
      services: deliveryServices({
        pool: workPool,
        openPreview: createOpenPreview({
          ...{ pool: workPool, compose, tokens: previewTokens, mediaUrl, now },
          decide: createDecidePreview({ pool: workPool, segments, previewDecision: serving.previewDecision }),
        }),
        mediaUrl,
      }),
      onError: (error, method) => logger.error({ err: error, method }, 'rpc.failed'),
      toProblem: databaseOutage,
    }),
    (each) => each.close(),
  );
  const http = building.adopt(
    await listenHttp(config.HTTP_LISTEN, router, { proxyProtocol: config.PROXY_PROTOCOL && trustedProxies }),
    (each) => each.close(),
  );

  const running = building.move();
  return {
    port: http.port,
    grpcPort: rpc.port,
    // Readiness asks nothing: playback goes on while the bus, decisions or the database are unreachable.
    readiness: {},
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
