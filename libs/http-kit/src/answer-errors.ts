import { Problem } from '@longwave/problems';
import type { Logger } from '@longwave/service-kit';
import type { ErrorRequestHandler, Request, Response } from 'express';
import { requestIdOf } from './track-request.ts';

/**
 * The problem behind anything thrown. An error of unknown kind is `internal_error`: the client learns nothing of it but the request ID.
 * @param toProblem names the errors that the surface knows, and answers undefined for all others
 */
export const problemOf = (error: unknown, toProblem: (error: unknown) => Problem | undefined): Problem =>
  error instanceof Problem ? error : (toProblem(error) ?? new Problem('internal_error', undefined, { cause: error }));

/** The problem and the log line of an error. */
export interface Failure {
  readonly status: number;
  /** A 503 that says nothing about the service; the access log is enough. */
  readonly routine?: boolean;
}

/**
 * The end of a chain of handlers: what was thrown is logged when it is our fault (500 as `request.failed`, 503 as `request.refused`)
 * and answered. An answer that has begun is cut off, and a client that left while it was sending is answered nothing.
 * @param options.render writes the whole answer
 */
export function answerErrors<F extends Failure>(options: {
  readonly logger: Logger;
  readonly toFailure: (error: unknown) => F;
  readonly render: (failure: F, response: Response) => void;
}): ErrorRequestHandler {
  const { logger, toFailure, render } = options;
  return (error: unknown, request: Request, response: Response, _next) => {
    if (request.destroyed && !request.complete) return void response.destroy();
    const failure = toFailure(error);
    const fields = { err: error, request_id: requestIdOf(response) };
    if (failure.status === 500) logger.error(fields, 'request.failed');
    else if (failure.status === 503 && !failure.routine) logger.warn(fields, 'request.refused');
    if (response.headersSent) return void response.destroy();
    render(failure, response);
  };
}
