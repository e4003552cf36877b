import type { ServerResponse } from 'node:http';
import { problemView, type Problem } from '@longwave/problems';

/** Writes `application/problem+json` (RFC 9457): the safe view plus the request id as `trace_id`. */
export function renderProblem(response: ServerResponse, problem: Problem, requestId: string): void {
  const view = problemView(problem);
  response.writeHead(view.status, {
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
    ...(view.retry.after_seconds !== undefined && { 'retry-after': String(view.retry.after_seconds) }),
  });
  response.end(JSON.stringify({ ...view, trace_id: requestId }));
}
