import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rowsDigestOf } from '@longwave/exchange-messages';
import { newId } from '@longwave/ids';
import { transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { exchangeOpenApi } from '../src/http/openapi.ts';
import { exchangeRoutes } from '../src/http/routes.ts';
import { saveIntent } from '../src/intents/intent-table.ts';
import {
  aliasBody,
  capabilityBody,
  episodeBody,
  newKey,
  now,
  startExchange,
  writer,
  type Exchange,
  type Platform,
  type Sent,
  type Signed,
} from './_exchange.ts';
import { project } from './_projections.ts';

/** What the results of a submission say of a message. */
interface Result {
  readonly receipt_id: string;
  readonly operation_id: string;
  readonly accepted_at: string;
  readonly resource: { readonly type: string; readonly id: string };
}

let exchange: Exchange;
let host: Platform;
let messages: readonly Signed[];
let results: readonly Result[];
const intentId = newId('sin');
const operation = (id: string) => ({ id, state: 'succeeded', receipt_id: newId('rcp'), events: [{ at: now }] });
const receipt = (id: string) => ({ id, operationId: newId('op'), jws: 'eyJ.e30.c2ln' });
const proof = { checkpoint: 'eyJ.e30.c2ln', seq: 4, head: 'a'.repeat(64), leafIndex: 2, proof: ['b'.repeat(64)] };
const [keyId, x] = [newId('key'), newKey().jwk.x!];

/** Management and analytics-sink know everything that they are asked for: only the exchange keeps readers apart. */
function answerEverything(): void {
  exchange.deps.operations = {
    getOperation: async ({ operationId }) => ({ operationJson: JSON.stringify(operation(operationId)) }),
  };
  exchange.deps.receipts = {
    getReceipt: async ({ id }) => receipt(id),
    proveChain: async ({ workspaceId }) => ({ proof: { ...proof, workspaceId } }),
    listReceiptKeys: async () => ({ keys: [{ kid: keyId, x }] }),
  };
  exchange.deps.evidence = {
    listEvidenceRows: async () => ({
      rows: [{ sourceId: 'ep-1', atMs: BigInt(Date.UTC(2026, 10, 20)), downloads: 12n }],
    }),
    countWindows: async ({ windows = [] }) => ({ downloads: windows.map(() => 11n) }),
  };
}

async function publishIntent(): Promise<void> {
  const effective = now.toISOString();
  const actions = [{ alias: 'a1', source_id: 'ep-1', source_version: 1, presentation: 'stitched' as const }];
  const attributes = { authority_id: host.authorityId, plan_digest: 'p'.repeat(64), effective_at: effective, actions };
  const intent = { id: intentId, version: 1, workspaceId: host.workspaceId, publishedAt: effective };
  await transaction(exchange.pool, (tx) => saveIntent(tx, intent, { ...attributes, supersedes: 0 }));
  const path = `/workspaces/${host.workspaceId}/serving-intents/${intentId}/acknowledgements`;
  const said = { intent_version: 1, plan_digest: 'p'.repeat(64), applied_at: effective, status: 'rejected' };
  const { status } = await exchange.request(host, 'POST', path, { body: { ...said, detail_code: 'no_time' } });
  expect(status).toBe(201);
}

beforeAll(async () => {
  exchange = await startExchange();
  host = await exchange.platform();
  answerEverything();
  const one = writer(host);
  const rows = [{ source_id: 'ep-1', at: '2026-11-20T00:00:00Z', downloads: 12 }];
  messages = [
    one.write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() }),
    one.write('surface-capability/1', 'app', 1, capabilityBody('app')),
    one.write('delivery-alias/1', 'a1', 1, aliasBody('a1')),
    one.write('platform-evidence/1', 'november', 1, {
      ...{ source_label: 'northern', platform: 'app', kind: 'delivery', granularity: 'day', revision: 1 },
      period: { start: '2026-11-20T00:00:00Z', end: '2026-11-22T00:00:00Z' },
      ...{ method_note: 'As the IAB says.', finality: 'final', rows, rows_digest: rowsDigestOf(rows) },
    }),
  ];
  const { status, body } = await exchange.submit(host, messages);
  expect(status).toBe(202);
  results = body['results'] as Result[];
  await project(exchange, host, { snapshots: [{ version: 1, state: 'ready' }], episode: 'published' });
  await publishIntent();
});
afterAll(() => exchange[Symbol.asyncDispose]());

