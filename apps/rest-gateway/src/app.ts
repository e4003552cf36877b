import { createAddressSet, createSenderOf } from '@longwave/audience';
import { createFindEnclosures, createIdentity, createManagement } from '@longwave/hosting-client';
import { connectRedis, createRateLimit, listenHttp, logRedisError } from '@longwave/http-kit';
import { limitWrongCredentials } from '@longwave/http-kit/limit-wrong-credentials';
import { verifyUnderLease } from '@longwave/http-kit/verify-under-lease';
import { openChannel, tlsFromConfig } from '@longwave/rpc';
import { AudienceServiceService } from '@longwave/rpc/audience';
import { CredentialServiceService } from '@longwave/rpc/credential';
import { EnclosureServiceService, PreviewServiceService } from '@longwave/rpc/delivery';
import type { Logger, RunningApp } from '@longwave/service-kit';
import { openSubscriber } from '@longwave/worker-kit';
import type { RestGatewayConfig } from './config.ts';
import { createAuthenticate } from './http/authenticate.ts';
import { countCallers } from './http/rate-limit.ts';
import { createProgressFeed } from './productions/progress-feed.ts';
import { routes } from './routes.ts';
import { createServer } from './server.ts';

export interface RestGatewayApp extends RunningApp {
  readonly port: number;
}

/** Builds and starts the gateway. Disposing lets running answers finish, then closes the connections behind them. */
export async function createApp(
  config: RestGatewayConfig,
  logger: Logger,
  overrides: { readonly clock?: () => Date } = {},
): Promise<RestGatewayApp> {
  const { clock = () => new Date() } = overrides;
  await using stack = new AsyncDisposableStack();
  const tls = tlsFromConfig(config);

  const onRedisError = logRedisError(logger);
  // A request never waits for a lost Redis: limits and progress are worth less than the answer.
  const redis = await connectRedis(() => config.REDIS_URL, {
    connectionName: 'rest-gateway',
    commandTimeout: 500,
    onError: onRedisError,
  });
  stack.defer(() => redis.disconnect());
  const subscriber = openSubscriber(() => config.REDIS_URL, {
    connectionName: 'rest-gateway-progress',
    onError: onRedisError,
  });
  const progress = stack.use(createProgressFeed(redis, subscriber, onRedisError));

  const channels = {
    management: openChannel(config.MANAGEMENT_ADDRESS, 'management', tls),
    authServer: openChannel(config.AUTH_SERVER_ADDRESS, 'auth-server', tls),
    analyticsSink: openChannel(config.ANALYTICS_SINK_ADDRESS, 'analytics-sink', tls),
    publicDelivery: openChannel(config.PUBLIC_DELIVERY_ADDRESS, 'public-delivery', tls),
  };
  for (const channel of Object.values(channels)) stack.defer(() => channel.close());

  const verifier = stack.use(
    verifyUnderLease(channels.authServer.client(CredentialServiceService), (error) =>
      logger.warn({ err: error }, 'verification.changes_not_followed'),
    ),
  );
  const stopping = new AbortController();
  const trustedProxies = createAddressSet(config.TRUSTED_PROXIES);
  const server = createServer({
    routes,
    deps: {
      management: createManagement(channels.management),
      identity: createIdentity(channels.authServer),
      audience: channels.analyticsSink.client(AudienceServiceService),
      findEnclosures: createFindEnclosures(channels.publicDelivery.client(EnclosureServiceService), logger),
      openPreview: channels.publicDelivery.client(PreviewServiceService).openPreview,
      redis,
      progress,
      baseUrl: config.BASE_URL,
      mediaUrl: config.MEDIA_URL,
      clock,
      logger,
    },
    authenticate: createAuthenticate(
      verifier,
      limitWrongCredentials(clock),
      createSenderOf(trustedProxies),
      config.BASE_URL,
    ),
    countCaller: countCallers(createRateLimit(redis, clock, logger)),
    pages: config,
    consoleBuild: { folder: config.CONSOLE_FOLDER, mediaUrl: config.MEDIA_URL, objectsUrl: config.S3_PUBLIC_ENDPOINT },
    logger,
    stopping: stopping.signal,
  });
  const listener = await listenHttp(config.HTTP_LISTEN, server, {
    refusals: 'rest',
    proxyProtocol: config.PROXY_PROTOCOL && trustedProxies,
  });
  stack.defer(() => listener.close());
  stack.defer(() => stopping.abort());

  const owned = stack.move();
  return {
    port: listener.port,
    // Redis is not among them: the gateway works without it.
    readiness: {},
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
