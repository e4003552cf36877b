import { problemDocument, problemOf, trackRequest } from '@longwave/http-kit';
import { databaseOutage } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { Logger } from '@longwave/service-kit';
import express, { type Express, type Request, type Response } from 'express';

/** One request under way. */
export interface Exchange {
  readonly request: Request;
  readonly response: Response;
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

const cors = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'Content-Range, Content-Length, Accept-Ranges, ETag, Last-Modified, Content-Disposition, Retry-After, X-Request-Id',
};
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
function sendProblem(response: Response, problem: Problem, requestId: string): void {
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

/** Answers the routes and their preflights; one log line per request, which never names its URL, address or user agent. */
export function createRouter(routes: readonly Route[], logger: Logger, now: () => Date): Express {
  const app = express().disable('x-powered-by').disable('etag').set('query parser', 'simple');

  const answer = (name: string, handle: Handler) => async (request: Request, response: Response) => {
    const beforeBytes = request.socket.bytesWritten;
    response.setTimeout(stalledMs);
    response.setHeaders(new Map(Object.entries(cors)));
    const requestId = trackRequest(request, response, logger, () => ({
      route: name,
      bytes: request.socket.bytesWritten - beforeBytes,
    }));
    try {
      await handle({ request, response, requestId, startedAt: now() });
    } catch (error) {
      const problem = problemOf(error, databaseOutage);
      if (problem.status >= 500)
        logger.error({ request_id: requestId, route: name, err: problem.cause ?? problem }, 'request.failed');
      if (response.headersSent) response.destroy();
      else sendProblem(response, problem, requestId);
    }
  };
  const unknown = () => Promise.reject(new Problem('not_found'));

  for (const route of routes) {
    const { name, path, get, post } = route;
    const methods = methodsOf(route);
    if (get) app.get(path, answer(name, get));
    if (post) app.post(path, answer(name, post));
    app.options(
      path,
      answer(`${name}.preflight`, async ({ response }) => {
        response.writeHead(204, { 'access-control-allow-methods': methods, ...preflight }).end();
      }),
    );
    app.all(
      path,
      answer(name, ({ response }) => {
        response.setHeader('allow', methods);
        return Promise.reject(new Problem('method_not_allowed'));
      }),
    );
  }
  app.use(answer('unknown', unknown));
  // Express' own refusals (a path that cannot be decoded) are answered like unknown addresses.
  app.use(
    (_error: unknown, request: Request, response: Response, _next: unknown) =>
      void answer('unreadable', unknown)(request, response),
  );
  return app;
}
