import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts';

let proxy: FaultProxy;
/** Answers what it gets. */
const echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
const ends = new Set<Socket>();

beforeAll(async () => {
  echo.on('connection', (socket) => ends.add(socket));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  proxy = await startFaultProxy();
  proxy.aimAt({ host: '127.0.0.1', port: (echo.address() as AddressInfo).port });
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  ends.forEach((socket) => socket.destroy());
  echo.close();
});

const open = () => connect(proxy.port, '127.0.0.1').on('error', () => undefined);

/** What comes back within a while, or how the connection ended. */
async function say(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  return Promise.race([
    once(socket, 'data').then(
      ([data]) => String(data),
      () => 'closed',
    ),
    new Promise<string>((resolve) => setTimeout(resolve, 150, 'silence')),
  ]);
}

test('a black hole is silent for connections before and during it, for ever; after it new ones get through', async () => {
  const before = open();
  expect(await say(before, 'one')).toBe('one');
  await proxy.cut('black-hole');
  expect(await say(before, 'two')).toBe('silence');
  const during = open();
  expect(await say(during, 'three')).toBe('silence');
  await proxy.heal();
  expect([await say(before, 'four'), await say(during, 'five')]).toEqual(['silence', 'silence']);
  const after = open();
  expect(await say(after, 'six')).toBe('six');
  // The far side of a connection that was cut does not learn that the near side has gone.
  before.destroy();
  expect(await say(after, 'seven')).toBe('seven');
  expect([...ends].filter((socket) => socket.destroyed)).toEqual([]);
});

test('a refused network resets connections and refuses new ones, until it is healed at the same port', async () => {
  const before = open();
  expect(await say(before, 'one')).toBe('one');
  await proxy.cut('refused');
  expect(await say(before, 'two')).toBe('closed');
  expect(await say(open(), 'three')).toBe('closed');
  await proxy.heal();
  expect(await say(open(), 'four')).toBe('four');
});
