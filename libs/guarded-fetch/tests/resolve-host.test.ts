import { createHook } from 'node:async_hooks';
import { pbkdf2 } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { createGuardedFetch } from '../src/index.ts';
import { createPublicResolver } from '../src/resolve-host.ts';

const never = new AbortController().signal;
const limits = { maxBytes: 1_000, timeoutMs: 300 } as const;

/** A name server on this machine. It answers with the IPv4 addresses of a name, and nothing at all for a name that it does not have. */
async function startNameServer(names: Readonly<Record<string, readonly string[]>>) {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, { port, address }) => {
    const end = query.indexOf(0, 12);
    const labels: string[] = [];
    for (let at = 12; at < end; at += query[at]! + 1)
      labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
    const name = labels.join('.');
    asked.push(name);
    const found = names[name];
    if (!found) return;
    const isIPv4 = query.readUInt16BE(end + 1) === 1;
    const records = (isIPv4 ? found : []).map((text) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...text.split('.').map(Number)]),
    );
    const answer = Buffer.concat([query.subarray(0, end + 5), ...records]);
    answer.writeUInt16BE(0x8180, 2);
    answer.writeUInt16BE(records.length, 6);
    answer.writeUInt16BE(0, 10);
    socket.send(answer, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    servers: [`127.0.0.1:${socket.address().port}`],
    asked,
    [Symbol.asyncDispose]: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
}

/** Kinds of asynchronous work that begin meanwhile. */
async function kindsDuring(work: () => Promise<unknown>): Promise<Set<string>> {
  const kinds = new Set<string>();
  const hook = createHook({ init: (_id, kind) => void kinds.add(kind) }).enable();
  await work().catch(() => undefined);
  hook.disable();
  return kinds;
}

test('the name of a foreign host is asked of name servers, outside the thread pool; an allowed one of the system', async () => {
  const foreign = await kindsDuring(() => createGuardedFetch()('https://nobody.invalid/', limits));
  expect(foreign).not.toContain('GETADDRINFOREQWRAP');
  const allowed = createGuardedFetch({ allowOrigins: ['http://localhost:1'] });
  expect(await kindsDuring(() => allowed('http://localhost:1/', limits))).toContain('GETADDRINFOREQWRAP');
});

test('a name has the addresses of both families; one family may be missing', async () => {
  await using server = await startNameServer({ 'feeds.example': ['93.184.215.14', '93.184.215.15'] });
  const resolve = createPublicResolver(server);
  expect(await resolve('feeds.example', never)).toEqual([
    { address: '93.184.215.14', family: 4 },
    { address: '93.184.215.15', family: 4 },
  ]);
  expect(server.asked).toEqual(['feeds.example', 'feeds.example']);
});

test('names that are never answered delay neither the work of threads nor each other, and end with their request', async () => {
  await using server = await startNameServer({ 'feeds.example': ['93.184.215.14'] });
  const resolve = createPublicResolver(server);
  const ending = new AbortController();
  const slow = Array.from({ length: 20 }, (_, n) => resolve(`slow${n}.example`, ending.signal));
  const ended = Promise.allSettled(slow);
  const beganAt = performance.now();
  await promisify(pbkdf2)('a', 'b', 1, 32, 'sha256');
  await resolve('feeds.example', never);
  expect(performance.now() - beganAt).toBeLessThan(1_000);
  ending.abort(new Error('enough'));
  expect(new Set((await ended).map(({ status }) => status))).toEqual(new Set(['rejected']));
  expect(performance.now() - beganAt).toBeLessThan(1_500);
});

test('of many names few are asked at a time, and whoever gives up waiting leaves the queue', async () => {
  await using server = await startNameServer({ 'feeds.example': ['93.184.215.14'] });
  const resolve = createPublicResolver(server);
  const ending = new AbortController();
  const slow = Promise.allSettled(Array.from({ length: 100 }, (_, n) => resolve(`slow${n}.example`, ending.signal)));
  const tired = resolve('feeds.example', AbortSignal.timeout(50));
  await expect(tired).rejects.toThrow();
  expect(server.asked).not.toContain('feeds.example');
  const patient = resolve('feeds.example', never);
  ending.abort(new Error('enough'));
  expect(await patient).toHaveLength(1);
  await slow;
});
