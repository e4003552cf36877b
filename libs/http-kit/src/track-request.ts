import type { IncomingMessage, ServerResponse } from 'node:http';
import { newId } from '@longwave/ids';
import { createDuration, type Logger } from '@longwave/service-kit';
import express, { type Express } from 'express';

/** Fields that a surface adds to the log line of a request. */
export type LogFields = Readonly<Record<string, string | number | undefined>>;

const idHeader = 'X-Request-Id';

/** `longwave.http.duration`, made with the first request, because telemetry runs by then. */
let duration: ReturnType<typeof createDuration> | undefined;

function measure(seconds: number, status: number, { operation = 'none', route = operation }: LogFields): void {
  duration ??= createDuration('longwave.http.duration', 'Time from an HTTP request to the end of its answer');
  duration.record(seconds, { operation: route, status: `${Math.floor(status / 100)}xx` });
}

/** The ID that `trackRequest` gave the request of this answer. */
export const requestIdOf = (response: ServerResponse): string => String(response.getHeader(idHeader));

/**
 * Gives a request its ID, which the client reads in `X-Request-Id`, and writes one line `request.served` when the answer has ended or
 * the client is gone; `longwave.http.duration` measures it. The line never names the URL, an address or a user agent.
 * @param fields what the surface adds to the line, asked when it is written; `operation` or `route` also names the request in the metric
 */
export function trackRequest(
  request: IncomingMessage,
  response: ServerResponse,
  logger: Logger,
  fields: () => LogFields,
): string {
  const requestId = newId('req');
  const startedMs = performance.now();
  response.setHeader(idHeader, requestId);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.once('close', () => {
    const said = fields();
    const durationMs = performance.now() - startedMs;
    measure(durationMs / 1_000, response.statusCode, said);
    logger.info(
      {
        request_id: requestId,
        method: request.method,
        status: response.statusCode,
        ...said,
        duration_ms: Math.round(durationMs),
      },
      'request.served',
    );
  });
  return requestId;
}

/**
 * An express app that tracks every request. It adds nothing to an answer by itself: no tag, no name of the software.
 * @param fields reads what handlers noted in `response.locals`
 */
export function createHttpApp(
  logger: Logger,
  fields: (locals: Readonly<Record<string, string | undefined>>) => LogFields,
): Express {
  const app = express().disable('x-powered-by').disable('etag').set('query parser', 'simple');
  app.use((request, response, next) => {
    trackRequest(request, response, logger, () => fields(response.locals));
    next();
  });
  return app;
}
