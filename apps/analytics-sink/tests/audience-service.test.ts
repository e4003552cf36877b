import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createEventBus, type EventBus } from '@longwave/event-bus';
import { topics } from '@longwave/events';
import {
  awayAddresses,
  developmentCa,
  freePorts,
  removeDataFolder,
  startChild,
  startTestDatabase,
  startTestRedis,
  temporaryDataFolder,
  workspaceRoot,
  type Child,
} from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';
import { signAccessToken } from '@longwave/principal';
import { readTls, rpcService, serveRpc } from '@longwave/rpc';
import { ClientServiceService } from '@longwave/rpc/credential';
import { until } from '@longwave/test-kit';
import { dataFolder } from '@longwave/test-kit/delivery-facts';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { batch, byteRow, claimRow, ownFact, workspace } from './_audience.ts';

const stack = new AsyncDisposableStack();
const keys: { privateKey: JWK; publicKey: JWK }[] = [];
/** The clients that auth-server knows as active. */
let isActive = true;
let cutBus: () => void;
let keysFile: string;
let httpPort: number;
let pool: Pool;
let bus: EventBus;
let sink: Child;
let startSink: () => Promise<Child>;

async function addKey(): Promise<void> {
  const pair = await generateKeyPair('ES256', { extractable: true });
  const kid = `key-${keys.length + 1}`;
  keys.unshift({
    privateKey: { ...(await exportJWK(pair.privateKey)), kid },
    publicKey: { ...(await exportJWK(pair.publicKey)), kid },
  });
  writeFileSync(keysFile, JSON.stringify({ keys: keys.map(({ publicKey }) => publicKey) }));
}

const token = (key = keys[0]!.privateKey, jti: string = newId('mtk')) => {
  const seconds = Math.floor(Date.now() / 1000);
  return signAccessToken(
    {
      iss: 'http://base.test',
      aud: 'http://api.test/audience/v1',
      sub: 'acme',
      client_id: 'acme',
      scope: 'audience:write audience:read',
      producer: 'acme',
      workspaces: [workspace],
      iat: seconds,
      exp: seconds + 3600,
      jti,
    },
    key,
  );
};

/** A connection to Redis that can be cut. */
async function startLine(target: URL) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
    near.pipe(far).pipe(near);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const cut = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  stack.defer(cut);
  return { port: (server.address() as AddressInfo).port, cut };
}

beforeAll(async () => {
  const folder = temporaryDataFolder();
  stack.defer(() => removeDataFolder(folder));
  const database = stack.use(await startTestDatabase({ schema: 'audience', migrations: 'apps/analytics-sink/prisma' }));
  const redis = stack.use(await startTestRedis());
  const line = await startLine(new URL(redis.url));
  cutBus = line.cut;
  const identities = await developmentCa(folder.inside('tls'), ['analytics-sink', 'auth-server'] as const, new Date());
  const authServer = await serveRpc({
    listen: '127.0.0.1:0',
    tls: readTls(identities['auth-server']),
    services: [
      rpcService(
        ClientServiceService,
        { checkMachineToken: ['analytics-sink'] },
        { checkMachineToken: async () => ({ active: isActive }) },
      ),
    ],
    onError: () => undefined,
  });
  stack.defer(() => authServer.close());
  const [health = 0, grpc = 0, http = 0] = await freePorts(3);
  httpPort = http;
  keysFile = folder.inside('access-token-keys.json');
  await addKey();
  writeFileSync(folder.inside('principal-keys.json'), JSON.stringify({ keys: [] }));
  pool = stack.adopt(createPool(database.url, 'audience', { name: 'test', copies: true }), (it) => it.end());
  bus = stack.use(await createEventBus({ kind: 'redis', redisUrl: redis.url, clientName: 'test' }));
  const { ca, cert, key } = identities['analytics-sink'];
  startSink = async () => {
    const child = await startChild({
      name: 'analytics-sink',
      command: process.execPath,
      args: [path.join(workspaceRoot, 'apps/analytics-sink/src/main.ts')],
      env: {
        HEALTH_LISTEN: `127.0.0.1:${health}`,
        GRPC_LISTEN: `127.0.0.1:${grpc}`,
        HTTP_LISTEN: `127.0.0.1:${http}`,
        TLS_CA: ca,
        TLS_CERT: cert,
        TLS_KEY: key,
        DATABASE_URL: database.url,
        REDIS_URL: redis.url.replace(/:\d+(?=\/|$)/, `:${line.port}`),
        PRINCIPAL_KEYS: folder.inside('principal-keys.json'),
        ACCESS_TOKEN_KEYS: keysFile,
        ...awayAddresses('analytics-sink'),
        AUTH_SERVER_ADDRESS: `127.0.0.1:${authServer.port}`,
        BASE_URL: 'http://base.test',
        API_URL: 'http://api.test',
        AUDIENCE_DATA: dataFolder,
      },
      logFile: folder.logFile('analytics-sink'),
      pidFolder: folder.pids,
      stopSignal: 'SIGTERM',
    });
    await until(async () => (await fetch(`http://127.0.0.1:${health}/readyz`)).ok, { despiteErrors: true });
    return child;
  };
  sink = await startSink();
});
afterAll(async () => {
  await sink.stop();
  await stack.disposeAsync();
});

