import { serveApiDocs, serveFrontPage, serveText } from '@longwave/api-docs';
import type { Caller } from '@longwave/hosting-client';
import {
  answerErrors,
  createHttpApp,
  mountRoutes,
  protectedResourcePath,
  serveProtectedResource,
  type OperatorPages,
} from '@longwave/http-kit';
import { Problem } from '@longwave/problems';
import type { Logger } from '@longwave/service-kit';
import type { Express, Request, Response } from 'express';
import { answerRoute } from './answer-route.ts';
import { serveConsole, type ConsoleBuild } from './console/serve-console.ts';
import { restContract } from './docs/contract.ts';
import { deprecationHeaders } from './docs/deprecation.ts';
import { frontPage } from './docs/front-page.ts';
import { openApiDocument } from './docs/openapi-document.ts';
import type { Authenticate } from './http/authenticate.ts';
import { allowBrowsers } from './http/cors.ts';
import type { Bucket, CountCaller } from './http/rate-limit.ts';
import { hasScopes, protectedApi, requireScope } from './http/scope.ts';
import { pathAndQuery } from './http/path-and-query.ts';
import { toRestError } from './http/rest-failure.ts';
import type { Route, Deps } from './route.ts';
import { createSendAnswer, sendFailure, sendThrottled } from './send-answer.ts';

export interface ServerOptions {
  readonly routes: readonly Route[];
  readonly deps: Deps;
  readonly authenticate: Authenticate;
  readonly countCaller: CountCaller;
  readonly pages: OperatorPages;
  readonly logger: Logger;
  readonly consoleBuild: ConsoleBuild;
  /** Aborted when the process stops; ends the streams. */
  readonly stopping: AbortSignal;
}

const root = '/api/v1';

/** REST API v1 over express: the checks in their order (docs/ARCHITECTURE.md), then the route's own work. */
export function createServer(options: ServerOptions): Express {
  const { routes, deps, authenticate, countCaller, pages, consoleBuild, logger, stopping } = options;
  const sendAnswer = createSendAnswer(stopping);

  /** Credential, plan and subscription → rate limit → read-only token. Undefined when the answer is already sent. */
  async function admit(request: Request, response: Response, bucket: Bucket): Promise<Caller | undefined> {
    const caller = await authenticate(request);
    response.locals['credentialId'] = caller.credentialId;
    const { throttled, headers } = await countCaller(caller, bucket);
    response.set(headers);
    if (throttled) {
      sendThrottled(response);
      return undefined;
    }
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (caller.readOnly && !hasScopes(caller) && !isRead)
      throw new Problem('permission_denied', 'This token is read-only.');
    return caller;
  }

  const app = createHttpApp(logger, ({ route = 'none', credentialId }) => ({ route, credential_id: credentialId }));
  app.use(root, allowBrowsers);
  const document = openApiDocument(routes);
  app.get(
    `${root}/docs`,
    serveText(() => JSON.stringify(document), 'application/json; charset=utf-8'),
  );
  app.get(
    `${root}/contract`,
    serveText(() => JSON.stringify(restContract(routes)), 'application/json; charset=utf-8'),
  );
  const api = protectedApi(deps.baseUrl);
  app.get(protectedResourcePath(api.resource), serveProtectedResource(api, pages));
  app.use(serveApiDocs({ title: document.info.title, path: '/api-docs', documentPath: `${root}/docs` }));

  mountRoutes(app, root, routes, {
    answer: async (route, request, response) => {
      response.locals['route'] = `${route.method} ${route.path}`;
      if (route.deprecated) response.set(deprecationHeaders(route, pathAndQuery(request.originalUrl)));
      const admitted = await admit(request, response, route.bucket);
      if (!admitted) return;
      requireScope(admitted, route.scope, deps.baseUrl);
      const reauthenticate = () => authenticate(request);
      const options = { admitted, reauthenticate, deps };
      const answer = await answerRoute(route, request, response, options);
      await sendAnswer(answer, { route, request, response, caller: admitted });
    },
    admit: async (request, response) => Boolean(await admit(request, response, 'requests')),
  });
  app.use(serveConsole(consoleBuild));
  // Programs, and people where there is no console.
  app.get('/', serveFrontPage(frontPage));
  app.use(() => {
    throw new Problem('not_found', 'There is no such page.');
  });
  app.use(answerErrors({ logger, toFailure: toRestError, render: sendFailure }));
  return app;
}
