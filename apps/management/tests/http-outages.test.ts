import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import { createResourceReader } from '@longwave/command-pipeline';
import { developmentCa, freePort } from '@longwave/fleet';
import { verifyUnderLease } from '@longwave/http-kit/verify-under-lease';
import { newId } from '@longwave/ids';
import { createPool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { openChannel, readTls, type Tls } from '@longwave/rpc';
import { AudienceServiceService } from '@longwave/rpc/audience';
import { CredentialServiceService } from '@longwave/rpc/credential';
import { ServingServiceService } from '@longwave/rpc/serving';
import type { ServiceName } from '@longwave/services';
import pg from 'pg';
import { createCountConfirmed } from '../src/advertising/line-items/count-confirmed.ts';
import { createDiagnostics } from '../src/diagnostics/diagnostics.ts';
import { createAuthenticate } from '../src/http/authenticate.ts';
import { apiUrl, serveHttp, type HttpAnswer } from './_http.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
let world: World;
let tls: Tls;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  management = stack.use(await startTestManagement());
  world = createWorld(management);
  await world.provisioned();
  const folder = mkdtempSync(path.join(tmpdir(), 'outages-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  tls = readTls((await developmentCa(folder, ['management'], new Date())).management);
});
afterAll(() => stack.disposeAsync());

/** A port that takes connections and says nothing. */
async function silentPort() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { readonly port: number }).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function channelTo(service: ServiceName, port: number) {
  const channel = openChannel(`127.0.0.1:${port}`, service, tls);
  return Object.assign(channel, { [Symbol.dispose]: () => channel.close() });
}

const advertiser = {
  subject: { type: 'advertisers', id: null },
  changes: { legal_name: 'Tidewater', brands: [], ad_product_categories: [] },
};
const at = () => `/workspaces/${world.workspaceId}`;

/** What a client acts on: the status, the code, how to retry, and after how many seconds. */
const shownOf = ({ status, json, headers }: HttpAnswer) => ({
  ...{ status, code: json.code, retry: json.retry, retryAfter: headers.get('retry-after') },
});
const passing = (status: number, code: string, seconds: number) => ({
  ...{ status, code, retryAfter: String(seconds) },
  retry: { class: 'after_delay', after_seconds: seconds },
});

test('while auth-server is away every request with a token is 503 with a wait, and documents stay readable', async () => {
  using channel = channelTo('auth-server', await freePort());
  await using verifier = verifyUnderLease(channel.client(CredentialServiceService), () => undefined);
  const authenticate = createAuthenticate(verifier, [], management.clock, 'http://base.test');
  await using api = await serveHttp(management, {}, { authenticate });
  expect(shownOf(await api.call('/workspaces', { token: 'any' }))).toEqual(passing(503, 'temporarily_unavailable', 1));
  expect((await api.call('/keys')).status).toBe(200);
});

test('an auth-server that does not answer in time makes 504 with a wait', async () => {
  await using silent = await silentPort();
  using channel = channelTo('auth-server', silent.port);
  await using verifier = verifyUnderLease(channel.client(CredentialServiceService), () => undefined);
  const authenticate = createAuthenticate(verifier, [], management.clock, 'http://base.test');
  await using api = await serveHttp(management, {}, { authenticate });
  expect(shownOf(await api.call('/workspaces', { token: 'any' }))).toEqual(passing(504, 'timeout', 1));
});

test('while internal-serving is away a search for decisions is 503 with a wait', async () => {
  using channel = channelTo('internal-serving', await freePort());
  const { pool, clock } = management;
  const serving = channel.client(ServingServiceService);
  await using api = await serveHttp(management, { diagnostics: createDiagnostics({ pool, serving, clock }) });
  const token = api.tokenFor(world.actor, ['management:diagnostics'], newId('cli'), ['audit']);
  const answer = await api.call(`${at()}/decisions`, { token });
  expect(shownOf(answer)).toEqual(passing(503, 'temporarily_unavailable', 1));
});

