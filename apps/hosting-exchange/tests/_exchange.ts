import { generateKeyPairSync, randomBytes, randomUUID, type KeyObject } from 'node:crypto';
import { signMessage, type Envelope, type Message, type MessageOf, type SchemaName } from '@longwave/exchange-messages';
import { messageDigestOf } from '@longwave/exchange-messages';
import { startTestDatabase, startTestRedis } from '@longwave/fleet';
import { connectRedis, listenHttp } from '@longwave/http-kit';
import { newId } from '@longwave/ids';
import { createPool, transaction, type Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { createLogger } from '@longwave/service-kit';
import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose';
import { findAuthority, saveAuthority } from '../src/authorities/authority-table.ts';
import { saveKey } from '../src/authorities/machine-key-table.ts';
import { createAuthenticate } from '../src/http/authenticate.ts';
import type { RouteDeps } from '../src/http/exchange-route.ts';
import { createExchangeServer } from '../src/http/server.ts';
import { createVerifySignedRequest } from '../src/http/verify-signed-request.ts';
import { createAcceptMessages } from '../src/messages/accept-messages.ts';
import { createFetchRules } from '../src/messages/fetch-rules.ts';
import { createSettleStream, type SendCommand } from '../src/messages/settle-stream.ts';

type Body = Record<string, unknown>;

/** A key of a platform, with which it signs. */
export interface TestKey {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly jwk: JWK;
}

export const newKey = (): TestKey => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { id: newId('key'), privateKey, jwk: publicKey.export({ format: 'jwk' }) };
};

/** A platform: a client with its authority and key in one workspace. */
export interface Platform {
  readonly workspaceId: string;
  readonly authorityId: string;
  readonly clientId: string;
  readonly key: TestKey;
}

export const now = new Date('2026-11-25T12:00:00.000Z');

/** The episode of a snapshot; a test changes what it is about. */
export const episodeBody = (changes: Body = {}): Body => ({
  guid: 'guid-1',
  title_ref: 'The first tide',
  duration_ms: 60_000,
  explicit: false,
  language: 'en',
  content_categories: [],
  published_at: '2026-11-20T06:00:00Z',
  audio_master: {
    url: 'https://host.example/1.mp3',
    digest: `sha256:${'a'.repeat(64)}`,
    bytes: 1_000,
    codec: 'mp3',
    channels: 2,
    sample_rate: 48_000,
  },
  ...changes,
});

export const capabilityBody = (surfaceId: string, changes: Body = {}): Body => ({
  surface_id: surfaceId,
  protocols: ['progressive'],
  interstitials: 'none',
  ranges: true,
  max_redirects: 5,
  ads_video: false,
  client_events: 'none',
  measurement: 'server_log',
  personalisation: 'per_download',
  offline_audio: true,
  ...changes,
});

export const aliasBody = (alias: string, changes: Body = {}): Body => ({
  alias,
  host: 'northern',
  path_slug: alias,
  target: { type: 'episode', source_id: 'ep-1' },
  route_policy: { surface_id: 'app', route: 'platform_controlled', when_unavailable: 'gone' },
  state: 'active',
  supersedes_version: null,
  ...changes,
});

const subjectTypes: Readonly<Record<SchemaName, string>> = {
  'content-snapshot/1': 'episode',
  'content-revocation/1': 'episode',
  'surface-capability/1': 'surface',
  'delivery-alias/1': 'alias',
  'platform-evidence/1': 'evidence',
  'authority-rotation/1': 'authority',
};

/** A signed message with its digest. */
export interface Signed {
  readonly envelope: Envelope;
  readonly digest: string;
  readonly payload: Message;
}

/** Signs any payload, valid or not. */
export function signPayload(key: TestKey, payload: unknown, kid = key.id): Signed {
  const envelope = signMessage(JSON.stringify(payload), key.privateKey, kid);
  return { envelope, digest: messageDigestOf(envelope.protected, envelope.payload), payload: payload as Message };
}

