import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { signMessage, signRequest, type Envelope } from '@longwave/exchange-messages';
import { newId } from '@longwave/ids';
import {
  aliasBody,
  episodeBody,
  newKey,
  now,
  signPayload,
  startExchange,
  writer,
  type Exchange,
  type Platform,
  type Signed,
} from './_exchange.ts';

let exchange: Exchange;
let host: Platform;
beforeAll(async () => {
  exchange = await startExchange();
  host = await exchange.platform();
});
afterAll(() => exchange[Symbol.asyncDispose]());

const post = (options: Parameters<Exchange['request']>[3], workspaceId = host.workspaceId) =>
  exchange.request(host, 'POST', `/workspaces/${workspaceId}/messages`, options);
const snapshot = () =>
  writer(host, `show:${newId('pod')}`).write('content-snapshot/1', newId('ep'), 1, { episode: episodeBody() });
const refusalOf = ({ status, body }: Awaited<ReturnType<typeof post>>) => `${status} ${String(body['code'])}`;

test('the first rule that a request breaks answers, in the documented order', async () => {
  const { envelope, payload } = snapshot();
  const ok = { messages: [envelope] };
  const resigned = (changes: object, key = host.key) => ({
    messages: [signPayload(key, { ...payload, ...changes }).envelope],
  });
  const header = (value: object) => ({
    messages: [{ ...envelope, protected: Buffer.from(JSON.stringify(value)).toString('base64url') }],
  });
  const evidenceOnly = newKey();
  const revoked = newKey();
  await exchange.saveTestKey(host, evidenceOnly, { purposes: ['platform_evidence'] });
  await exchange.saveTestKey(host, revoked, { state: 'revoked' });
  const readOnly = await exchange.tokenOf(host, { scope: 'exchange:read' });
  const cases: readonly (readonly [string, Parameters<typeof post>[0], string?])[] = [
    ['413 payload_too_large', { body: 'x'.repeat(8 * 1024 * 1024 + 1), token: 'none' }],
    ['415 unsupported_media_type', { body: 'x', headers: { 'content-type': 'text/plain' }, token: 'none' }],
    ['401 token_invalid', { body: '{', token: 'none' }],
    ['403 insufficient_scope', { body: '{', token: readOnly }, newId('ws')],
    ['403 cross_workspace_identity', { body: '{' }, newId('ws')],
    ['422 idempotency_key_invalid', { body: '{', key: '-' }],
    ['400 malformed_message', { body: '{' }],
    ['400 malformed_message', { body: '{"messages":[],"messages":[]}' }],
    ['422 unknown_field', { body: { ...ok, more: 1 } }],
    ['400 malformed_message', { body: { messages: [] } }],
    ['422 unknown_field', { body: { messages: [{ ...envelope, header: {} }] } }],
    ['400 malformed_message', { body: { messages: [{ ...envelope, signature: `${envelope.signature}=` }] } }],
    ['422 signature_profile_invalid', { body: header({ alg: 'HS256', kid: host.key.id, typ: 'hx+json', hxv: '1' }) }],
    [
      '422 signature_profile_invalid',
      { body: header({ alg: 'EdDSA', kid: host.key.id, typ: 'hx+json', hxv: '1', crit: ['x'] }) },
    ],
    ['422 unknown_signing_key', { body: { messages: [signPayload(host.key, {}, newId('key')).envelope] } }],
    ['422 key_purpose_invalid', { body: resigned({ seq: 9 }, evidenceOnly) }],
    ['422 key_revoked', { body: resigned({ extra: 1 }, revoked) }],
    ['422 signature_invalid', { body: { messages: [signPayload(newKey(), { extra: 1 }, host.key.id).envelope] } }],
    ['422 unknown_field', { body: resigned({ extra: 1, workspace_id: newId('ws') }) }],
    ['422 validation_failed', { body: resigned({ seq: 0, workspace_id: newId('ws') }) }],
    [
      '403 cross_workspace_identity',
      { body: resigned({ workspace_id: newId('ws'), issued_at: '2027-01-01T00:00:00Z' }) },
    ],
    ['422 clock_skew', { body: resigned({ issued_at: '2026-11-25T12:05:01Z', seq: 2 }) }],
    ['422 chain_genesis_invalid', { body: resigned({ seq: 2 }) }],
    ['409 chain_gap', { body: resigned({ seq: 2, prev: `sha256:${'0'.repeat(64)}` }) }],
    [
      '422 validation_failed',
      {
        body: resigned({
          body: { episode: episodeBody({ chapters: [{ start_ms: 99_000, title: 'After the end' }] }) },
        }),
      },
    ],
    ['202 undefined', { body: ok }],
  ];
  for (const [expected, options, workspace] of cases)
    expect([options?.body, refusalOf(await post(options, workspace))]).toEqual([options?.body, expected]);
});

