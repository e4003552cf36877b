import type { ServerResponse } from 'node:http';
import { problemView, type Problem } from '@longwave/problems';
import { redact } from '@longwave/service-kit';

/** Writes `application/problem+json` (RFC 9457): the safe view plus the request id as `trace_id`. A secret that a detail repeats is redacted. */
export function renderProblem(response: ServerResponse, problem: Problem, requestId: string): void {
  const view = problemView(problem);
  response.writeHead(view.status, {
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
    ...(view.retry.after_seconds !== undefined && { 'retry-after': String(view.retry.after_seconds) }),
  });
  response.end(redact(JSON.stringify({ ...view, trace_id: requestId })));
}