interface Read {
  /** Of the route. */
  readonly operation: string;
  /** Below the workspace, with the id that it names. */
  readonly path: (id: string) => string;
  /** An id of this platform, and one of the same form that nobody has; absent for what belongs to the workspace. */
  readonly ids?: () => readonly [known: string, unknown: string];
  /** What the answer says, of which its form says nothing. */
  readonly says: () => object;
}

const sha256 = `sha256:${'0'.repeat(64)}`;
const historyOf = (index: number) => [
  {
    ...{ source_version: 1, message_digest: messages[index]!.digest, stream_id: 'show:1', sequence: index + 1 },
    ...{ receipt_id: results[index]!.receipt_id, accepted_at: now.toISOString() },
  },
];
const stored = (index: number) => ({
  ...messages[index]!.envelope,
  ...{ sequence: index + 1, digest: messages[index]!.digest, stream_id: 'show:1' },
  ...{ resource: results[index]!.resource, operation_id: results[index]!.operation_id },
  ...{ receipt_id: results[index]!.receipt_id, accepted_at: now.toISOString() },
});

const reads: readonly Read[] = [
  {
    operation: 'operation.read',
    path: (id) => `/operations/${id}`,
    ids: () => [results[0]!.operation_id, newId('op')],
    says: () => ({ id: results[0]!.operation_id, state: 'succeeded' }),
  },
  {
    operation: 'receipt.read',
    path: (id) => `/receipts/${id}`,
    ids: () => [results[0]!.receipt_id, newId('rcp')],
    says: () => ({ id: results[0]!.receipt_id, jws: 'eyJ.e30.c2ln' }),
  },
  {
    operation: 'checkpoint.read',
    path: () => '/checkpoint',
    says: () => ({ workspace_id: host.workspaceId, seq: 4, head: proof.head, leaf_index: 2, proof: proof.proof }),
  },
  {
    operation: 'keys.read',
    path: () => '/keys',
    says: () => ({ keys: [{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: keyId, x }] }),
  },
  {
    operation: 'content_snapshot.read',
    path: (id) => `/content-snapshots/${id}`,
    ids: () => ['ep-1', 'ep-0'],
    says: () => ({ source_id: 'ep-1', source_version: 1, state: 'ready', rendition: { sha256: 'c'.repeat(64) } }),
  },
  {
    operation: 'surface_capability.read',
    path: (id) => `/surface-capabilities/${id}`,
    ids: () => ['app', 'not'],
    says: () => ({ surface_id: 'app', state: 'current', capability: capabilityBody('app'), history: historyOf(1) }),
  },
  {
    operation: 'delivery_alias.read',
    path: (id) => `/delivery-aliases/${id}`,
    ids: () => ['a1', 'a0'],
    says: () => ({
      ...{ alias: 'a1', url: 'https://media.test/delivery/v1/x/northern/a1.mp3', history: historyOf(2) },
      ...{ target: { type: 'episode', source_id: 'ep-1' }, route_policy: { surface_id: 'app' } },
    }),
  },
  {
    operation: 'message.read',
    path: (id) => `/messages/${id}`,
    ids: () => [messages[0]!.digest, sha256],
    says: () => stored(0),
  },
  {
    operation: 'stream.read',
    path: (id) => `/streams/${id}`,
    ids: () => ['show:1', 'show:0'],
    says: () => ({ stream_id: 'show:1', state: 'open', head: { sequence: 4, digest: messages[3]!.digest } }),
  },
  {
    operation: 'stream.export',
    path: (id) => `/streams/${id}/messages`,
    ids: () => ['show:1', 'show:0'],
    says: () => ({ messages: [0, 1, 2, 3].map(stored), next_after: null }),
  },
  {
    operation: 'platform_evidence.compare',
    path: (id) => `/platform-evidence/${id}`,
    ids: () => [results[3]!.resource.id, newId('pev')],
    says: () => ({ rows: [{ source_id: 'ep-1', platform: { downloads: 12 }, ours: { downloads: 11 } }] }),
  },
  {
    operation: 'serving_intent.list',
    path: () => '/serving-intents',
    says: () => ({ intents: [{ intent_id: intentId, acknowledgements: [{ detail_code: 'no_time' }] }] }),
  },
];

