import { serveApiDocs } from '@longwave/api-docs';
import { renderProblem } from '@longwave/http-kit';
import { newId } from '@longwave/ids';
import { databaseOutage } from '@longwave/postgres';
import { audienceScopes, type AudienceScope } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { Logger } from '@longwave/service-kit';
import express, { type Express, type Request, type Response } from 'express';
import { challengeOf, requireScope, type Authenticate } from './authenticate.ts';
import { audienceOpenApi } from './openapi.ts';
import { audienceRoutes, type RouteTools } from './routes.ts';

/** The base path on `{api_url}`. */
export const basePath = '/audience/v1';
const metadataPath = `/.well-known/oauth-protected-resource${basePath}`;

const contract = { name: 'Audience Analytics Sink API', version: 'v1', status: 'current', deprecations: [] };

/** The problem behind any error; what is none of ours is a bug. */
function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof URIError) return new Problem('not_found', 'There is no such route.');
  // Another request holds the producer's lock: SQLSTATE lock_not_available.
  if ((error as { readonly code?: unknown } | null)?.code === '55P03')
    return new Problem('idempotency_in_progress', 'Another batch of this producer is being accepted.', {
      cause: error,
      retryAfterSeconds: 1,
    });
  return databaseOutage(error) ?? new Problem('internal_error', undefined, { cause: error });
}

const sendPublic = (body: unknown) => {
  const text = JSON.stringify(body);
  return (_request: Request, response: Response) =>
    void response.set('Cache-Control', 'public, max-age=300').type('application/json').send(text);
};

/**
 * The Audience Analytics Sink API over express, its checks in the order of problems.md: route and headers, token, scope, key, then what
 * the operation itself checks.
 */
export function createAudienceServer(options: {
  readonly authenticate: Authenticate;
  readonly tools: RouteTools;
  /** `{base_url}`. */
  readonly issuer: string;
  /** `{api_url}`. */
  readonly apiUrl: string;
  readonly logger: Logger;
}): Express {
  const { authenticate, tools, issuer, apiUrl, logger } = options;
  const metadataUrl = `${apiUrl}${metadataPath}`;
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple');

  app.use((request, response, next) => {
    const requestId = newId('req');
    const startedAt = performance.now();
    Object.assign(response.locals, { requestId, operation: 'none' });
    response.set({ 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff' });
    response.once('close', () =>
      logger.info(
        {
          request_id: requestId,
          method: request.method,
          operation: response.locals['operation'] as string,
          status: response.statusCode,
          token_id: response.locals['tokenId'] as string | undefined,
          duration_ms: Math.round(performance.now() - startedAt),
        },
        'request.served',
      ),
    );
    next();
  });

  app.get(`${basePath}/contract`, sendPublic(contract));
  app.get(`${basePath}/openapi.json`, sendPublic(audienceOpenApi()));
  app.use(serveApiDocs({ title: contract.name, path: `${basePath}/docs`, documentPath: `${basePath}/openapi.json` }));
  app.get(
    metadataPath,
    sendPublic({
      resource: `${apiUrl}${basePath}`,
      resource_name: contract.name,
      authorization_servers: [issuer],
      scopes_supported: audienceScopes,
      bearer_methods_supported: ['header'],
      resource_documentation: `${apiUrl}${basePath}/docs`,
    }),
  );

  for (const route of audienceRoutes)
    app[route.method](basePath + route.path, async (request, response) => {
      Object.assign(response.locals, { operation: route.operation, scope: route.scope });
      route.checkHeaders?.(request);
      const client = await authenticate(request.get('authorization'));
      response.locals['tokenId'] = client.tokenId;
      requireScope(client, route.scope);
      const { status, body } = await route.answer(request, client, tools);
      response.status(status).set('Cache-Control', 'no-store').type('application/json').send(body);
    });

  const paths = [...new Set(audienceRoutes.map(({ path }) => path)), '/contract', '/openapi.json', '/docs'];
  for (const path of paths)
    app.all(basePath + path, (request, response) => {
      const methods = audienceRoutes.filter((route) => route.path === path).map(({ method }) => method);
      response.set('Allow', methods.includes('post') ? 'POST' : 'GET, HEAD');
      throw new Problem('method_not_allowed', `${request.method} is not possible here.`);
    });
  app.use(() => {
    throw new Problem('not_found', 'There is no such route.');
  });

  app.use((error: unknown, request: Request, response: Response, _next: unknown) => {
    // Who has gone is told nothing.
    if (request.destroyed && !request.complete) return void response.destroy();
    const problem = problemOf(error);
    const requestId = response.locals['requestId'] as string;
    if (problem.status === 500) logger.error({ err: error, request_id: requestId }, 'request.failed');
    else if (problem.status === 503) logger.warn({ err: error, request_id: requestId }, 'request.refused');
    if (response.headersSent) return void response.destroy();
    // What is left of a body that was refused is not kept, and the connection goes on.
    request.resume();
    const challenge = challengeOf(problem.code, metadataUrl, response.locals['scope'] as AudienceScope | undefined);
    if (challenge) response.set('WWW-Authenticate', challenge);
    renderProblem(response, problem, requestId);
  });
  return app;
}
