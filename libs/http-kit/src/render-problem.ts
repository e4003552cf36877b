import type { ServerResponse } from 'node:http';
import { problemView, type Problem } from '@longwave/problems';
import { redact } from '@longwave/service-kit';

/**
 * The body of a problem (RFC 9457): the safe view, plus the request ID as `trace_id` and in `instance`. A secret that a detail repeats is
 * redacted.
 */
export const problemDocument = (problem: Problem, requestId: string): string =>
  redact(
    JSON.stringify({
      ...problemView(problem),
      instance: `urn:longwave:request:${requestId}`,
      trace_id: requestId,
    }),
  );

/** Answers with a problem as `application/problem+json`. */
export function renderProblem(response: ServerResponse, problem: Problem, requestId: string): void {
  const { retryAfterSeconds } = problem.context;
  response.writeHead(problem.status, {
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  });
  response.end(problemDocument(problem, requestId));
}