/** Writes the messages of one stream, each after the one before. */
export function writer(platform: Platform, streamId = 'show:1') {
  let sequence = 0;
  let prev: string | null = null;
  return {
    streamId,
    write<S extends SchemaName>(
      schema: S,
      sourceId: string,
      sourceVersion: number,
      body: Body,
      changes: Partial<MessageOf<SchemaName>> = {},
      key = platform.key,
    ): Signed {
      const signed = signPayload(key, {
        schema,
        workspace_id: platform.workspaceId,
        authority_id: platform.authorityId,
        stream_id: streamId,
        seq: sequence + 1,
        prev,
        subject: { type: subjectTypes[schema], source_id: sourceId, source_version: sourceVersion },
        event_id: randomUUID(),
        issued_at: new Date(now.getTime() - 60_000 + sequence).toISOString(),
        body,
        ...changes,
      });
      sequence += 1;
      prev = signed.digest;
      return signed;
    },
    /** Goes back, so that the next message contradicts or repeats. */
    rewind(to: { readonly sequence: number; readonly prev: string | null }): void {
      sequence = to.sequence;
      prev = to.prev;
    },
  };
}

/** A stand-in for management's commands: each key runs once, and a test may refuse commands or leave them without an answer. */
function commandStandIn() {
  const answers = new Map<string, string>();
  const log: { type: string; key: string; subjectId: string; changes: Body }[] = [];
  const faults = new Map<string, Problem | Error>();
  const send: SendCommand = async (request) => {
    const { commandType, idempotencyKey = '', subjectType = '', subjectId = '', changesJson = '{}' } = request;
    const fault = faults.get(String(commandType)) ?? faults.get(idempotencyKey);
    if (fault) throw fault;
    const known = answers.get(idempotencyKey);
    const operation =
      known ??
      JSON.stringify({
        id: newId('op'),
        receipt_id: newId('rcp'),
        subject: { type: subjectType, id: subjectId || newId('csn') },
      });
    if (known === undefined) {
      answers.set(idempotencyKey, operation);
      log.push({
        type: String(commandType),
        key: idempotencyKey,
        subjectId,
        changes: JSON.parse(changesJson) as Body,
      });
    }
    return {
      operationJson: operation,
      resourceJson: '{}',
      status: 200,
      replayed: known !== undefined,
      disclosedJson: undefined,
    };
  };
  return { send, log, faults };
}

export interface Sent {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly text: string;
  readonly headers: Headers;
}

