import { createAddressSet, createSenderOf } from '@longwave/audience';
import { createFindEnclosures, createIdentity, createManagement, findLastTick } from '@longwave/hosting-client';
import { connectRedis, createRateLimit, listenHttp, logRedisError } from '@longwave/http-kit';
import { verifyUnderLease } from '@longwave/http-kit/verify-under-lease';
import { openChannel, tlsFromConfig } from '@longwave/rpc';
import { AudienceServiceService } from '@longwave/rpc/audience';
import { CredentialServiceService } from '@longwave/rpc/credential';
import { EnclosureServiceService } from '@longwave/rpc/delivery';
import type { Logger, RunningApp } from '@longwave/service-kit';
import type { McpServerConfig } from './config.ts';
import { createConfirmations } from './confirmations.ts';
import { mcpServerFactory, type Addition } from './create-mcp-server.ts';
import { createIssuerMetadata } from './http/metadata.ts';
import { createVerifyToken } from './http/verify-token.ts';
import { createServer } from './server.ts';
import { tools } from './tools/tools.ts';

export interface McpServerApp extends RunningApp {
  readonly port: number;
}

/** Builds and starts the MCP server. Disposing lets running answers finish, then closes the connections behind them. */
export async function createApp(
  config: McpServerConfig,
  logger: Logger,
  overrides: { readonly clock?: () => Date; readonly addition?: Addition } = {},
): Promise<McpServerApp> {
  const { clock = () => new Date(), addition } = overrides;
  await using stack = new AsyncDisposableStack();
  const tls = tlsFromConfig(config);

  // A request never waits for a lost Redis: limits and progress are worth less than the answer.
  const redis = await connectRedis(() => config.REDIS_URL, {
    connectionName: 'mcp-server',
    commandTimeout: 500,
    onError: logRedisError(logger),
  });
  stack.defer(() => redis.disconnect());

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
  const management = createManagement(channels.management);
  const trustedProxies = createAddressSet(config.TRUSTED_PROXIES);
  const server = createServer({
    admission: {
      tools,
      verifyToken: createVerifyToken(verifier),
      countRequest: createRateLimit(redis, clock, logger),
      senderOf: createSenderOf(trustedProxies),
      baseUrl: config.BASE_URL,
      mcpUrl: config.MCP_URL,
    },
    createMcpServer: mcpServerFactory({
      tools,
      deps: {
        management,
        identity: createIdentity(channels.authServer),
        audience: channels.analyticsSink.client(AudienceServiceService),
        views: {
          mediaUrl: config.MEDIA_URL,
          clock,
          management,
          findEnclosures: createFindEnclosures(channels.publicDelivery.client(EnclosureServiceService), logger),
          progress: { last: (productionId, track) => findLastTick(redis, productionId, track) },
        },
        confirmations: createConfirmations(redis, clock),
        redis,
        clock,
      },
      mcpUrl: config.MCP_URL,
      addition,
    }),
    readIssuerMetadata: createIssuerMetadata(config.BASE_URL, clock),
    pages: config,
    logger,
  });
  stack.defer(() => server.close());
  const listener = await listenHttp(config.HTTP_LISTEN, server.app, {
    proxyProtocol: config.PROXY_PROTOCOL && trustedProxies,
  });
  stack.defer(() => listener.close());

  const owned = stack.move();
  return {
    port: listener.port,
    // Redis is not among them: the server works without it, but for confirmations.
    readiness: {},
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