const document = exchangeOpenApi() as unknown as {
  readonly paths: Record<string, Record<string, { responses: Record<number, { content: Content }> }>>;
  readonly components: { readonly schemas: { readonly Problem: Schema } };
};
type Schema = Exclude<Parameters<typeof z.fromJSONSchema>[0], boolean>;
type Content = Record<string, { readonly schema: Schema }>;
const problemForm = z.fromJSONSchema(document.components.schemas.Problem);

/** The schema that the document declares for the answer of a read. */
function declared(name: string): Schema {
  const { path } = exchangeRoutes.find(({ operation: one }) => one === name)!;
  return document.paths[path]!['get']!.responses[200]!.content['application/json']!.schema;
}

const read = (as: Platform, path: string, workspaceId = as.workspaceId) =>
  exchange.request(as, 'GET', `/workspaces/${workspaceId}${path}`);

/** A refusal whole, but for the trace. */
const refused = ({ status, headers, text, body }: Sent) => {
  expect(problemForm.safeParse(body).error).toBeUndefined();
  const bytes = text.replaceAll(String(body['trace_id']), '…');
  return { status, bytes, challenge: headers.get('www-authenticate'), type: headers.get('content-type') };
};

test('every read of the API is among these', () => {
  const all = exchangeRoutes.filter(({ method }) => method === 'GET').map(({ operation: name }) => name);
  expect(reads.map(({ operation: name }) => name).toSorted()).toEqual(all.toSorted());
});

describe.each(reads)('$operation', ({ operation: name, path, ids, says }) => {
  test('answers in the form that the OpenAPI document declares, and in no wider one', async () => {
    const { status, body, headers } = await read(host, path(ids?.()[0] ?? ''));
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    const schema = declared(name);
    const form = z.fromJSONSchema(schema);
    expect(form.safeParse(body).error).toBeUndefined();
    expect(body).toMatchObject(says());
    for (const member of Object.keys(body)) {
      const { [member]: _left, ...rest } = body;
      const isRequired = schema.required?.includes(member) === true;
      expect([member, form.safeParse(rest).success]).toEqual([member, !isRequired]);
    }
    expect(form.safeParse({ ...body, undeclared: 1 }).success).toBe(name === 'operation.read');
  });

  test('shows a client of another workspace no more than of a workspace that does not exist', async () => {
    const other = await exchange.platform();
    const at = path(ids?.()[0] ?? '');
    const missing = newId('ws');
    const theirs = refused(await read(other, at, host.workspaceId));
    expect(theirs).toMatchObject({ status: 403 });
    expect(theirs).toEqual(refused(await read(other, at, missing)));
  });

  test('shows another authority nothing of this one, with the bytes of what does not exist', async () => {
    for (const workspaceId of [host.workspaceId, newId('ws')]) {
      const other = await exchange.platform(workspaceId);
      if (!ids) {
        const { status, text } = await read(other, path(''));
        expect(status).toBe(200);
        expect(text).not.toMatch(new RegExp([intentId, host.authorityId, host.clientId].join('|')));
        continue;
      }
      const [known, unknown] = ids();
      const theirs = refused(await read(other, path(known)));
      expect(theirs).toMatchObject({ status: 404 });
      expect(theirs).toEqual(refused(await read(other, path(unknown))));
      expect(theirs).toEqual(refused(await read(host, path(unknown))));
    }
  });
});

test('a checkpoint that the chain of the workspace does not have yet is missing', async () => {
  const { receipts } = exchange.deps;
  const missing = [
    async () => ({ proof: undefined }),
    async () => {
      throw new Problem('not_found', 'There is none.');
    },
  ];
  for (const proveChain of missing) {
    exchange.deps.receipts = { ...receipts, proveChain };
    expect(await read(host, '/checkpoint')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  }
  exchange.deps.receipts = receipts;
});

test('a message whose command has not run yet is not shown', async () => {
  const one = writer(host, 'show:waiting');
  const waiting = one.write('content-snapshot/1', 'ep-2', 1, { episode: episodeBody() });
  exchange.commands.faults.set(
    waiting.digest,
    new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 1 }),
  );
  expect((await exchange.submit(host, [waiting])).status).toBe(503);
  expect((await read(host, `/messages/${waiting.digest}`)).status).toBe(404);
  expect((await read(host, '/streams/show:waiting')).body).toMatchObject({ head: null, last_receipt_id: null });
  expect((await read(host, '/streams/show:waiting/messages')).body).toEqual({ messages: [], next_after: null });
  exchange.commands.faults.clear();
  expect((await read(host, '/streams/show:waiting')).body).toMatchObject({ head: { sequence: 1 } });
});
