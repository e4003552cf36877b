import { createHash, createPublicKey } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createReceiptSigner, publicReceiptKey } from '@longwave/command-pipeline';
import {
  classifyMessage,
  messageDigestOf,
  parsePayload,
  tryParsePublicKey,
  verifyRequest,
  type Envelope,
  type Message,
} from '@longwave/exchange-messages';
import { jcsDigest } from '@longwave/idempotency';
import { newId } from '@longwave/ids';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { commandChanges } from '../src/accepted-command.ts';

/** What goes wrong with the next request: its connection breaks before or after its effect, or it gets this status. */
export type Fault = 'lost_request' | 'lost_answer' | 500 | 503 | 429;

export interface Stored {
  readonly sequence: number;
  readonly digest: string;
  readonly envelope: Envelope;
  readonly message: Message;
  readonly receiptId: string;
}

const base = '/hosting-exchange/v1';
const answerJson = (response: ServerResponse, status: number, answer: string, headers: object = {}) =>
  void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(answer);

const acceptedAt = '2026-11-25T12:00:00.000Z';

async function newSigner(kid?: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  return { ...(await exportJWK(privateKey)), ...(kid !== undefined && { kid }) };
}

/** Receipts of a workspace, as the pipeline signs and chains them. */
function receiptBook(privateJwk: JWK, workspaceId: string) {
  const sign = createReceiptSigner(privateJwk);
  const receipts = new Map<string, { readonly id: string; readonly operation_id: string; readonly jws: string }>();
  let [seq, prev] = [0, '0'.repeat(64)];
  return {
    receipts,
    head: () => ({ workspace_id: workspaceId, seq, head: prev }),
    add: async (commandType: string, subject: { type: string; id: string }, payloadDigest: string) => {
      const [id, operationId] = [newId('rcp'), newId('op')];
      seq += 1;
      const jws = await sign({
        ...{ id, workspace_id: workspaceId, kind: 'command', operation_id: operationId, command_type: commandType },
        ...{ subject: { ...subject, version_before: 0, version_after: 1 }, payload_digest: payloadDigest },
        ...{ client_id: 'hosting-exchange', accepted_at: acceptedAt, proves: 'acceptance', chain: { seq, prev } },
      });
      prev = createHash('sha256').update(jws).digest('hex');
      receipts.set(id, { id, operation_id: operationId, jws });
      return receipts.get(id)!;
    },
  };
}

/**
 * A hosting exchange on loopback that keeps the contract of its answers in memory: token, truth table, idempotency, receipts. It stands
 * for the service where a test breaks connections; `tests/acceptance/exchange-client.test.ts` runs against the service.
 */
