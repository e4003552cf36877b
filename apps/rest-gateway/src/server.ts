import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { serveApiDocs, serveFrontPage, serveText } from '@longwave/api-docs';
import { answerErrors, createHttpApp, mountRoutes, ifNoneMatchNames } from '@longwave/http-kit';
import { Problem } from '@longwave/problems';
import type { Logger } from '@longwave/service-kit';
import type { Express, Request, Response } from 'express';
import { answerRoute } from './answer-route.ts';
import { deprecationHeaders } from './docs/deprecation.ts';
import { frontPage } from './docs/front-page.ts';
import { openApiDocument } from './docs/openapi-document.ts';
import type { Authenticate, Caller } from './http/authenticate.ts';
import { allowBrowsers } from './http/cors.ts';
import { createOpenStreams } from './http/open-streams.ts';
import type { Bucket, CountCaller } from './http/rate-limit.ts';
import { pathAndQuery } from './http/path-and-query.ts';
import { toRestError, type RestError } from './http/rest-failure.ts';
import type { Answer, Route, Tools } from './route.ts';

export interface ServerOptions {
  readonly routes: readonly Route[];
  readonly tools: Tools;
  readonly authenticate: Authenticate;
  readonly countCaller: CountCaller;
  readonly logger: Logger;
  /** Aborted when the process stops; ends the streams. */
  readonly stopping: AbortSignal;
}

const root = '/api/v1';

/** Streams that one credential may have open at the same time, in this process. */
const openStreamsMax = 20;

/** Contract, Limits, 429. */
const sendThrottled = (response: Response) => void response.status(429).type('text/plain').send('Throttled');

/** REST API v1 over express: the checks in the order of rest-api.md, then the route's own work. */
export function createServer({ routes, tools, authenticate, countCaller, logger, stopping }: ServerOptions): Express {
  const openStreams = createOpenStreams(openStreamsMax);

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
    if (caller.readOnly && request.method !== 'GET' && request.method !== 'HEAD')
      throw new Problem('permission_denied', 'This token is read-only.');
    return caller;
  }

  async function sendStream(
    request: Request,
    response: Response,
    caller: Caller,
    stream: (response: Response, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    // Who went while it was admitted has no 'close' to come.
    if (response.destroyed) return;
    if (request.method === 'HEAD') return void response.type('text/event-stream').end();
    const close = openStreams.tryOpen(caller.clientId || caller.credentialId);
    if (!close) return sendThrottled(response.set({ 'RateLimit-Remaining': '0', 'Retry-After': '60' }));
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    await stream(response, AbortSignal.any([gone.signal, stopping])).finally(close);
  }

  async function sendCsv(
    request: Request,
    response: Response,
    { csv, fileName }: Extract<Answer, { csv: unknown }>,
  ): Promise<void> {
    // What cannot be read at all is an error of its own, not a document that breaks off.
    const pieces = csv[Symbol.asyncIterator]();
    const first = await pieces.next();
    response.set('Cache-Control', 'private, no-cache').attachment(fileName).type('text/csv; charset=utf-8');
    if (request.method === 'HEAD' || first.done) return void response.end();
    response.write(first.value);
    const rest = { [Symbol.asyncIterator]: () => pieces };
    await pipeline(Readable.from(rest), response).catch(() => response.destroy());
  }

  async function send(
    { tagged }: Route,
    request: Request,
    response: Response,
    caller: Caller,
    result: Answer,
  ): Promise<void> {
    if ('stream' in result) return sendStream(request, response, caller, result.stream);
    if ('csv' in result) return sendCsv(request, response, result);
    const { status, body, etag, headers = {} } = result;
    response.set('Cache-Control', 'private, no-cache');
    for (const [name, value] of Object.entries(headers)) response.append(name, value);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const tag = isRead && !tagged ? undefined : etag;
    if (tag) response.set('ETag', tag);
    if (tag && isRead && ifNoneMatchNames(request.get('if-none-match'), tag)) response.status(304).end();
    else if (body === undefined) response.status(status).end();
    else response.status(status).json(body);
  }

  function render({ status, message, reason, headers = {} }: RestError, response: Response): void {
    response.set('Cache-Control', 'no-store');
    for (const [name, value] of Object.entries(headers)) response.append(name, value);
    response.status(status).json({ code: status, message, ...(reason && { reason }) });
  }

  const app = createHttpApp(logger, ({ route = 'none', credentialId }) => ({ route, credential_id: credentialId }));
  app.use(root, allowBrowsers);
  app.get('/', serveFrontPage(frontPage));
  const document = openApiDocument(routes);
  app.get(
    `${root}/docs`,
    serveText(() => JSON.stringify(document), 'application/json; charset=utf-8'),
  );
  app.use(serveApiDocs({ title: document.info.title, path: '/api-docs', documentPath: `${root}/docs` }));

  mountRoutes(app, root, routes, {
    answer: async (route, request, response) => {
      response.locals['route'] = `${route.method} ${route.path}`;
      if (route.deprecated) response.set(deprecationHeaders(route, pathAndQuery(request.originalUrl)));
      const admitted = await admit(request, response, route.bucket);
      if (!admitted) return;
      const reauthenticate = () => authenticate(request);
      const options = { admitted, reauthenticate, tools };
      await send(route, request, response, admitted, await answerRoute(route, request, response, options));
    },
    admit: async (request, response) => Boolean(await admit(request, response, 'requests')),
  });
  app.use(() => {
    throw new Problem('not_found', 'There is no such page.');
  });
  app.use(answerErrors({ logger, toFailure: toRestError, render }));
  return app;
}
