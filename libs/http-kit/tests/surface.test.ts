import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Problem } from '@longwave/problems';
import { createLogger } from '@longwave/service-kit';
import {
  answerErrors,
  createHttpApp,
  listenHttp,
  mountRoutes,
  problemOf,
  renderProblem,
  requestIdOf,
  type HttpListener,
  type RoutePlace,
} from '../src/index.ts';

interface TestRoute extends RoutePlace {
  readonly run: (id: string) => unknown;
}

const fail = (error: unknown) => () => {
  throw error;
};
const routes: readonly TestRoute[] = [
  { method: 'GET', path: '/things/{id}', run: (id) => `thing ${id}` },
  { method: 'DELETE', path: '/things/{id}', run: () => 'deleted' },
  { method: 'GET', path: '/things/newest', run: () => 'the newest' },
  { method: 'GET', path: '/things/{id}/parts', run: (id) => `parts of ${id}` },
  { method: 'GET', path: '/things/newest/{id}', run: (id) => `newest ${id}` },
  { method: 'POST', path: '/bug', run: fail(new Error('password=hunter2')) },
  { method: 'POST', path: '/nothing', run: fail(undefined) },
  { method: 'POST', path: '/away', run: fail(new Error('away')) },
  { method: 'POST', path: '/routine', run: fail(new Error('routine')) },
  { method: 'POST', path: '/mistake', run: fail(new Problem('validation_failed', 'Wrong.')) },
];

let listener: HttpListener;
const logLines: Record<string, unknown>[] = [];

beforeAll(async () => {
  const logger = createLogger('test', 'info', { write: (line) => void logLines.push(JSON.parse(line)) });
  const app = createHttpApp(logger, ({ operation = 'none' }) => ({ operation }));
  app.get('/begun', (_request, response) => {
    response.write('half of it');
    throw new Error('too late');
  });
  mountRoutes(app, '/v1', routes, {
    answer: async (route, request, response) => {
      response.locals['operation'] = route.path;
      const answer = route.run(String(request.params['id']));
      response.send(answer);
    },
    admit: async (request, response) => {
      if (request.get('authorization') !== undefined) return true;
      response.status(401).end();
      return false;
    },
  });
  const outage = (error: unknown) =>
    error instanceof Error && /^(away|routine)$/.test(error.message)
      ? new Problem('temporarily_unavailable', undefined, { cause: error })
      : undefined;
  app.use(
    answerErrors({
      logger,
      toFailure: (error) => {
        const problem = problemOf(error, outage);
        return {
          status: problem.status,
          problem,
          routine: problem.cause instanceof Error && /routine/.test(problem.cause.message),
        };
      },
      render: ({ problem }, response) => renderProblem(response, problem, requestIdOf(response)),
    }),
  );
  listener = await listenHttp('127.0.0.1:0', app);
});
afterAll(() => listener.close(0));
beforeEach(() => void logLines.splice(0));

async function ask(method: string, path: string, headers: Record<string, string> = { authorization: 'yes' }) {
  const answer = await fetch(`http://127.0.0.1:${listener.port}${path}`, { method, headers });
  return { status: answer.status, headers: answer.headers, body: await answer.text() };
}
const logged = (event: string) => logLines.filter((line) => line['event'] === event);

test('each request has an ID of its own, and one log line that names neither its address nor its query', async () => {
  const first = await ask('GET', '/v1/things/1?secret=2');
  const second = await ask('GET', '/v1/things/1');
  expect(first.body).toBe('thing 1');
  expect(first.headers.get('x-request-id')).toMatch(/^req_/);
  expect(first.headers.get('x-request-id')).not.toBe(second.headers.get('x-request-id'));
  expect(first.headers.get('x-content-type-options')).toBe('nosniff');
  const served = logged('request.served');
  expect(served).toHaveLength(2);
  expect(served[0]).toMatchObject({
    request_id: first.headers.get('x-request-id'),
    ...{ method: 'GET', operation: '/things/{id}', status: 200, duration_ms: expect.any(Number) },
  });
  expect(JSON.stringify(logLines)).not.toMatch(/secret|127\.0\.0\.1|things\/1/);
});

test.each(['/v1/bug', '/v1/nothing'])(
  'an error of unknown kind (%s) is a 500 of which the client learns the request ID alone, and the log everything',
  async (path) => {
    const { status, headers, body } = await ask('POST', path);
    expect(status).toBe(500);
    const requestId = headers.get('x-request-id');
    expect(JSON.parse(body)).toMatchObject({ code: 'internal_error', trace_id: requestId });
    expect(body).not.toContain('hunter2');
    expect(logged('request.failed')).toMatchObject([{ level: 'error', request_id: requestId }]);
  },
);

test('the log names a dependency that is away, but neither a routine refusal nor a mistake of the client', async () => {
  expect((await ask('POST', '/v1/away')).status).toBe(503);
  expect(logged('request.refused')).toMatchObject([{ level: 'warn', err: { message: 'away' } }]);
  expect((await ask('POST', '/v1/routine')).status).toBe(503);
  expect((await ask('POST', '/v1/mistake')).status).toBe(422);
  expect(logged('request.refused')).toHaveLength(1);
  expect(logged('request.failed')).toHaveLength(0);
});

test('an answer that has begun is cut off when its handler fails', async () => {
  await expect(ask('GET', '/begun')).rejects.toThrow();
});

test('a fixed word comes before a parameter in the same place, whatever follows it', async () => {
  expect((await ask('GET', '/v1/things/newest')).body).toBe('the newest');
  expect((await ask('GET', '/v1/things/newest/parts')).body).toBe('newest parts');
  expect((await ask('GET', '/v1/things/1/parts')).body).toBe('parts of 1');
});

test.each([
  ['PUT', '/v1/things/1', 'GET, HEAD, DELETE'],
  ['OPTIONS', '/v1/things/newest', 'GET, HEAD'],
  ['HEAD', '/v1/bug', 'POST'],
])('%s %s is not possible: the answer allows %s', async (method, path, allow) => {
  const { status, headers } = await ask(method, path);
  expect([status, headers.get('allow')]).toEqual([405, allow]);
});

test('HEAD goes with GET', async () => {
  expect(await ask('HEAD', '/v1/things/1')).toMatchObject({ status: 200, body: '' });
});

test.each(['/v1', '/v1/unknown', '/v1/things/1/2', '/v1/things/%ff'])('%s is the path of no route', async (path) => {
  expect(await ask('GET', path)).toMatchObject({ status: 404 });
});

test.each([
  ['PUT', '/v1/things/1'],
  ['GET', '/v1/unknown'],
  ['GET', '/v1/things/%ff'],
])('a client that is not admitted does not learn whether %s %s exists', async (method, path) => {
  const { status, headers } = await ask(method, path, {});
  expect([status, headers.get('allow')]).toEqual([401, null]);
});
