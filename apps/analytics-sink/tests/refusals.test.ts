import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { transaction } from '@longwave/postgres';
import { apiContractSchema } from '@longwave/services';
import { lockWatermark } from '../src/batches/watermark-table.ts';
import { createAuthenticate } from '../src/http/authenticate.ts';
import { batch, byteRow, expectDocumented, useAudience, type Audience } from './_audience.ts';

interface Refusal {
  readonly name: string;
  readonly method?: string;
  readonly path?: string;
  /** Changed claims, or null for no token. */
  readonly token?: Record<string, unknown> | null;
  readonly authorization?: string;
  /** Null removes one. */
  readonly headers?: Record<string, string | null>;
  /** By JSON Pointer; null removes. */
  readonly body?: Record<string, unknown>;
  readonly raw?: string;
  readonly expect: {
    readonly status: number;
    readonly code: string;
    readonly paths?: readonly string[];
    readonly challenge?: string;
    readonly allow?: string;
  };
}

const refusals = JSON.parse(readFileSync(new URL('../cases/refusals.json', import.meta.url), 'utf8')) as Refusal[];

/** A valid batch with other values at the given pointers. */
function changed(changes: Record<string, unknown>): object {
  const body = structuredClone(batch());
  for (const [pointer, value] of Object.entries(changes)) {
    const names = pointer.split('/').slice(1);
    const last = names.pop()!;
    const target = names.reduce<Record<string, unknown>>((inner, name) => inner[name] as Record<string, unknown>, body);
    if (value === null) delete target[last];
    else target[last] = value;
  }
  return body;
}

let api: Audience;
useAudience((audience) => void (api = audience));

const stored = () => api.query('select batch_id from batch');

describe('refused is', () => {
  test.each(refusals.map((one) => [one.name, one] as const))('%s', async (_name, one) => {
    const { method = 'POST', path = '/batches' } = one;
    const headers: Record<string, string> = {};
    if (one.authorization) headers['authorization'] = one.authorization;
    else if (one.token !== null) headers['authorization'] = `Bearer ${await api.token(one.token)}`;
    if (method === 'POST') Object.assign(headers, { 'content-type': 'application/json', 'idempotency-key': 'key-1' });
    for (const [name, value] of Object.entries(one.headers ?? {}))
      if (value === null) delete headers[name];
      else headers[name] = value;
    const response = await fetch(`http://127.0.0.1:${api.port}/audience/v1${path}`, {
      method,
      headers,
      ...(method === 'POST' && { body: one.raw ?? JSON.stringify(changed(one.body ?? {})) }),
    });
    const text = await response.text();
    expectDocumented(method, path, response.status, text);
    const problem = JSON.parse(text) as Record<string, unknown> & { errors?: { path: string }[] };
    const { status, code, paths, challenge, allow } = one.expect;
    expect({ status: response.status, code: problem['code'] }).toEqual({ status, code });
    expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(problem).toMatchObject({
      type: expect.stringMatching(/^urn:longwave:problem:[a-z-]+$/),
      status,
      trace_id: response.headers.get('x-request-id'),
    });
    if (paths) expect(problem.errors?.map((error) => error.path)).toEqual(paths);
    if (challenge) expect(response.headers.get('www-authenticate')).toBe(challenge);
    else expect(response.headers.has('www-authenticate')).toBe(status === 401 || code === 'insufficient_scope');
    expect(response.headers.get('allow')).toBe(allow ?? null);
    expect(await stored()).toEqual([]);
  });
});

const post = (body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
  api.call('/batches', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'idempotency-key': 'key-1', ...headers },
  });

test('a token that auth-server says to have ended is refused', async () => {
  const jti = newId('mtk');
  const bearer = await api.token({ jti });
  expect((await api.call('/watermarks?producer=acme', {}, bearer)).status).toBe(200);
  api.ended.add(jti);
  const refused = await api.call('/watermarks?producer=acme', {}, bearer);
  expect(refused.body).toMatchObject({ status: 401, code: 'token_invalid' });
});

test('a body of more than 1 MiB is refused, announced or not', async () => {
  const long = 'x'.repeat(1024 * 1024 + 1);
  expect((await post(long)).body).toMatchObject({ status: 413, code: 'payload_too_large' });
  const unannounced = new Response(long).body!;
  const response = await fetch(`http://127.0.0.1:${api.port}/audience/v1/batches`, {
    method: 'POST',
    body: unannounced,
    duplex: 'half',
    headers: {
      authorization: `Bearer ${await api.token()}`,
      'content-type': 'application/json',
      'idempotency-key': 'key-1',
    },
  });
  expect(response.status).toBe(413);
});

test('a gzip body that would unpack to 1 GiB is refused before it is unpacked', async () => {
  const megabyte = gzipSync(Buffer.alloc(1024 * 1024, 32), { level: 9 });
  // Members of one gzip file follow each other (RFC 1952 §2.2).
  const bomb = Buffer.concat(Array.from({ length: 900 }, () => megabyte));
  expect(bomb.length).toBeLessThan(1024 * 1024);
  const before = process.memoryUsage().arrayBuffers;
  expect((await post(bomb, { 'content-encoding': 'gzip' })).body).toMatchObject({ status: 413 });
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
});

test('a gzip body that is cut, or followed by other bytes, is refused', async () => {
  const packed = gzipSync(JSON.stringify(batch()));
  for (const body of [packed.subarray(0, -9), Buffer.concat([packed, Buffer.from('more')])])
    expect((await post(body, { 'content-encoding': 'gzip' })).body).toMatchObject({
      status: 400,
      code: 'malformed_json',
    });
});