test('a command that needs the sink is 503 or 504 while it is away or slow, and is done under the same key afterwards', async () => {
  await using api = await serveHttp(management);
  const { lineItem } = await world.booked();
  const token = api.tokenFor(world.actor);
  const count = management.countConfirmed;
  const cancel = () =>
    api.call(`${at()}/commands/line_item.cancel`, {
      token,
      headers: { 'idempotency-key': 'cancel-1' },
      body: {
        subject: { type: 'line_items', id: lineItem.id, version: lineItem.version },
        changes: { cause: 'Not wanted.' },
      },
    });
  {
    using channel = channelTo('analytics-sink', await freePort());
    management.countConfirmed = createCountConfirmed(channel.client(AudienceServiceService).countAds, management.clock);
    expect(shownOf(await cancel())).toEqual(passing(503, 'temporarily_unavailable', 1));
  }
  {
    await using silent = await silentPort();
    using channel = channelTo('analytics-sink', silent.port);
    management.countConfirmed = createCountConfirmed(channel.client(AudienceServiceService).countAds, management.clock);
    expect(shownOf(await cancel())).toEqual(passing(504, 'timeout', 1));
  }
  management.countConfirmed = count;
  expect((await cancel()).status).toBeLessThan(300);
});

test('a statement that takes too long makes 504 with a wait, and a read that follows is answered', async () => {
  const { database, clock } = management;
  await using own = new AsyncDisposableStack();
  const slow = own.adopt(createPool(database.url, 'product', { name: 'slow', statementTimeoutMs: 200 }), (p) =>
    p.end(),
  );
  const cursorKey = Buffer.alloc(32, 1);
  const reader = own.use(
    createResourceReader({ pool: slow, schema: 'product', catalog: productCatalog, cursorKey, clock }),
  );
  const api = own.use(await serveHttp(management, { reader }));
  const list = async () => api.call(`${at()}/resources/advertisers`, { token: api.tokenFor(world.actor) });
  const holder = new pg.Client({ connectionString: database.adminUrl });
  await holder.connect();
  await holder.query('begin; lock table product.resource in access exclusive mode');
  try {
    expect(shownOf(await list())).toEqual(passing(504, 'timeout', 5));
  } finally {
    await holder.end();
  }
  expect((await list()).status).toBe(200);
});

test('without PostgreSQL reads and commands are 503 with a wait; the same key is carried out once it is back', async () => {
  await using api = await serveHttp(management);
  const token = api.tokenFor(world.actor);
  const create = () =>
    api.call(`${at()}/commands/advertiser.create`, {
      ...{ token, body: advertiser },
      headers: { 'idempotency-key': 'outage-1' },
    });
  const admin = new pg.Client({ connectionString: management.database.adminUrl });
  await admin.connect();
  const name = new URL(management.database.url).pathname.slice(1);
  try {
    await admin.query(`alter database ${name} connection limit 0`);
    await admin.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity
                       where datname = current_database() and pid <> pg_backend_pid()`);
    const unavailable = passing(503, 'temporarily_unavailable', 1);
    expect(shownOf(await create())).toEqual(unavailable);
    expect(shownOf(await api.call(`${at()}/resources/advertisers`, { token }))).toEqual(unavailable);
    await admin.query(`alter database ${name} connection limit -1`);
  } finally {
    await admin.end();
  }
  const first = await create();
  expect(first.status).toBe(200);
  expect((await create()).text).toBe(first.text);
});

test('a provider’s refusal and an unknown outcome are 502 with the operation, its address and the provider’s part', async () => {
  const operationId = newId('op');
  for (const [code, ambiguity, retry] of [
    ['provider_rejected', 'none', 'after_read'],
    ['provider_outcome_unknown', 'unknown', 'poll'],
  ] as const) {
    const provider = { external_receipt: 'ext-7', ambiguity };
    await using api = await serveHttp(management, {
      execute: async () => Promise.reject(new Problem(code, undefined, { operationId, provider })),
    });
    const answer = await api.call(`${at()}/commands/advertiser.create`, {
      ...{ token: api.tokenFor(world.actor), body: advertiser },
      headers: { 'idempotency-key': newId('req') },
    });
    expect(answer.status).toBe(502);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(answer.json).toMatchObject({
      ...{ code, provider, operation_id: operationId, retry: { class: retry } },
      recovery_url: `${apiUrl}/management/v1${at()}/operations/${operationId}`,
    });
  }
});
