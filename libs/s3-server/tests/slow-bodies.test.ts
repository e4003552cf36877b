import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createS3Server } from '../src/index.ts';
import { access, signedFetch, signHeaders } from './_s3-client.ts';

const never = 2 ** 31 - 1;
const generous = { windowMs: never, minWindowBytes: 0, maxBodyMs: never, maxUnwantedMs: never };
let folder: string;
const servers: Server[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'longwave-s3-slow-'));
});
afterAll(async () => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  await rm(folder, { recursive: true, force: true });
});

async function serve(limits: Partial<typeof generous>) {
  const { accessKey, secretKey, region } = access;
  const server = createS3Server({
    folder: path.join(folder, String(servers.length)),
    keys: [{ accessKey, secretKey }],
    region,
    bodyLimits: { ...generous, ...limits },
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await signedFetch(endpoint, '/bucket', { method: 'PUT' });
  return endpoint;
}

/**
 * Sends the head of a PUT of a million bytes and then a byte now and again, until the connection ends; answers all that was received.
 * The server closes with bytes unread, so the end may be a reset.
 */
async function drip(endpoint: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const { hostname, port } = new URL(endpoint);
  const socket: Socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
  socket.on('error', () => {});
  // `once` of node:events would reject at a reset.
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const head = Object.entries({ host: `${hostname}:${port}`, ...headers, 'content-length': '1000000' });
  socket.write(
    `PUT /bucket/object HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n`,
  );
  // After the turn's reads: a write to a connection that was reset would throw away an answer that is there to be read.
  const dripping = setInterval(() => setImmediate(() => socket.write('x')), 5);
  await closed;
  clearInterval(dripping);
  return received;
}

const signed = (endpoint: string) =>
  signHeaders(endpoint, '/bucket/object', { method: 'PUT', payload: 'UNSIGNED-PAYLOAD' });

test('an unsigned request gets its answer, and its connection ends however slowly the body comes', async () => {
  const endpoint = await serve({ maxUnwantedMs: 50 });
  expect(await drip(endpoint, {})).toContain('<Code>AccessDenied</Code>');
});

test('a signed body that comes too slowly is cut off and leaves nothing', async () => {
  const endpoint = await serve({ windowMs: 200, minWindowBytes: 10_000 });
  await drip(endpoint, signed(endpoint));
  expect((await signedFetch(endpoint, '/bucket/object')).status).toBe(404);
});

test('a signed body that takes longer than the limit is cut off and leaves nothing', async () => {
  const endpoint = await serve({ maxBodyMs: 50 });
  await drip(endpoint, signed(endpoint));
  expect((await signedFetch(endpoint, '/bucket/object')).status).toBe(404);
});

test('a connection is kept for the next request when its body came in time', async () => {
  const endpoint = await serve({ windowMs: 500, minWindowBytes: 1, maxBodyMs: 500, maxUnwantedMs: 500 });
  const { hostname, port } = new URL(endpoint);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
  const ended = Promise.withResolvers<never>();
  socket.once('error', ended.reject).once('close', () => ended.reject(new Error('the server ended the connection')));
  ended.promise.catch(() => undefined);
  const request = 'PUT /bucket/object HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\nx';
  const answered = async (count: number) => {
    while (received.split('</Error>').length <= count) await Promise.race([once(socket, 'data'), ended.promise]);
  };
  socket.write(request);
  await answered(1);
  // Lasts a second, longer than any limit of the first body.
  await drip(await serve({ maxUnwantedMs: 1_000 }), {});
  socket.write(request);
  await answered(2);
  socket.destroy();
});
