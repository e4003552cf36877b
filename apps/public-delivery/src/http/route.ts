import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ParsedUrlQuery } from 'node:querystring';
import { problemDocument, problemOf, trackRequest } from '@longwave/http-kit';
import { databaseOutage } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { nameRoute, type Logger } from '@longwave/service-kit';
import { createMatcher, splitTarget } from './match-route.ts';

/** One request under way. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: ParsedUrlQuery;
  readonly requestId: string;
  readonly startedAt: Date;
}

type Handler = (exchange: Exchange) => Promise<void>;

/** A path and its handlers; logs call it `name`. */
export interface Route {
  readonly name: string;
  readonly path: string;
  /** Answers GET and HEAD; without it they are 405. */
  readonly get?: Handler;
  /** Answers POST; without it POST is 405. */
  readonly post?: Handler;
}

/** A connection on which nothing moves for this long is closed; apps that pause longer resume by range. */
const stalledMs = 15 * 60_000;

const corsHeaders = Object.entries({
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'Content-Range, Content-Length, Accept-Ranges, ETag, Last-Modified, Content-Disposition, Retry-After, X-Request-Id',
});
const preflight = {
  'access-control-allow-headers':
    'Range, If-Range, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Content-Type',
  'access-control-max-age': '86400',
  'content-length': '0',
};
const methodsOf = ({ get, post }: Route) =>
  [...(get ? ['GET', 'HEAD'] : []), ...(post ? ['POST'] : []), 'OPTIONS'].join(', ');

/**
 * Answers a problem (RFC 9457) with the sentence of its code alone, without the detail of where it was thrown, and with the request id
 * of the log line, which is in X-Request-Id too.
 */
function sendProblem(response: ServerResponse, problem: Problem, requestId: string): void {
  const { retryAfterSeconds } = problem.context;
  const shown = new Problem(problem.code, undefined, {
    status: problem.status,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
  const body = problemDocument(shown, requestId);
  for (const name of ['etag', 'cache-control', 'accept-ranges']) response.removeHeader(name);
  response.writeHead(problem.status, {
    'content-type': 'application/problem+json',
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': 'no-store',
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  });
  response.end(body);
}

const unknown: Handler = () => Promise.reject(new Problem('not_found'));

/** What a path does with a method: its name in logs and the handler. */
function choose(route: Route, method: string | undefined): readonly [name: string, handle: Handler] {
  const { name, get, post } = route;
  if (get && (method === 'GET' || method === 'HEAD')) return [name, get];
  if (post && method === 'POST') return [name, post];
  const methods = methodsOf(route);
  if (method === 'OPTIONS')
    return [
      `${name}.preflight`,
      async ({ response }) =>
        void response.writeHead(204, { 'access-control-allow-methods': methods, ...preflight }).end(),
    ];
  return [
    name,
    ({ response }) => {
      response.setHeader('allow', methods);
      return Promise.reject(new Problem('method_not_allowed'));
    },
  ];
}

/**
 * Answers the routes and their preflights; one log line per request, which never names its URL, address or user agent. It is no express
 * app, whose chain of handlers costs more than a range from memory takes otherwise (ADR 50).
 */
export function createRouter(routes: readonly Route[], logger: Logger, now: () => Date): RequestListener {
  const match = createMatcher(routes);

  async function answer(
    name: string,
    handle: Handler,
    asked: Omit<Exchange, 'requestId' | 'startedAt'>,
  ): Promise<void> {
    const { request, response } = asked;
    const beforeBytes = request.socket.bytesWritten;
    response.setTimeout(stalledMs);
    for (const [header, value] of corsHeaders) response.setHeader(header, value);
    const requestId = trackRequest(request, response, logger, () => ({
      route: name,
      bytes: request.socket.bytesWritten - beforeBytes,
    }));
    try {
      await handle({ ...asked, requestId, startedAt: now() });
    } catch (error) {
      const problem = problemOf(error, databaseOutage);
      // A 503 without a cause is a refusal under too great a load: the request's own line and the metrics tell, and more would add to it.
      const isRefusal = problem.status === 503 && problem.cause === undefined;
      if (problem.status >= 500 && !isRefusal)
        logger.error({ request_id: requestId, route: name, err: problem.cause ?? problem }, 'request.failed');
      if (response.headersSent) response.destroy();
      else sendProblem(response, problem, requestId);
    }
  }

  return (request, response) => {
    const { path, query } = splitTarget(request.url ?? '');
    const asked = { request, response, query };
    try {
      const found = match(path);
      if (found) nameRoute(request.method ?? '', found.route.path);
      const [name, handle] = found ? choose(found.route, request.method) : (['unknown', unknown] as const);
      void answer(name, handle, { ...asked, params: found?.params ?? {} });
    } catch {
      // A path that cannot be decoded is that of no route.
      void answer('unreadable', unknown, { ...asked, params: {} });
    }
  };
}
