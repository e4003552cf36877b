import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { serveApiDocs, serveFrontPage, serveText } from '@longwave/api-docs';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import type { Logger } from '@longwave/service-kit';
import express, { type Express, type Request, type Response } from 'express';
import { answerRoute } from './answer-route.ts';
import { deprecationHeaders } from './docs/deprecation.ts';
import { frontPage } from './docs/front-page.ts';
import { openApiDocument } from './docs/openapi-document.ts';
import type { Authenticate, Caller } from './http/authenticate.ts';
import { allowBrowsers } from './http/cors.ts';
import { matchesNone } from './http/etag.ts';
import { createOpenStreams } from './http/open-streams.ts';
import type { Bucket, CountRequest } from './http/rate-limit.ts';
import { pathAndQuery } from './http/path-and-query.ts';
import { RestFailure, toRestError } from './http/rest-failure.ts';
import type { Answer, Route, Tools } from './route.ts';

export interface ServerOptions {
  readonly routes: readonly Route[];
  readonly tools: Tools;
  readonly authenticate: Authenticate;
  readonly countRequest: CountRequest;
  readonly logger: Logger;
  /** Aborted when the process stops; ends the streams. */
  readonly stopping: AbortSignal;
}

const root = '/api/v1';
const expressPath = (path: string) => root + path.replace(/\{(\w+)\}/g, ':$1');
const methodNames = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const;

/** Every path once, those with fixed words before those with an `{id}` in the same place. */
const pathsOf = (routes: readonly Route[]): string[] =>
  [...new Set(routes.map(({ path }) => path))].sort(
    (a, b) => Number(a.includes('{')) - Number(b.includes('{')) || a.localeCompare(b),
  );

/** Streams that one credential may have open at the same time, in this process. */
const openStreamsMax = 20;

/** Contract, Limits, 429. */
const sendThrottled = (response: Response) => void response.status(429).type('text/plain').send('Throttled');

const noRoute = () => new Problem('not_found', 'There is no such route.');

/** REST API v1 over express: the checks in the order of rest-api.md, then the route's own work. */
export function createServer({ routes, tools, authenticate, countRequest, logger, stopping }: ServerOptions): Express {
  const openStreams = createOpenStreams(openStreamsMax);

  /** Credential, plan and subscription → rate limit → read-only token. Undefined when the answer is already sent. */
  async function admit(request: Request, response: Response, bucket: Bucket): Promise<Caller | undefined> {
    const caller = await authenticate(request);
    response.locals['credentialId'] = caller.credentialId;
    const { throttled, headers } = await countRequest(caller, bucket);
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
    if (tag && isRead && matchesNone(request.get('if-none-match'), tag)) response.status(304).end();
    else if (body === undefined) response.status(status).end();
    else response.status(status).json(body);
  }

  function fail(request: Request, response: Response, error: unknown): void {
    const { status, message, reason, headers = {} } = toRestError(error);
    const fields = { err: error, request_id: response.locals['requestId'] as string };
    // A blocked client is refused at each of its requests: the access log says so.
    if (status === 500) logger.error(fields, 'request.failed');
    // Not a blocked client: it is refused at each of its requests, and the access log says so.
    else if (status === 503 && !(error instanceof RestFailure)) logger.warn(fields, 'request.refused');
    if (response.headersSent) return void response.destroy();
    response.set('Cache-Control', 'no-store');
    for (const [name, value] of Object.entries(headers)) response.append(name, value);
    response.status(status).json({ code: status, message, ...(reason && { reason }) });
  }

  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple');

  app.use((request, response, next) => {
    const requestId = newId('req');
    const startedAt = performance.now();
    response.locals['requestId'] = requestId;
    response.set({ 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff' });
    response.once('close', () =>
      logger.info(
        {
          request_id: requestId,
          method: request.method,
          route: (response.locals['route'] as string | undefined) ?? 'none',
          status: response.statusCode,
          credential_id: response.locals['credentialId'] as string | undefined,
          duration_ms: Math.round(performance.now() - startedAt),
        },
        'request.served',
      ),
    );
    next();
  });

  app.use(root, allowBrowsers);
  app.get('/', serveFrontPage(frontPage));
  const document = openApiDocument(routes);
  app.get(
    `${root}/docs`,
    serveText(() => JSON.stringify(document), 'application/json; charset=utf-8'),
  );
  app.use(serveApiDocs({ title: document.info.title, path: '/api-docs', documentPath: `${root}/docs` }));

  for (const path of pathsOf(routes)) {
    const at = app.route(expressPath(path));
    const here = routes.filter((route) => route.path === path);
    for (const route of here)
      at[methodNames[route.method]](async (request, response) => {
        response.locals['route'] = `${route.method} ${route.path}`;
        if (route.deprecated) response.set(deprecationHeaders(route, pathAndQuery(request.originalUrl)));
        const admitted = await admit(request, response, route.bucket);
        if (!admitted) return;
        const reauthenticate = () => authenticate(request);
        const options = { admitted, reauthenticate, tools };
        await send(route, request, response, admitted, await answerRoute(route, request, response, options));
      });
    const methods = here.map(({ method }) => (method === 'GET' ? 'GET, HEAD' : method));
    at.all(async (request, response) => {
      if (!(await admit(request, response, 'requests'))) return;
      response.set('Allow', methods.join(', '));
      throw new Problem('method_not_allowed', `${request.method} is not possible here.`);
    });
  }
  app.use(root, async (request, response) => {
    if (await admit(request, response, 'requests')) throw noRoute();
  });
  app.use(() => {
    throw new Problem('not_found', 'There is no such page.');
  });
  // A path whose `{id}` cannot be decoded is the path of no route.
  app.use(async (error: unknown, request: Request, response: Response, _next: unknown) => {
    if (!(error instanceof URIError)) throw error;
    if (await admit(request, response, 'requests')) throw noRoute();
  });
  app.use((error: unknown, request: Request, response: Response, _next: unknown) => fail(request, response, error));
  return app;
}
