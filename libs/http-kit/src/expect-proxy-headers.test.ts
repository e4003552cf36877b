import { connect, type Socket } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { listenHttp, type HttpListener } from './listen-http.ts';

const headerTimeoutMs = 500;

let listener: HttpListener;
beforeEach(async () => {
  listener = await listenHttp(
    '127.0.0.1:0',
    (request, response) => {
      const { remoteAddress, remotePort, remoteFamily } = request.socket;
      const forwarded = request.headers['x-forwarded-for'] ?? 'none';
      const sender = `${remoteAddress} ${remotePort} ${remoteFamily}, forwarded ${forwarded}`;
      void buffer(request).then(({ length }) => response.end(`${sender}, ${length} bytes\n`));
    },
    { proxyProtocol: new Set(['127.0.0.1']), requestTimeoutMs: headerTimeoutMs },
  );
});
afterEach(() => listener.close(0));

/** A connection from an address of this machine, by default that of the proxy. */
const open = (localAddress = '127.0.0.1'): Socket =>
  connect({ port: listener.port, host: '127.0.0.1', localAddress, noDelay: true });
/** The answers until the connection ends: '' where it was closed without one. */
const answersOf = (socket: Socket) => text(socket).catch(() => '');

const header = Buffer.from('PROXY TCP4 203.0.113.9 10.0.0.1 4711 443\r\n');
const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n');
const localHeader = Buffer.concat([signature, Buffer.from([0x20, 0, 0, 0])]);
const bodyBytes = 300_000;
const requests = Buffer.from(
  'GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n' +
    `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${bodyBytes}\r\n\r\n${'x'.repeat(bodyBytes)}`,
);
const bodiesIn = (answers: string) => answers.match(/.* bytes$/gm);
const served = (forwarded: string, from = '203.0.113.9 4711 IPv4') => [
  `${from}, forwarded ${forwarded}, 0 bytes`,
  `${from}, forwarded none, ${bodyBytes} bytes`,
];

test('a connection of a trusted proxy has the address in its header, and every byte behind the header is HTTP', async () => {
  const socket = open();
  socket.write(Buffer.concat([header, requests]));
  expect(bodiesIn(await answersOf(socket))).toEqual(served('6.6.6.6'));
});

test('IPv6 and the binary form are told too', async () => {
  const socket = open();
  const addresses = Buffer.from(`20010db8${'00'.repeat(11)}09${'00'.repeat(16)}126701bb`, 'hex');
  socket.write(Buffer.concat([signature, Buffer.from([0x21, 0x21, 0, addresses.length]), addresses, requests]));
  expect(bodiesIn(await answersOf(socket))).toEqual(served('6.6.6.6', '2001:db8:0:0:0:0:0:9 4711 IPv6'));
});

test.each([
  ['after each byte of the header', Array.from({ length: header.length }, (_, at) => at + 1)],
  ['inside of the request', [header.length + 10]],
  ['inside of the header, of the request and of the body', [7, header.length + 3, header.length + 5_000]],
])('bytes that arrive apart, %s, mean the same', async (_, cuts) => {
  const bytes = Buffer.concat([header, requests]);
  const socket = open();
  const answers = answersOf(socket);
  for (const [index, at] of [...cuts, bytes.length].entries()) {
    socket.write(bytes.subarray(cuts[index - 1] ?? 0, at));
    // So that the other side reads it by itself.
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(bodiesIn(await answers)).toEqual(served('6.6.6.6'));
});

test.each([
  ['LOCAL', localHeader],
  ['UNKNOWN', Buffer.from('PROXY UNKNOWN\r\n')],
])('%s leaves the address of the proxy, whatever X-Forwarded-For says', async (_, unnamed) => {
  const socket = open();
  socket.write(Buffer.concat([unnamed, requests]));
  const answers = bodiesIn(await answersOf(socket));
  expect(answers).toEqual(served('none', `127.0.0.1 ${answers?.[0]?.split(' ')[1]} IPv4`));
});

test.each([
  ['without a header', () => open(), requests],
  ['with a header that is not valid', () => open(), Buffer.concat([Buffer.from('PROXY TCP4 a b c d\r\n'), requests])],
  ['of anybody else', () => open('127.0.0.2'), Buffer.concat([header, requests])],
  ['that ends within its header', () => open(), header.subarray(0, 20)],
])('a connection %s is closed without an answer', async (_, from, bytes) => {
  const socket = from();
  const answers = answersOf(socket);
  socket.end(bytes);
  expect(await answers).toBe('');
});

test('a header that does not come in time closes the connection, however slowly its bytes come', async () => {
  const socket = open();
  const beganAt = performance.now();
  const answers = answersOf(socket);
  let sent = 0;
  const dripping = setInterval(() => socket.write(header.subarray(sent, ++sent)), headerTimeoutMs / 20);
  socket.on('error', () => undefined).once('close', () => clearInterval(dripping));
  expect(await answers).toBe('');
  expect(performance.now() - beganAt).toBeGreaterThanOrEqual(headerTimeoutMs * 0.9);
  expect(sent).toBeLessThan(header.length);
});

test('a connection whose header is awaited does not hold a closing server', async () => {
  const socket = open();
  socket.on('error', () => undefined).write(header.subarray(0, 10));
  const other = open();
  other.write(Buffer.concat([header, requests]));
  // Connections are accepted in order, so the first one is when this answer comes.
  expect(bodiesIn(await answersOf(other))).toHaveLength(2);
  const beganAt = performance.now();
  await listener.close();
  expect(performance.now() - beganAt).toBeLessThan(headerTimeoutMs * 0.9);
});