/** An envelope around bytes, which may be no message. */
const sealed = (bytes: Uint8Array | string, key = host.key): Envelope =>
  signMessage(bytes, key.privateKey, host.key.id);

test('a payload that is no JSON of the protocol is malformed after its signature, and before what it names', async () => {
  const { payload } = snapshot();
  const foreign = { ...payload, workspace_id: newId('ws'), issued_at: '2027-01-01T00:00:00Z' };
  const text = JSON.stringify(foreign);
  const malformed = [
    ...['', 'x', '[]', '"text"', 'null', text.slice(0, -1), `${text} x`, `\ufeff${text}`],
    ...[text.replace('"seq":1', '"seq":1,"seq":1'), text.replace('"seq":1', '"seq":1.0')],
    ...[text.replace('"seq":1', '"seq":9007199254740993'), text.replace('The first', '\\ud800')],
    ...[text.replace('The first', 'e\u0301'), text.replace('"seq":1', `"seq":${'['.repeat(16)}${']'.repeat(16)}`)],
  ];
  for (const bytes of [...malformed, Buffer.from([...Buffer.from(text), 0xff])]) {
    const answer = refusalOf(await post({ body: { messages: [sealed(bytes)] } }));
    expect([bytes, answer]).toEqual([bytes, '400 malformed_payload']);
    const forged = refusalOf(await post({ body: { messages: [sealed(bytes, newKey())] } }));
    expect([bytes, forged]).toEqual([bytes, '422 signature_invalid']);
  }
  expect(refusalOf(await post({ body: { messages: [sealed(text)] } }))).toBe('403 cross_workspace_identity');
});

test('a payload of more than 256 KiB is too large before its header is read, and one of 256 KiB is not', async () => {
  const largest = Buffer.alloc(256 * 1024, ' ');
  expect(refusalOf(await post({ body: { messages: [sealed(largest)] } }))).toBe('400 malformed_payload');
  const envelope = sealed('{}');
  const larger = { ...envelope, payload: Buffer.alloc(largest.length + 1, ' ').toString('base64url') };
  for (const header of [envelope.protected, 'e30', '='])
    expect(refusalOf(await post({ body: { messages: [{ ...larger, protected: header }] } }))).toBe(
      '413 payload_too_large',
    );
  const { text } = await post({ body: { messages: [larger] } });
  expect(text.length).toBeLessThan(1_000);
});

test('a used Idempotency-Key is refused after foreign ids and clocks, and before everything that the chain says', async () => {
  const first = snapshot();
  const one = writer(host, first.payload.stream_id);
  const { source_id: sourceId } = first.payload.subject;
  const key = newId('op');
  await exchange.submit(host, [first], { key });
  const other = newId('ws');
  const next = (changes: object, sequence = 1, prev: string | null = first.digest) => {
    one.rewind({ sequence, prev });
    return one.write('content-snapshot/1', sourceId, 2, { episode: episodeBody() }, changes);
  };
  const beyond = { episode: episodeBody({ chapters: [{ start_ms: 99_000, title: 'After the end' }] }) };
  const alias = () => {
    one.rewind({ sequence: 1, prev: first.digest });
    return one.write('delivery-alias/1', 'a1', 1, aliasBody('a1'));
  };
  const zeros = `sha256:${'0'.repeat(64)}`;
  const cases: readonly (readonly [string, Signed, alone: string])[] = [
    ['422 unknown_field', next({ body: { episode: episodeBody(), more: 1 } }), '422 unknown_field'],
    ['403 cross_workspace_identity', next({ workspace_id: other }), '403 cross_workspace_identity'],
    ['403 cross_workspace_identity', next({ workspace_id: other }, 7), '403 cross_workspace_identity'],
    ['403 cross_workspace_identity', alias(), '403 cross_workspace_identity'],
    ['422 clock_skew', next({ issued_at: '2026-11-25T12:05:01Z' }), '422 clock_skew'],
    ['422 clock_skew', next({ issued_at: '2026-11-25T12:05:01Z' }, 7), '422 clock_skew'],
    ['409 idempotency_conflict', next({}, 7), '409 chain_gap'],
    ['409 idempotency_conflict', next({}, 1, null), '422 chain_genesis_invalid'],
    ['409 idempotency_conflict', next({}, 1, zeros), '409 chain_fork'],
    ['409 idempotency_conflict', next({}, 0, null), '409 changed_duplicate'],
    ['409 idempotency_conflict', next({ body: beyond }), '422 validation_failed'],
    ['409 idempotency_conflict', next({ issued_at: '2026-11-25T11:00:00Z' }), '422 clock_skew'],
    ['409 idempotency_conflict', next({}), '202 undefined'],
  ];
  for (const [expected, message] of cases)
    expect([message.payload, refusalOf(await exchange.submit(host, [message], { key }))]).toEqual([
      message.payload,
      expected,
    ]);
  // What was refused for its key proves nothing against its sender.
  const proofs = 'select from equivocation where stream_id = $1';
  expect((await exchange.pool.query(proofs, [first.payload.stream_id])).rowCount).toBe(0);
  for (const [, message, alone] of cases)
    expect([message.payload, refusalOf(await exchange.submit(host, [message]))]).toEqual([message.payload, alone]);
  expect((await exchange.pool.query(proofs, [first.payload.stream_id])).rowCount).toBe(2);
});