/** The service over real engines; commands go to a stand-in. */
export async function startExchange({ allowOrigins = [] }: { readonly allowOrigins?: readonly string[] } = {}) {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(
    await startTestDatabase({ schema: 'exchange', migrations: 'apps/hosting-exchange/prisma' }),
  );
  const redisServer = stack.use(await startTestRedis());
  const pool: Pool = stack.adopt(createPool(database.url, 'exchange', { name: 'test', max: 20 }), (it) => it.end());
  const redis = await connectRedis(redisServer.url, {
    connectionName: 'test',
    commandTimeout: 1_000,
    onError: () => undefined,
  });
  stack.defer(() => redis.disconnect());
  const pair = await generateKeyPair('ES256', { extractable: true });
  const publicKey: JWK = { ...(await exportJWK(pair.publicKey)), kid: 'one' };
  const clock = { now };
  const readClock = () => clock.now;
  const logLines: string[] = [];
  const commands = commandStandIn();
  const locks: Pool = stack.adopt(createPool(database.url, 'exchange', { name: 'test', max: 20 }), (it) => it.end());
  const settle = createSettleStream({ pool, locks, send: commands.send, clock: readClock });
  const accept = createAcceptMessages({
    ...{ pool, settle, clock: readClock },
    fetchRules: createFetchRules(new Set(allowOrigins)),
  });
  const never = () => Promise.reject(new Problem('temporarily_unavailable'));
  const deps: RouteDeps = {
    ...{ pool, settle, accept, clock: readClock, mediaUrl: 'https://media.test', overdueMs: 300_000 },
    operations: { getOperation: never },
    receipts: { getReceipt: never, proveChain: never, listReceiptKeys: never },
    evidence: { listEvidenceRows: never, countWindows: never },
  };
  const listener = await listenHttp(
    '127.0.0.1:0',
    createExchangeServer({
      authenticate: createAuthenticate({
        findKey: (kid) => (kid === 'one' ? publicKey : undefined),
        issuer: 'http://base.test',
        audience: 'http://api.test/hosting-exchange/v1',
        clock: readClock,
        isActive: async () => true,
      }),
      countRequest: async () => ({ throttled: false, headers: {} }),
      senderOf: () => '127.0.0.1',
      verifySigned: createVerifySignedRequest({ pool, redis, apiUrl: 'http://api.test', clock: readClock }),
      findAuthority: (client) => findAuthority(pool, client.workspaceId, client.authorityId, clock.now),
      deps,
      requestsPerMinute: 1_000,
      issuer: 'http://base.test',
      apiUrl: 'http://api.test',
      pages: { POLICY_URL: 'http://base.test/policy', TERMS_URL: 'http://base.test/terms' },
      logger: createLogger('hosting-exchange', 'debug', { write: (line) => void logLines.push(line) }),
    }),
  );
  stack.defer(() => listener.close(0));

  const tokenOf = (platform: Platform, changes: Body = {}) =>
    new SignJWT({
      iss: 'http://base.test',
      aud: 'http://api.test/hosting-exchange/v1',
      sub: platform.clientId,
      client_id: platform.clientId,
      scope: 'exchange:read exchange:write',
      iat: Math.floor(now.getTime() / 1000),
      exp: Math.floor(now.getTime() / 1000) + 600,
      jti: 'token',
      workspace: platform.workspaceId,
      authority: platform.authorityId,
      ...changes,
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'one' })
      .sign(pair.privateKey);

  async function saveTestKey(
    platform: Platform,
    key: TestKey,
    changes: {
      readonly state?: string;
      readonly version?: number;
      readonly purposes?: ('content' | 'platform_evidence')[];
    } = {},
  ) {
    const { state = 'active', version = 1, purposes = ['content', 'platform_evidence'] } = changes;
    await transaction(pool, (tx) =>
      saveKey(
        tx,
        { id: key.id, workspaceId: platform.workspaceId, version, state },
        {
          authority_id: platform.authorityId,
          jwk: { kty: 'OKP', crv: 'Ed25519', x: key.jwk.x! },
          thumbprint: key.id,
          purposes,
          not_before: '2026-01-01T00:00:00.000Z',
          not_after: '2027-01-01T00:00:00.000Z',
          proof: '',
        },
      ),
    );
  }

  async function platform(workspaceId: string = newId('ws')): Promise<Platform> {
    const made = {
      workspaceId,
      authorityId: newId('agr'),
      clientId: `client-${randomBytes(4).toString('hex')}`,
      key: newKey(),
    };
    await transaction(pool, (tx) =>
      saveAuthority(tx, {
        id: made.authorityId,
        workspaceId,
        version: 1,
        state: 'active',
        clientId: made.clientId,
        expiresAt: '2027-01-01T00:00:00.000Z',
      }),
    );
    await saveTestKey(made, made.key);
    return made;
  }

  async function request(
    as: Platform,
    method: string,
    path: string,
    options: {
      readonly body?: unknown;
      readonly headers?: Record<string, string>;
      readonly key?: string;
      readonly token?: string;
    } = {},
  ): Promise<Sent> {
    const { body, headers = {}, key = randomUUID(), token = await tokenOf(as) } = options;
    const isText = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(`http://127.0.0.1:${listener.port}/hosting-exchange/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(method === 'POST' && { 'content-type': 'application/json', 'idempotency-key': key }),
        ...headers,
      },
      ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed: unknown = text === '' ? {} : JSON.parse(text);
    return { status: response.status, body: parsed as Record<string, unknown>, text, headers: response.headers };
  }

  const submit = (as: Platform, messages: readonly Signed[], options: Parameters<typeof request>[3] = {}) =>
    request(as, 'POST', `/workspaces/${as.workspaceId}/messages`, {
      body: { messages: messages.map(({ envelope }) => envelope) },
      ...options,
    });

  const running = stack.move();
  return {
    ...{ pool, locks, redis, clock, commands, settle, platform, saveTestKey, tokenOf, request, submit, logLines },
    origin: `http://127.0.0.1:${listener.port}`,
    deps: deps as { -readonly [K in keyof RouteDeps]: RouteDeps[K] },
    database,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

export type Exchange = Awaited<ReturnType<typeof startExchange>>;