export async function startExchange() {
  const [workspaceId, authorityId, clientId, clientSecret] = [newId('ws'), newId('agr'), 'northern-light', 's/e:c ret'];
  const receiptKey = await newSigner('receipts-1');
  const key = { kid: newId('key'), privateJwk: await newSigner() };
  const book = receiptBook(receiptKey, workspaceId);
  const streams = new Map<string, Stored[]>();
  const versions = new Map<string, number>();
  const faults: Fault[] = [];
  const seen = { tokens: 0, posts: [] as { key: string; body: string }[], signed: [] as boolean[] };
  const answers = new Map<string, { readonly body: string; readonly status: number; readonly text: string }>();
  let [origin, tokenSeconds] = ['', 600];
  const validTokens = new Set<string>();

  const storedOf = ({ envelope, sequence, digest, receiptId }: Stored) => ({
    ...{ ...envelope, sequence, digest, receipt_id: receiptId, accepted_at: acceptedAt },
  });

  async function accept(envelope: Envelope, message: Message, digest: string): Promise<Stored> {
    const { kid } = JSON.parse(Buffer.from(envelope.protected, 'base64url').toString()) as { kid: string };
    const changes = commandChanges(message, { kid, digest });
    const type = { 'content-snapshot/1': 'content_snapshots', 'delivery-alias/1': 'delivery_aliases' }[
      message.schema as string
    ];
    const subject = { type: type ?? 'content_revocations', id: newId('csn') };
    const noun = { content_snapshots: 'content_snapshot.accept', delivery_aliases: 'delivery_alias.register' };
    const { id: receiptId } = await book.add(
      noun[subject.type as keyof typeof noun] ?? 'content_revocation.accept',
      subject,
      jcsDigest({ changes, reason: null, subject: { type: subject.type, id: null, version: null } }),
    );
    return { sequence: message.seq, digest, envelope, message, receiptId };
  }

  async function submit(body: string): Promise<{ status: number; answer: object }> {
    const { messages } = JSON.parse(body) as { messages: Envelope[] };
    const results: object[] = [];
    let isNew = false;
    for (const [index, envelope] of messages.entries()) {
      const read = parsePayload(Buffer.from(envelope.payload, 'base64url'));
      const refused = (status: number, code: string, more: object = {}) => ({
        status,
        answer: { type: 'about:blank', status, code, detail: 'Refused.', index, results, ...more },
      });
      if (!read.ok) return refused(422, read.code, { errors: read.errors });
      const { message } = read;
      const stored = streams.get(message.stream_id) ?? [];
      streams.set(message.stream_id, stored);
      const last = stored.at(-1);
      const digest = messageDigestOf(envelope.protected, envelope.payload);
      const subject = `${message.subject.type} ${message.subject.source_id}`;
      const verdict = classifyMessage(
        {
          head: last && { seq: last.sequence, digest: last.digest, issuedAt: last.message.issued_at },
          digestAt: (seq) => stored[seq - 1]?.digest,
          ...{ quarantined: false, reopens: false },
          subject: { acceptedVersion: versions.get(subject) ?? 0, revokedVersions: [] },
        },
        {
          ...{ seq: message.seq, prev: message.prev, digest, sourceVersion: message.subject.source_version },
          ...{ isSnapshot: message.schema === 'content-snapshot/1', issuedAt: message.issued_at },
        },
      );
      if (verdict.verdict === 'chain_gap')
        return refused(409, 'chain_gap', { expected_seq: verdict.expectedSeq, expected_prev: verdict.expectedPrev });
      if (verdict.verdict !== 'accept' && verdict.verdict !== 'exact_duplicate') return refused(409, verdict.verdict);
      if (verdict.verdict === 'accept') {
        stored.push(await accept(envelope, message, digest));
        versions.set(subject, message.subject.source_version);
        isNew = true;
      }
      const { receiptId, sequence } = stored[message.seq - 1]!;
      results.push({
        ...{ sequence, digest, status: verdict.verdict === 'accept' ? 'accepted' : 'replayed', receipt_id: receiptId },
        ...{ operation_id: book.receipts.get(receiptId)!.operation_id, resource: { type: 'x', id: 'x_1' } },
        accepted_at: acceptedAt,
      });
    }
    const { sequence, digest } = results.at(-1) as Stored;
    return { status: isNew ? 202 : 200, answer: { results, head: { sequence, digest } } };
  }

  /** By its idempotency key, as the service does. */
  async function submitOnce(key: string, body: string) {
    const known = answers.get(key);
    if (known && known.body !== body)
      return { status: 409, text: JSON.stringify({ status: 409, code: 'idempotency_conflict' }) };
    if (known) return known;
    const { status, answer } = await submit(body);
    const settled = { body, status, text: JSON.stringify(answer) };
    if (status < 300) answers.set(key, settled);
    return settled;
  }

  async function get(path: string): Promise<object | undefined> {
    const [, streamId = '', messages] = /\/streams\/([^/?]+)(\/messages)?/.exec(path) ?? [];
    const stored = streams.get(decodeURIComponent(streamId)) ?? [];
    const after = Number(new URL(path, origin).searchParams.get('after'));
    if (messages && stored.length > 0) {
      const page = stored.slice(after, after + 100);
      const more = after + page.length < stored.length;
      return { messages: page.map(storedOf), next_after: more ? after + page.length : null };
    }
    const last = stored.at(-1);
    if (streamId && last) {
      const { sequence, digest, message, receiptId } = last;
      const head = { sequence, digest, issued_at: message.issued_at };
      return {
        ...{ stream_id: message.stream_id, authority_id: authorityId, state: 'open', head },
        last_receipt_id: receiptId,
      };
    }
    if (path.endsWith('/keys')) return { keys: [publicReceiptKey(receiptKey)] };
    return book.receipts.get(/\/receipts\/(\w+)/.exec(path)?.[1] ?? '');
  }

  function token(request: IncomingMessage, body: string, response: ServerResponse): void {
    const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    // Both parts are form-urlencoded (RFC 6749 §2.3.1).
    const proof = Buffer.from(basic, 'base64')
      .toString()
      .split(':')
      .map((each) => decodeURIComponent(each.replaceAll('+', ' ')));
    const fields = new URLSearchParams(body);
    const isRight = proof[0] === clientId && proof[1] === clientSecret && fields.get('resource') === `${origin}${base}`;
    const challenge = { 'www-authenticate': `Basic realm="${origin}", error="invalid_client"` };
    if (!isRight) return void answerJson(response, 401, '{"error":"invalid_client"}', challenge);
    seen.tokens += 1;
    const access_token = `token-${seen.tokens}`;
    validTokens.add(access_token);
    const answer = { access_token, token_type: 'Bearer', expires_in: tokenSeconds, scope: fields.get('scope') };
    response
      .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
      .end(JSON.stringify(answer));
  }

  const isSigned = (request: IncomingMessage, body: string): boolean => {
    const { x } = createPublicKey({ key: key.privateJwk, format: 'jwk' }).export({ format: 'jwk' });
    const headers = Object.entries(request.headersDistinct).flatMap(([name, values]) =>
      (values ?? []).map((value) => [name, value] as const),
    );
    const signed = { method: request.method!, url: `${origin}${request.url}`, headers, body: Buffer.from(body) };
    return verifyRequest(signed, Date.now() / 1000, () => tryParsePublicKey(x!)).ok;
  };

  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const end = (status: number, answer: string, headers?: object) => answerJson(response, status, answer, headers);
      if (request.url === '/page') return void response.end('<h1>A page</h1>');
      if (request.url === '/oauth/token') return token(request, body, response);
      const fault = request.method === 'POST' ? faults.shift() : undefined;
      if (request.method === 'POST') {
        seen.posts.push({ key: String(request.headers['idempotency-key']), body });
        seen.signed.push(isSigned(request, body));
      }
      if (fault === 'lost_request') return request.socket.destroy();
      if (typeof fault === 'number')
        return end(fault, JSON.stringify({ status: fault, code: 'busy' }), { 'retry-after': '0' });
      if (!validTokens.has(request.headers.authorization?.slice('Bearer '.length) ?? ''))
        return end(401, JSON.stringify({ status: 401, code: 'unauthenticated', detail: 'The token is not valid.' }));
      if (request.method === 'POST') {
        const { status, text: answer } = await submitOnce(String(request.headers['idempotency-key']), body);
        return fault === 'lost_answer' ? request.socket.destroy() : end(status, answer);
      }
      const found = await get(request.url!);
      return end(
        found ? 200 : 404,
        JSON.stringify(found ?? { status: 404, code: 'not_found', detail: 'There is none.' }),
      );
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    origin,
    faults,
    seen,
    streams,
    key,
    receiptKey,
    receiptHead: book.head,
    endTokens: () => validTokens.clear(),
    setTokenSeconds: (seconds: number) => void (tokenSeconds = seconds),
    client: {
      ...{ apiUrl: origin, tokenUrl: `${origin}/oauth/token`, clientId, clientSecret, workspaceId, authorityId, key },
      retry: { firstWaitMs: 1, attempts: 4, timeoutMs: 5_000 },
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

export type ExchangeUnderTest = Awaited<ReturnType<typeof startExchange>>;

/** The body of a snapshot. */
export const snapshotBody = (title = 'One') => ({
  episode: {
    ...{ guid: `guid-${title}`, title_ref: title, duration_ms: 60_000, explicit: false, language: 'en' },
    ...{ content_categories: [], published_at: '2026-11-20T08:00:00Z' },
    audio_master: {
      ...{ url: 'https://host.example/one.mp3', digest: `sha256:${'a'.repeat(64)}`, bytes: 960_000 },
      ...{ codec: 'mp3' as const, channels: 2, sample_rate: 44_100 },
    },
  },
});

export const revocationBody = {
  ...{ revoke_version: 1, mode: 'stop_new' as const, cause: 'A wrong guest.' },
  effective_at: '2026-11-25T12:00:00Z',
};