test('an Idempotency-Key names one list of messages', async () => {
  const [one, two] = [snapshot(), snapshot()];
  await exchange.submit(host, [one], { key: 'named' });
  expect(refusalOf(await exchange.submit(host, [two], { key: 'named' }))).toBe('409 idempotency_conflict');
  expect(refusalOf(await post({ body: {}, headers: { 'idempotency-key': '' } }))).toBe('400 idempotency_key_required');
});

test('a signed request is accepted once; a changed body, an old signature and a used nonce are refused', async () => {
  const body = (message = snapshot()) => Buffer.from(JSON.stringify({ messages: [message.envelope] }));
  const url = `http://api.test/hosting-exchange/v1/workspaces/${host.workspaceId}/messages`;
  const signed = (bytes: Buffer, created = now.getTime() / 1000) =>
    signRequest(
      { method: 'POST', url, headers: [['content-type', 'application/json']], body: bytes },
      host.key.privateKey,
      {
        ...{ created, expires: created + 60, nonce: newId('nonce'), keyid: host.key.id },
      },
    );
  const bytes = body();
  const headers = signed(bytes);
  expect((await post({ body: bytes, headers })).status).toBe(202);
  expect(refusalOf(await post({ body: bytes, headers }))).toBe('422 signature_invalid');
  expect(refusalOf(await post({ body: body(), headers: signed(bytes) }))).toBe('422 signature_invalid');
  expect(refusalOf(await post({ body: bytes, headers: signed(bytes, now.getTime() / 1000 - 61) }))).toBe(
    '422 signature_profile_invalid',
  );
});

test('whatever a body is, the answer is a refusal with a code, never a failure of ours, and comes soon', async () => {
  const token = await exchange.tokenOf(host);
  const hostile = [
    '['.repeat(1_000_000),
    `{"messages":${'['.repeat(200_000)}`,
    `{"messages":[${'{"payload":'.repeat(100_000)}`,
    `{"messages":[{"protected":"${'A'.repeat(4_000_000)}","payload":"","signature":""}]}`,
    `{"messages":[${'1e400,'.repeat(100_000)}1]}`,
    '{"messages":["\\ud800"]}',
    '{"__proto__":{"messages":[]}}',
  ];
  for (const body of hostile) {
    const begun = performance.now();
    const { status, body: answer } = await post({ body, token });
    expect([status >= 400 && status < 500, typeof answer['code']]).toEqual([true, 'string']);
    expect(performance.now() - begun).toBeLessThan(30_000);
  }
  const { payload } = snapshot();
  const anyPayload = fc.oneof(
    fc.json().map((text) => ({ ...payload, body: JSON.parse(text) as unknown })),
    fc
      .record({ seq: fc.oneof(fc.integer(), fc.double(), fc.constant(null), fc.string()) })
      .map((some) => ({ ...payload, ...some })),
    fc.record({ source_version: fc.oneof(fc.maxSafeInteger(), fc.double()) }).map((some) => ({
      ...payload,
      subject: { ...payload.subject, ...some },
    })),
    fc
      .record({ seq: fc.maxSafeNat(), prev: fc.constant(`sha256:${'0'.repeat(64)}`) })
      .map((some) => ({ ...payload, ...some })),
    fc.dictionary(fc.string(), fc.jsonValue()).map((some) => ({ ...payload, ...some })),
  );
  await fc.assert(
    fc.asyncProperty(anyPayload, async (value) => {
      const { status, body: answer } = await post({
        body: { messages: [signPayload(host.key, value).envelope] },
        token,
      });
      if (status !== 202 && status !== 200)
        expect([status >= 400 && status < 500, typeof answer['code']]).toEqual([true, 'string']);
    }),
    { numRuns: 200 },
  );
});

test('no token, key, signature or address of a message is in any log line', () => {
  const text = exchange.logLines.join('\n');
  expect(text).not.toMatch(/eyJ|host\.example/);
});
