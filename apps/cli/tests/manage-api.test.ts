import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { openManagementApi, Refusal, type ManagementApi } from '../src/manage/management-api.ts';

interface Seen {
  readonly key: string | undefined;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** Requests in the order of their arrival, and the answers that the next ones get. */
const seen: Seen[] = [];
const answers: ((request: IncomingMessage, response: ServerResponse) => void)[] = [];
const told: string[] = [];
const server = createServer((request, response) => {
  void text(request).then((body) => {
    const { 'idempotency-key': key, authorization } = request.headers;
    seen.push({ key: key?.toString(), authorization, body });
    answers.shift()!(request, response);
  });
});
let api: ManagementApi;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const resource = `http://127.0.0.1:${(server.address() as AddressInfo).port}/management/v1`;
  let nth = 0;
  api = openManagementApi(
    async () => ({ resource, access_token: `token-${++nth}` }),
    (line) => void told.push(line),
  );
});
afterAll(() => new Promise<void>((done) => void server.close(() => done())));
beforeEach(() => {
  for (const list of [seen, answers, told]) list.length = 0;
});

const problem =
  (status: number, code: string, more: object = {}, headers: object = {}) =>
  (_: unknown, to: ServerResponse) =>
    void to
      .writeHead(status, { 'content-type': 'application/problem+json', ...headers })
      .end(JSON.stringify({ status, code, detail: 'It is refused.', trace_id: 't', ...more }));
const command = {
  method: 'POST',
  path: '/workspaces/ws_1/commands/x',
  headers: { 'Idempotency-Key': 'k' },
  body: {},
} as const;

test('a lost answer, a busy service and a running twin are asked again, with the same key and a token that is good', async () => {
  answers.push(
    (request) => void request.socket.destroy(),
    problem(429, 'rate_limited', {}, { 'retry-after': '1' }),
    problem(409, 'idempotency_in_progress', {}, { 'retry-after': '1' }),
    (_, to) => void to.end('{"id": "op_1"}'),
  );
  expect(await api.ask(command)).toEqual({ id: 'op_1' });
  expect(seen.map(({ key }) => key)).toEqual(['k', 'k', 'k', 'k']);
  expect(new Set(seen.map(({ body }) => body)).size).toBe(1);
  expect(new Set(seen.map(({ authorization }) => authorization)).size).toBe(4);
  expect(told).toEqual([
    'The service did not answer. Trying again in 1 s.',
    'The service is busy. Trying again in 1 s.',
    'The service is busy. Trying again in 1 s.',
  ]);
});

test('a refusal is asked once, and names every field, the operation and where to look', async () => {
  answers.push(
    problem(409, 'idempotency_conflict', {
      operation_id: 'op_1',
      recovery_url: 'https://api.test/op_1',
      errors: [{ path: '/changes/name', code: 'required', detail: '“name” is missing.' }],
    }),
  );
  const refusal: unknown = await api.ask(command).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(Refusal);
  expect((refusal as Refusal).message).toBe(
    [
      'It is refused. (idempotency_conflict)',
      '  /changes/name: “name” is missing.',
      '  Operation: op_1',
      '  See: https://api.test/op_1',
      '  Trace: t',
    ].join('\n'),
  );
  expect(seen).toHaveLength(1);
});

test('a stream is read event by event, whatever the pieces in which it comes', async () => {
  answers.push((_, to) => {
    to.writeHead(200, { 'content-type': 'text/event-stream' });
    const whole = 'id: 1\ndata: {"state":"accepted"}\n\n: still here\n\nid: 2\ndata: {"state":\ndata: "running"}\n\n';
    for (const piece of whole.match(/[\s\S]{1,7}/g)!) to.write(piece);
    to.end();
  });
  const events = [];
  for await (const event of api.events('/workspaces/ws_1/operations/op_1/events')) events.push(event);
  expect(events).toEqual([
    { id: '1', data: { state: 'accepted' } },
    { id: '2', data: { state: 'running' } },
  ]);
});
