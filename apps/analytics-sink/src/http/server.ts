import { serveApiDocs } from '@longwave/api-docs';
import type { SenderOf } from '@longwave/audience';
import {
  createHttpApp,
  endRoutes,
  mountRoutes,
  protectedResourcePath,
  serveOnlyGet,
  serveProtectedResource,
  type OperatorPages,
} from '@longwave/http-kit';
import { inProgressProblem } from '@longwave/idempotency';
import { databaseOutage, isLockFailure } from '@longwave/postgres';
import { audienceScopes } from '@longwave/principal';
import type { Logger } from '@longwave/service-kit';
import { describeApi } from '@longwave/services';
import type { Express, Request, Response } from 'express';
import { requireScope, type Authenticate } from './authenticate.ts';
import { audienceOpenApi } from './openapi.ts';
import { audienceRoutes, type RouteDeps } from './routes.ts';

/** The base path on `{api_url}`. */
export const basePath = '/audience/v1';

const contract = describeApi({
  name: 'Audience Analytics Sink API',
  version: 'v1',
  base_path: basePath,
  openapi: `${basePath}/openapi.json`,
  documentation: `${basePath}/docs`,
  operations: audienceRoutes,
});

/** The problems of errors that are not bugs. */
const toProblem = (error: unknown) =>
  isLockFailure(error)
    ? inProgressProblem('Another batch of this producer is being accepted.', error)
    : databaseOutage(error);

const sendPublic = (body: unknown) => {
  const text = JSON.stringify(body);
  return (_request: Request, response: Response) =>
    void response.set('Cache-Control', 'public, max-age=300').type('application/json').send(text);
};

/**
 * The Audience Analytics Sink API (docs/audience-api.md). A request is checked in this order: route, headers, token, scope, idempotency key,
 * body.
 */
export function createAudienceServer(options: {
  readonly authenticate: Authenticate;
  readonly senderOf: SenderOf;
  readonly deps: RouteDeps;
  /** `{base_url}`. */
  readonly issuer: string;
  /** `{api_url}`. */
  readonly apiUrl: string;
  readonly pages: OperatorPages;
  readonly logger: Logger;
}): Express {
  const { authenticate, senderOf, deps, issuer, apiUrl, pages, logger } = options;
  const api = {
    resource: `${apiUrl}${basePath}`,
    name: contract.name,
    issuer,
    scopes: audienceScopes,
    documentation: `${apiUrl}${basePath}/docs`,
  };
  const app = createHttpApp(logger, ({ operation = 'none', tokenId }) => ({ operation, token_id: tokenId }));

  app.get(`${basePath}/contract`, sendPublic(contract));
  app.get(`${basePath}/openapi.json`, sendPublic(audienceOpenApi()));
  app.use(serveApiDocs({ title: contract.name, path: `${basePath}/docs`, documentPath: `${basePath}/openapi.json` }));
  app.get(protectedResourcePath(api.resource), serveProtectedResource(api, pages));

  serveOnlyGet(
    app,
    ['/contract', '/openapi.json', '/docs'].map((path) => basePath + path),
  );

  mountRoutes(app, basePath, audienceRoutes, {
    answer: async (route, request, response) => {
      Object.assign(response.locals, { operation: route.operation, scope: route.scope });
      route.checkHeaders?.(request);
      const client = await authenticate(request.get('authorization'), senderOf(request));
      response.locals['tokenId'] = client.tokenId;
      requireScope(client, route.scope);
      const { status, body } = await route.answer(request, client, deps);
      response.status(status).set('Cache-Control', 'no-store').type('application/json').send(body);
    },
  });
  endRoutes(app, { resource: api.resource, logger, toProblem });
  return app;
}
