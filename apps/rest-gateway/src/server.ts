import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import type { Logger } from '@longwave/service-kit';
import express, { type Express, type Request, type Response } from 'express';
import { apiDocsPolicy, renderApiDocs } from './docs/api-docs-page.ts';
import { openApiDocument } from './docs/openapi-document.ts';
import type { Authenticate, Caller } from './http/authenticate.ts';
import { matchesNone } from './http/etag.ts';
import { createOpenStreams } from './http/open-streams.ts';
import type { Bucket, CountRequest } from './http/rate-limit.ts';
import { parseBody, parseQuery, readBody, type RawBody } from './http/read-input.ts';
import { toRestError } from './http/rest-failure.ts';
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

const idempotencyKeyPattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

function idempotencyKeyOf(request: Request, route: Route): string | undefined {
  const key = route.command ? request.get('idempotency-key') : undefined;
  // The upload routes judge it with the contract's own message.
  if (key === undefined || route.bucket === 'upload_urls' || idempotencyKeyPattern.test(key)) return key;
  throw new Problem(
    'idempotency_key_invalid',
    'Use 1 to 128 characters as Idempotency-Key: letters, digits, ".", "_", ":", "-"; a letter or digit first.',
  );
}

/** `*` asks only that the object exists, which is checked anyway. */
const ifMatchOf = (request: Request) => (request.get('if-match')?.trim() === '*' ? undefined : request.get('if-match'));

/** Where the request names the route's object: path, query or body, before either is validated. */
function objectIdOf({ object }: Route, request: Request, body: RawBody): string | undefined {
  if (!object) return undefined;
  const source = { path: request.params, query: request.query, body: body.value }[object.from];
  const id = (source as Readonly<Record<string, unknown>> | null)?.[object.field];
  return typeof id === 'string' ? id : undefined;
}

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
    const caller = await authenticate(request.headers);
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

  /** Object visible → permission → validation → the route. */
  async function answer(route: Route, request: Request, response: Response, admitted: Caller): Promise<Answer> {
    const body = route.body ? await readBody(request, response) : { value: {}, form: false };
    const caller = { ...admitted, deadline: new Date(Date.now() + route.deadlineMs) };
    const id = objectIdOf(route, request, body);
    const object =
      route.object && id !== undefined ? await tools.management.find(caller, route.object.type, id) : undefined;
    route.permit(caller, object);
    const call = {
      caller,
      reauthenticate: () => authenticate(request.headers),
      id: typeof request.params['id'] === 'string' ? request.params['id'] : '',
      object,
      query: parseQuery(route.query, request.query),
      body: route.body && parseBody(route.body, body),
      url: request.originalUrl,
      ifMatch: ifMatchOf(request),
      idempotencyKey: idempotencyKeyOf(request, route),
    };
    return route.run(call, tools);
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
    const close = openStreams.tryOpen(caller.credentialId);
    if (!close) return sendThrottled(response.set({ 'RateLimit-Remaining': '0', 'Retry-After': '60' }));
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    await stream(response, AbortSignal.any([gone.signal, stopping])).finally(close);
  }

  async function send(request: Request, response: Response, caller: Caller, result: Answer): Promise<void> {
    if ('stream' in result) return sendStream(request, response, caller, result.stream);
    response.set({ 'Cache-Control': 'private, no-cache', ...result.headers });
    if (result.etag) response.set('ETag', result.etag);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (result.etag && isRead && matchesNone(request.get('if-none-match'), result.etag)) response.status(304).end();
    else response.status(result.status).json(result.body);
  }

  function fail(request: Request, response: Response, error: unknown): void {
    const { status, message, reason, headers = {} } = toRestError(error instanceof URIError ? noRoute() : error);
    const fields = { err: error, request_id: response.locals['requestId'] as string };
    if (status === 500) logger.error(fields, 'request.failed');
    else if (status === 503) logger.warn(fields, 'request.refused');
    if (response.headersSent) return void response.destroy();
    response.set({ 'Cache-Control': 'no-store', ...headers });
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

  const document = openApiDocument(routes);
  const page = renderApiDocs(document);
  app.get(`${root}/docs`, (_request, response) => void response.set('Cache-Control', 'no-cache').json(document));
  app.get(
    '/api-docs',
    (_request, response) =>
      void response
        .set({ 'Cache-Control': 'no-cache', 'Content-Security-Policy': apiDocsPolicy })
        .type('html')
        .send(page),
  );

  for (const route of routes)
    app[route.method === 'GET' ? 'get' : route.method === 'PUT' ? 'put' : 'post'](
      expressPath(route.path),
      async (request, response) => {
        response.locals['route'] = `${route.method} ${route.path}`;
        const caller = await admit(request, response, route.bucket);
        if (caller) await send(request, response, caller, await answer(route, request, response, caller));
      },
    );

  for (const path of new Set(routes.map((route) => route.path))) {
    const methods = routes
      .filter((route) => route.path === path)
      .map(({ method }) => (method === 'GET' ? 'GET, HEAD' : method));
    app.all(expressPath(path), async (request, response) => {
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
  app.use((error: unknown, request: Request, response: Response, _next: unknown) => fail(request, response, error));
  return app;
}
