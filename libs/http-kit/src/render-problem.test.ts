import { expect, test } from '@jest/globals';
import { Problem } from '@longwave/problems';
import { listenHttp } from './listen-http.ts';
import { problemSchema } from './problem-schema.ts';
import { problemDocument, renderProblem } from './render-problem.ts';

test('a problem is rendered as problem+json with its status, delay and request id, and without its cause', async () => {
  const problem = new Problem('temporarily_unavailable', 'Ask again.', {
    retryAfterSeconds: 0,
    cause: new Error('password=hunter2'),
  });
  await using stack = new AsyncDisposableStack();
  const listener = await listenHttp('127.0.0.1:0', (_, response) => renderProblem(response, problem, 'req_1'));
  stack.defer(() => listener.close(0));
  const response = await fetch(`http://127.0.0.1:${listener.port}/`, { headers: { connection: 'close' } });
  expect(response.status).toBe(503);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
    'retry-after': '0',
  });
  expect(await response.json()).toEqual({
    type: 'urn:longwave:problem:temporarily-unavailable',
    title: 'A dependency is not available',
    status: 503,
    detail: 'Ask again.',
    code: 'temporarily_unavailable',
    retry: { class: 'after_delay', after_seconds: 0 },
    instance: 'urn:longwave:request:req_1',
    trace_id: 'req_1',
  });
});

test('a problem about a provider is documented: its reference and what is unclear', () => {
  const problem = new Problem('provider_outcome_unknown', undefined, {
    operationId: 'op_1',
    provider: { external_receipt: null, ambiguity: 'unknown' },
  });
  const document: unknown = JSON.parse(problemDocument(problem, 'req_1'));
  expect(problemSchema.parse(document)).toEqual(document);
  expect(document).toMatchObject({ status: 502, provider: { external_receipt: null, ambiguity: 'unknown' } });
});