test('text that is no UTF-8 is refused, and so are 1001 rows', async () => {
  expect((await post(Buffer.from([0x22, 0xff, 0x22]))).body).toMatchObject({ status: 400, code: 'malformed_json' });
  const rows = Array.from({ length: 1001 }, (_, index) => byteRow({ request: `r${index}`, country: undefined }));
  const { body } = await post(JSON.stringify(batch({ rows })));
  expect(body).toMatchObject({ status: 422, errors: [{ path: '/rows' }] });
});

test.each([
  ['of the batch', '"sequence":1', '"sequence":1,"sequence":2'],
  ['of a row', '"to":', '"to":1,"to":'],
  ['of a window, one of them escaped', '"window":{', '"window":{"\\u0066rom":"2025-11-02T10:00:00Z",'],
])(
  'a field %s that comes twice is refused: nobody could say which of the two was accepted',
  async (_where, from, to) => {
    const body = JSON.stringify(batch()).replace(from, to);
    expect(body).toContain(to);
    expect((await post(body)).body).toMatchObject({ status: 400, code: 'malformed_json' });
  },
);

test('the same name in several objects, in texts and as deep as a body can be is no repetition', async () => {
  const twoRows = batch({ rows: [byteRow(), byteRow({ request: 'r-2', from: -1 })] });
  expect((await post(JSON.stringify(twoRows))).body).toMatchObject({ status: 422 });
  const nested = '['.repeat(200_000) + ']'.repeat(200_000);
  expect((await post(nested)).body).toMatchObject({ status: 422 });
  expect((await post('{"producer":"\\"producer\\":{"}')).body).toMatchObject({ status: 403 });
});

test.each(['__proto__', 'constructor', 'toString'])('a field %j is unknown like any other', async (name) => {
  const body = JSON.stringify(batch()).replace('"schema_version"', `"${name}":{"ip":"192.0.2.1"},"schema_version"`);
  expect((await post(body)).body).toMatchObject({ status: 422, errors: [{ path: `/${name}`, code: 'unknown_field' }] });
});

test('a connection goes on after a refused body', async () => {
  const refused = await post('x'.repeat(1024 * 1024 + 1));
  expect(refused.status).toBe(413);
  expect((await post(JSON.stringify(batch()))).status).toBe(202);
});

test('a batch is refused while another one of the producer is being accepted, and accepted afterwards', async () => {
  const send = () => api.send(batch({ batch_id: 'held', sequence: 99 }));
  const refused = await transaction(api.pool, async (tx) => {
    await lockWatermark(tx, 'acme');
    return send();
  });
  expect(refused.body).toMatchObject({ status: 409, code: 'idempotency_in_progress' });
  expect(refused.headers.get('retry-after')).toBe('1');
  expect((await send()).status).toBe(202);
});

test('a client that sends its body too slowly is cut off', async () => {
  const slow = connect(api.port, '127.0.0.1').on('error', () => undefined);
  slow.write(
    [
      'POST /audience/v1/batches HTTP/1.1',
      'Host: test',
      `Authorization: Bearer ${await api.token()}`,
      'Content-Type: application/json',
      'Idempotency-Key: slow',
      'Content-Length: 100000',
      '',
      '{',
    ].join('\r\n'),
  );
  const drip = setInterval(() => slow.write(' '), 100);
  await new Promise((resolve) => slow.once('close', resolve).resume());
  clearInterval(drip);
  expect((await api.call('/watermarks?producer=acme')).status).toBe(200);
});

test('contract, document and metadata of the resource need no token', async () => {
  const root = `http://127.0.0.1:${api.port}`;
  const read = async (path: string) => (await fetch(root + path)).json();
  expect(apiContractSchema.parse(await read('/audience/v1/contract'))).toMatchObject({
    name: 'Audience Analytics Sink API',
    version: 'v1',
    status: 'current',
    capabilities: [{ operation: 'batch.send' }, { operation: 'batch.read' }, { operation: 'watermark.read' }],
    unknown_fields: { requests: { rule: 'refused' }, responses: { rule: 'optional_may_be_ignored' } },
    deprecations: [],
  });
  expect(await read('/audience/v1/openapi.json')).toMatchObject({ openapi: '3.1.1' });
  const page = await fetch(`${root}/audience/v1/docs`);
  expect(await page.text()).toContain('data-document="/audience/v1/openapi.json"');
  expect(await read('/.well-known/oauth-protected-resource/audience/v1')).toMatchObject({
    resource: 'http://api.test/audience/v1',
    authorization_servers: ['http://base.test'],
    scopes_supported: ['audience:write', 'audience:read'],
    resource_policy_uri: 'http://base.test/policy',
    resource_tos_uri: 'http://base.test/terms',
  });
});

test('a wrong token that is repeated is checked once in five seconds, and whoever sends many different ones waits', async () => {
  let checked = 0;
  const authenticate = createAuthenticate({
    findKey: () => {
      checked += 1;
      return undefined;
    },
    ...{ issuer: 'http://base.test', audience: 'http://api.test/audience/v1', clock: () => new Date(0) },
    isActive: async () => true,
  });
  const send = (token: string, address = '203.0.113.7') =>
    expect(authenticate(`Bearer ${token}`, address)).rejects.toMatchObject({ code: 'token_invalid' });
  const token = await api.token();
  for (let n = 0; n < 20; n++) await send(token);
  expect(checked).toBe(1);
  for (let n = 0; n < 60; n++) await send(`wrong-${n}`);
  const beganAt = performance.now();
  await Promise.all(Array.from({ length: 10 }, (_, n) => send(`more-${n}`)));
  expect(performance.now() - beganAt).toBeGreaterThan(400);
});
