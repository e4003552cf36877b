import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll } from '@jest/globals';
import type { DeliveryFact } from '@longwave/events';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { listenHttp } from '@longwave/http-kit';
import { newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';
import { signAccessToken, type AudienceTokenClaims } from '@longwave/principal';
import { createLogger } from '@longwave/service-kit';
import { fact, lists, totalBytes } from '@longwave/test-kit/delivery-facts';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { aggregateNextBatch, settleReadyRows } from '../src/batches/aggregate-batches.ts';
import { createNoteLayouts } from '../src/batches/known-layout-table.ts';
import { createAuthenticate } from '../src/http/authenticate.ts';
import { answerSchemas } from '../src/http/answer-schemas.ts';
import { audienceOpenApi } from '../src/http/openapi.ts';
import { createAudienceServer } from '../src/http/server.ts';
import { createCountingMemory, recordFacts } from '../src/counting/record-facts.ts';
import { emptyTables } from './_tables.ts';

export const workspace = newId('ws');
export const podcast = newId('pod');
export const episode = newId('ep');
export const serving = newId('srv');
export const arrangement = 'a'.repeat(64);
export const at = '2025-11-02T10:00:01.000Z';

type Input = Record<string, unknown>;

/** The whole file of the fixture `fact`, served by another party; with what a test changes. */
export const byteRow = (changes: Input = {}): Input => ({
  kind: 'byte_range_served',
  request: 'req-1',
  arrangement,
  serving_id: serving,
  from: 0,
  to: totalBytes,
  started_at: '2025-11-02T10:00:00.000Z',
  at,
  status: 200,
  listener: '0'.repeat(32),
  workspace,
  podcast,
  episode,
  user_agent_verdict: 'ok',
  address_verdict: 'ok',
  country: 'DE',
  ...changes,
});

export const claimRow = (changes: Input = {}): Input => ({
  kind: 'download_qualified',
  claim: 'claim-1',
  at,
  workspace,
  podcast,
  episode,
  ...changes,
});

export const batch = (changes: Input = {}): Input => ({
  batch_id: 'batch-1',
  producer: 'acme',
  sequence: 1,
  window: { from: '2025-11-02T10:00:00Z', to: '2025-11-02T11:00:00Z' },
  schema_version: 1,
  rows: [byteRow()],
  ...changes,
});

/** A fact of `public-delivery` of that file, which makes its arrangement and its serving known. */
export const ownFact = (changes: Partial<Parameters<typeof fact>[0]> = {}) => {
  const base = fact({
    fact_id: 'own',
    workspace_id: workspace,
    podcast_id: podcast,
    episode_id: episode,
    arrangement_id: arrangement,
    // Two bytes: known, and no download.
    requested: [[0, 2]],
    written: [[0, 2]],
  });
  const parts = base.parts.map((part) => (part.ad ? { ...part, ad: { ...part.ad, serving_id: serving } } : part));
  return { ...base, parts, ...changes };
};

interface Sent {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly text: string;
  readonly headers: Headers;
}

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { schema?: { $ref: string } }>> }>
  >;
}
const documented = Object.entries(audienceOpenApi().paths as unknown as Record<string, Record<string, Operation>>).map(
  ([path, operations]) => ({ pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`), operations }),
);

/** Throws unless the document has this answer of the operation, with a body of its schema. */
export function expectDocumented(method: string, path: string, status: number, text: string): void {
  const [where = ''] = path.split('?');
  const operation = documented.find(({ pattern }) => pattern.test(where))?.operations[method.toLowerCase()];
  // Paths that are no operation have no answers in the document.
  if (!operation) return;
  const [content] = Object.values(operation.responses[status]?.content ?? {});
  if (!content) throw new Error(`${method} ${path} answered ${status}, which the document does not know`);
  const name = content.schema?.$ref.split('/').at(-1) as keyof typeof answerSchemas | undefined;
  if (name) answerSchemas[name].parse(JSON.parse(text));
}

/** The API over HTTP on a real PostgreSQL; a test calls `aggregate` itself. */
async function startAudience() {
  await using stack = new AsyncDisposableStack();
  const database: TestDatabase = stack.use(
    await startTestDatabase({ schema: 'audience', migrations: 'apps/analytics-sink/prisma' }),
  );
  const pool: Pool = stack.adopt(createPool(database.url, 'audience', { name: 'test', copies: true }), (it) =>
    it.end(),
  );
  const pair = await generateKeyPair('ES256', { extractable: true });
  const signingKey: JWK = { ...(await exportJWK(pair.privateKey)), kid: 'one' };
  const publicKey: JWK = { ...(await exportJWK(pair.publicKey)), kid: 'one' };
  const clock = { now: new Date('2026-11-21T12:00:00.000Z') };
  const logLines: string[] = [];
  const ended = new Set<string>();
  const listener = await listenHttp(
    '127.0.0.1:0',
    createAudienceServer({
      authenticate: createAuthenticate({
        findKey: (kid) => (kid === 'one' ? publicKey : undefined),
        issuer: 'http://base.test',
        audience: 'http://api.test/audience/v1',
        clock: () => clock.now,
        isActive: async ({ jti }) => !ended.has(jti),
      }),
      senderOf: () => '127.0.0.1',
      deps: { pool, clock: () => clock.now, onAccepted: () => undefined },
      issuer: 'http://base.test',
      apiUrl: 'http://api.test',
      pages: { POLICY_URL: 'http://base.test/policy', TERMS_URL: 'http://base.test/terms' },
      logger: createLogger('analytics-sink', 'debug', { write: (line) => void logLines.push(line) }),
    }),
    { requestTimeoutMs: 2_000 },
  );
  stack.defer(() => listener.close(0));

  const token = (changes: Partial<AudienceTokenClaims> = {}) =>
    signAccessToken(
      {
        iss: 'http://base.test',
        aud: 'http://api.test/audience/v1',
        sub: 'acme',
        client_id: 'acme',
        scope: 'audience:write audience:read',
        producer: 'acme',
        workspaces: [workspace],
        iat: clock.now.getTime() / 1000 - 60,
        exp: clock.now.getTime() / 1000 + 3600,
        jti: newId('mtk'),
        ...changes,
      },
      signingKey,
    );
  const usual = await token();
  const root = `http://127.0.0.1:${listener.port}/audience/v1`;

  const call = async (path: string, init: RequestInit = {}, bearer = usual): Promise<Sent> => {
    const headers = { authorization: `Bearer ${bearer}`, ...(init.headers as Record<string, string>) };
    const response = await fetch(path.startsWith('/.well') ? new URL(path, root) : root + path, { ...init, headers });
    const text = await response.text();
    expectDocumented(init.method ?? 'GET', path, response.status, text);
    return {
      status: response.status,
      text,
      body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
      headers: response.headers,
    };
  };
  /** Sends a batch under its own id as key. */
  const send = (body: Input, options: { gzip?: boolean; key?: string; bearer?: string } = {}) => {
    const json = JSON.stringify(body);
    return call(
      '/batches',
      {
        method: 'POST',
        body: options.gzip ? gzipSync(json) : json,
        headers: {
          'content-type': 'application/json',
          'idempotency-key': options.key ?? String(body['batch_id']),
          ...(options.gzip && { 'content-encoding': 'gzip' }),
        },
      },
      options.bearer,
    );
  };

  const tools = () => ({ pool, lists, memory: createCountingMemory(), clock: () => clock.now });
  const query = async <R extends object>(sql: string, values: unknown[] = []) =>
    (await pool.query<R & Record<string, unknown>>(sql, values)).rows;
  const owned = stack.move();
  return {
    pool,
    port: listener.port,
    clock,
    logLines,
    token,
    /** The `jti` of tokens that auth-server says to have ended. */
    ended,
    call,
    send,
    tools,
    /** Records facts of our own delivery, as the follower of facts does after a start. */
    report: async (...facts: DeliveryFact[]) => {
      await recordFacts(pool, facts, lists, createCountingMemory());
      await createNoteLayouts(pool)(facts);
    },
    /** Aggregates all batches and ready rows. */
    aggregate: async () => {
      const own = tools();
      while ((await aggregateNextBatch(own)) || (await settleReadyRows(own)));
    },
    clear: () => emptyTables(database),
    /** The status of a batch, as the API tells it. */
    statusOf: async (batchId: string) => (await call(`/batches/${batchId}`)).body,
    downloads: async () => {
      const sum = 'select coalesce(sum(downloads), 0)::int as downloads from download_hour';
      return (await query<{ downloads: number }>(sum))[0]!.downloads;
    },
    ads: () => query(`select serving_id, campaign_id, line_item_id, creative_id from ad_delivered order by 1`),
    query,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export type Audience = Awaited<ReturnType<typeof startAudience>>;

/** Gives the tests of a file the API; it is told to `assign` before the first. */
export function useAudience(assign: (api: Audience) => void): void {
  let api: Audience | undefined;
  beforeAll(async () => assign((api = await startAudience())));
  afterAll(() => api?.[Symbol.asyncDispose]());
}