const call = async (where: string, bearer: string, body?: object) => {
  const response = await fetch(`http://127.0.0.1:${httpPort}/audience/v1${where}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${bearer}`,
      ...(body && { 'content-type': 'application/json', 'idempotency-key': (body as { batch_id: string }).batch_id }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

const downloads = async () =>
  (await pool.query<{ n: number }>('select coalesce(sum(downloads), 0)::int as n from download_hour')).rows[0]!.n;

test('after a kill during aggregation the successor counts nothing twice', async () => {
  const bearer = await token();
  await bus.publish([
    { topic: topics.deliveryFacts, key: 'own', id: 'own', type: 'byte_range_served', payload: ownFact() },
  ]);
  await until(async () => (await pool.query('select from known_layout')).rowCount === 2);
  // Facts are recorded in their own transaction; claims and the status of the batch wait for this lock.
  const blocker = await pool.connect();
  await blocker.query('begin');
  await blocker.query('lock table platform_reported in exclusive mode');
  const rows = ['1', '2', '3'].map((digit) => byteRow({ request: `req-${digit}`, listener: digit.repeat(32) }));
  expect((await call('/batches', bearer, batch({ rows: [...rows, claimRow()] }))).status).toBe(202);
  await until(async () => (await downloads()) === 3);
  sink.kill('SIGKILL');
  await sink.exited;
  await blocker.query('rollback');
  blocker.release();
  sink = await startSink();
  await until(async () => (await call('/batches/batch-1', bearer)).body['state'] === 'aggregated');
  expect((await call('/batches/batch-1', bearer)).body).toMatchObject({ aggregated: 4, waiting: 0, rejected: 0 });
  expect(await downloads()).toBe(3);
  expect((await pool.query('select from platform_reported')).rowCount).toBe(1);
});

test('waiting rows are counted when the bus brings the first fact of their arrangement', async () => {
  const bearer = await token();
  const unknown = 'd'.repeat(64);
  const rows = [byteRow({ request: 'later', arrangement: unknown, serving_id: undefined, listener: '9'.repeat(32) })];
  await call('/batches', bearer, batch({ batch_id: 'batch-2', sequence: 2, rows }));
  await until(async () => (await call('/batches/batch-2', bearer)).body['state'] === 'waiting');
  await bus.publish([
    {
      topic: topics.deliveryFacts,
      key: 'late',
      id: 'late',
      type: 'byte_range_served',
      payload: ownFact({ fact_id: 'late', request_id: 'late', arrangement_id: unknown }),
    },
  ]);
  await until(async () => (await call('/batches/batch-2', bearer)).body['state'] === 'aggregated');
  expect(await downloads()).toBe(4);
});

test('a key that is added to the file works without a restart, and the older keys still do', async () => {
  const older = await token();
  await addKey();
  const newer = await token();
  await until(async () => (await call('/watermarks?producer=acme', newer)).status === 200);
  expect((await call('/watermarks?producer=acme', older)).status).toBe(200);
});

test('a token is refused at the first request after its end, also while the bus is away', async () => {
  const bearer = await token();
  const status = async () => (await call('/watermarks?producer=acme', bearer)).status;
  expect(await status()).toBe(200);
  cutBus();
  expect(await status()).toBe(200);
  isActive = false;
  expect(await status()).toBe(401);
  isActive = true;
  expect(await status()).toBe(200);
});
