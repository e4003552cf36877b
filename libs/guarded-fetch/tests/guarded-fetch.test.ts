import { createServer, type RequestListener, type Server } from 'node:http';
import type { LookupAddress } from 'node:dns';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Problem } from '@longwave/problems';
import { until } from '@longwave/test-kit';
import { createGuardedFetch, readAll, readStart, type GuardedFetch, type GuardedRequest } from '../src/index.ts';

let server: Server;
let origin: string;
let handle: RequestListener;
const arrived: string[] = [];
const limits = { maxBytes: 1_000_000, timeoutMs: 5000 } as const;

beforeAll(async () => {
  server = createServer((request, response) => {
    arrived.push(`${request.method} ${request.url}`);
    handle(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

const local = (): GuardedFetch => createGuardedFetch({ allowOrigins: [origin] });
const addresses = (...found: string[]): readonly LookupAddress[] =>
  found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Problem);
  expect((error as Problem).code).toBe('media_not_fetchable');
  return error as Problem;
}

/** Fetches and reads to the end. */
async function whole(fetch: GuardedFetch, url: string, request: Partial<GuardedRequest> = {}) {
  using response = await fetch(url, { ...limits, ...request });
  return {
    status: response.status,
    headers: response.headers,
    finalUrl: response.finalUrl,
    bytes: await readAll(response),
  };
}

const connections = () => new Promise<number>((counted) => server.getConnections((_error, count) => counted(count)));
const untilNoConnection = () => until(connections, { holds: (count) => count === 0 });

test('an allowed origin is asked once, without credentials, cookies or compression, and closed after reading', async () => {
  handle = (request, response) => response.end(JSON.stringify(request.headers));
  const { status, bytes, finalUrl } = await whole(local(), `${origin}/a?b=c#part`, { headers: { accept: 'text/xml' } });
  expect(status).toBe(200);
  expect(finalUrl).toBe(`${origin}/a?b=c`);
  expect(JSON.parse(bytes.toString())).toEqual({
    accept: 'text/xml',
    host: new URL(origin).host,
    'user-agent': expect.stringMatching(/^Longwave\//),
    'accept-encoding': 'identity',
    connection: 'close',
  });
  await untilNoConnection();
});

test('ranges and HEAD pass through', async () => {
  handle = (request, response) => response.writeHead(206, { 'x-range': request.headers.range }).end('x');
  expect((await whole(local(), origin, { range: 'bytes=5-9' })).headers['x-range']).toBe('bytes=5-9');
  expect((await whole(local(), origin, { range: 'bytes=5-' })).headers['x-range']).toBe('bytes=5-');
  handle = (_request, response) => response.writeHead(200, { 'content-length': '99999999' }).end();
  const head = await whole(local(), origin, { method: 'HEAD' });
  expect(head.headers['content-length']).toBe('99999999');
  expect(head.bytes).toHaveLength(0);
});

test.each([
  ['loopback', '127.0.0.1'],
  ['decimal', '2130706433'],
  ['octal', '0177.0.0.1'],
  ['hexadecimal', '0x7f000001'],
  ['short', '127.1'],
  ['with a final dot', '127.0.0.1.'],
  ['full-width digits', '１２７.0.0.1'],
  ['metadata', '169.254.169.254'],
  ['IPv6 loopback', '[::1]'],
  ['mapped', '[::ffff:127.0.0.1]'],
  ['NAT64', '[64:ff9b::127.0.0.1]'],
  ['6to4', '[2002:7f00:1::]'],
  ['unspecified', '0'],
])('a literal private address is refused: %s (%s)', async (_kind, host) => {
  const problem = await problemOf(whole(createGuardedFetch({}), `https://${host}/`));
  expect(problem.message).toContain('No public host with this name');
});

test.each([
  ['a word', 'podcast'],
  ['ftp', 'ftp://example.com/a.mp3'],
  ['a file', 'file:///etc/passwd'],
  ['data', 'data:text/plain,a'],
  ['a user name', 'https://me@example.com/'],
  ['a password', 'https://:secret@example.com/'],
  ['another port', 'https://example.com:8443/'],
  ['port 22', 'https://example.com:22/'],
  ['http on another port', 'http://example.com:8080/'],
])('an address is refused before anything is looked up: %s', async (_kind, url) => {
  const fetch = createGuardedFetch({
    resolve: () => {
      throw new Error('looked up');
    },
  });
  const problem = await problemOf(whole(fetch, url));
  expect(problem.cause).toBeUndefined();
  expect(problem.message).not.toContain('secret');
});

test('a name is refused when any of its addresses is private', async () => {
  const fetch = createGuardedFetch({ resolve: async () => addresses('93.184.215.14', '10.0.0.1') });
  expect((await problemOf(whole(fetch, 'https://feeds.example/'))).message).toContain('No public host with this name');
});

test('a refused scheme or port says that the operator can allow the origin', async () => {
  for (const url of ['http://192.168.0.1:9000/one.mp3', 'https://example.com:8443/'])
    expect((await problemOf(whole(createGuardedFetch({}), url))).message).toContain(
      ', unless FETCH_ALLOW_ORIGINS of the service has its origin.',
    );
});

test('an http address of the usual port is asked over https', async () => {
  const asked: string[] = [];
  const fetch = createGuardedFetch({
    allowOrigins: ['https://feeds.example'],
    resolve: async (host) => {
      asked.push(host);
      return addresses('127.0.0.1');
    },
  });
  // Only http://feeds.example is asked, which is not allowed, so that its private address is refused.
  await problemOf(whole(fetch, 'http://feeds.example/rss'));
  expect(asked).toEqual(['feeds.example']);
});

test('a name is resolved once and the connection goes to that address: a changed answer is never seen', async () => {
  const { port } = server.address() as AddressInfo;
  let lookups = 0;
  const fetch = createGuardedFetch({
    allowOrigins: [`http://rebinding.example:${port}`],
    resolve: async () => {
      lookups += 1;
      return addresses(lookups === 1 ? '127.0.0.1' : '127.0.0.2');
    },
  });
  handle = (request, response) => response.end(`${request.headers.host} ${request.socket.localAddress}`);
  const { bytes } = await whole(fetch, `http://rebinding.example:${port}/`);
  expect(bytes.toString()).toBe(`rebinding.example:${port} 127.0.0.1`);
  expect(lookups).toBe(1);
});

test('redirects are followed to the end, relative ones too', async () => {
  handle = (request, response) => {
    if (request.url === '/1') response.writeHead(302, { location: '/2' }).end();
    else if (request.url === '/2') response.writeHead(308, { location: `${origin}/3` }).end();
    else response.end('there');
  };
  const { bytes, finalUrl } = await whole(local(), `${origin}/1`);
  expect(bytes.toString()).toBe('there');
  expect(finalUrl).toBe(`${origin}/3`);
});

test('a redirect for ever ends after the limit', async () => {
  arrived.length = 0;
  handle = (_request, response) => response.writeHead(302, { location: '/again' }).end();
  const problem = await problemOf(whole(local(), `${origin}/again`, { maxRedirects: 3 }));
  expect(problem.message).toContain('redirects too many times');
  expect(arrived).toHaveLength(4);
});

test('a body is posted as it is, with its type and length', async () => {
  const bytes = Buffer.from('{"a":"ä"}');
  handle = (request, response) => {
    const { method, headers } = request;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () =>
      response.end([method, headers['content-type'], headers['content-length'], Buffer.concat(chunks)].join(' ')),
    );
  };
  const content = { type: 'application/json', bytes };
  const posted = await whole(local(), origin, { method: 'POST', content });
  expect(posted.bytes.toString()).toBe(`POST application/json ${bytes.length} {"a":"ä"}`);
});

test('a redirect of a POST is its answer: nothing is sent to another address', async () => {
  arrived.length = 0;
  handle = (_request, response) => response.writeHead(307, { location: '/elsewhere' }).end();
  const content = { type: 'text/plain', bytes: Buffer.from('x') };
  expect((await whole(local(), `${origin}/first`, { method: 'POST', content })).status).toBe(307);
  expect(arrived).toEqual(['POST /first']);
});

test('a credential goes to the address that was asked and to no other: the redirect itself is the answer', async () => {
  const credentials: unknown[] = [];
  handle = (request, response) => {
    credentials.push(request.headers.authorization);
    response.writeHead(302, { location: '/elsewhere' }).end();
  };
  const { status, finalUrl } = await whole(local(), `${origin}/configured`, { authorization: 'Bearer secret' });
  expect([status, finalUrl, credentials]).toEqual([302, `${origin}/configured`, ['Bearer secret']]);
});

test('a caller learns that a connection begins, and of a refused address that none did', async () => {
  handle = (_, response) => response.end();
  let connections = 0;
  const onConnect = () => void connections++;
  await problemOf(whole(createGuardedFetch(), `${origin}/`, { onConnect }));
  expect(connections).toBe(0);
  await whole(local(), `${origin}/`, { onConnect });
  expect(connections).toBe(1);
});

test('a POST to a private address is refused like a GET', async () => {
  const content = { type: 'text/plain', bytes: Buffer.from('x') };
  const fetch = createGuardedFetch({ resolve: async () => addresses('10.0.0.1') });
  for (const url of ['https://127.0.0.1/', 'https://[::1]/', 'https://inside.example/', 'http://example.com:8080/'])
    await problemOf(whole(fetch, url, { method: 'POST', content }));
});

test.each([
  ['a private address', 'https://10.0.0.1/'],
  ['metadata', 'http://169.254.169.254/latest/meta-data'],
  ['another port of the same host', 'http://127.0.0.1:1/'],
  ['a file', 'file:///etc/passwd'],
  ['credentials', 'https://a:b@example.com/'],
])('a redirect is checked like the first address: %s', async (_kind, location) => {
  handle = (_request, response) => response.writeHead(302, { location }).end();
  await problemOf(whole(local(), origin));
  await untilNoConnection();
});

test('a host that the caller does not allow is not asked, not even by a redirect', async () => {
  const hosts: string[] = [];
  const allowsHost = (host: string) => {
    hosts.push(host);
    return host === '127.0.0.1';
  };
  handle = (_request, response) => response.writeHead(302, { location: 'https://elsewhere.example/' }).end();
  const redirected = await problemOf(whole(local(), origin, { allowsHost }));
  expect(redirected.message).toBe('The address leads to the host elsewhere.example, which is not on the list.');
  const before = arrived.length;
  await problemOf(whole(local(), origin, { allowsHost: () => false }));
  expect(arrived).toHaveLength(before);
  expect(hosts).toEqual(['127.0.0.1', 'elsewhere.example']);
  await untilNoConnection();
});

test('a body longer than the limit ends there, announced or not', async () => {
  handle = (_request, response) => response.writeHead(200, { 'content-length': '101' }).end('x'.repeat(101));
  expect((await problemOf(whole(local(), origin, { maxBytes: 100 }))).message).toBe(
    'The file is larger than 100 bytes.',
  );
  handle = (_request, response) => {
    response.write('x'.repeat(60));
    response.end('x'.repeat(60));
  };
  await problemOf(whole(local(), origin, { maxBytes: 100 }));
  expect((await whole(local(), origin, { maxBytes: 120 })).bytes).toHaveLength(120);
  await untilNoConnection();
});

test('a body that is compressed although nobody asked is read, and its decoded size counts', async () => {
  const text = Buffer.alloc(500_000, 'a');
  for (const [encoding, bytes] of [
    ['gzip', gzipSync(text)],
    ['br', brotliCompressSync(text)],
  ] as const) {
    handle = (_request, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bytes);
    expect((await whole(local(), origin)).bytes.equals(text)).toBe(true);
    await problemOf(whole(local(), origin, { maxBytes: 100_000 }));
  }
  handle = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip');
  await problemOf(whole(local(), origin));
  handle = (_request, response) => response.writeHead(200, { 'content-encoding': 'zstd' }).end('x');
  expect((await problemOf(whole(local(), origin))).message).toContain('unsupported content encoding');
  await untilNoConnection();
});

test('a reader slower than the idle limit loses nothing: only the host’s own silence counts', async () => {
  const text = Buffer.alloc(900_000, 'a');
  handle = (_request, response) => response.end(text);
  using response = await local()(origin, { ...limits, idleTimeoutMs: 50 });
  let sizeBytes = 0;
  for await (const chunk of response.body) {
    if (sizeBytes === 0) {
      const until = Date.now() + 150;
      while (Date.now() < until) await new Promise((turn) => setImmediate(turn));
    }
    sizeBytes += chunk.length;
  }
  expect(sizeBytes).toBe(text.length);
});

test('the start of a body is read without the rest', async () => {
  handle = (_request, response) => {
    response.write('x'.repeat(1000));
  };
  using response = await local()(origin, limits);
  expect(await readStart(response, 10)).toHaveLength(10);
  await untilNoConnection();
});

test('a silent host and a slow host end by the clock', async () => {
  handle = () => undefined;
  expect((await problemOf(whole(local(), origin, { idleTimeoutMs: 60 }))).message).toContain('does not answer');
  handle = (_request, response) => response.write('x');
  expect((await problemOf(whole(local(), origin, { idleTimeoutMs: 60 }))).message).toContain('does not answer');
  handle = (_request, response) => {
    const drip = setInterval(() => response.write('x'), 10);
    response.on('close', () => clearInterval(drip));
  };
  expect((await problemOf(whole(local(), origin, { timeoutMs: 120 }))).message).toContain('too long');
  await untilNoConnection();
});

test('a resolver that hangs ends by the clock', async () => {
  const fetch = createGuardedFetch({ resolve: () => new Promise(() => undefined) });
  await problemOf(whole(fetch, 'https://feeds.example/', { timeoutMs: 50 }));
});

test('a body that breaks off is a problem, never a short file', async () => {
  handle = (_request, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('x'.repeat(50), () => response.destroy());
  };
  const problem = await problemOf(whole(local(), origin));
  expect(problem.message).toContain('connection was interrupted');
  expect((problem.cause as Error).message).toBe('aborted');
});

test('headers without end are refused', async () => {
  handle = (_request, response) => response.writeHead(200, { 'x-much': 'x'.repeat(20_000) }).end();
  expect((await problemOf(whole(local(), origin))).message).toContain('not answer like a web server');
});

test('a host that is not there is a problem in words; a name that does not exist and a private one get the same answer', async () => {
  const gone = createGuardedFetch({ allowOrigins: ['http://127.0.0.1:1'] });
  expect((await problemOf(whole(gone, 'http://127.0.0.1:1/'))).message).toContain('cannot be reached');
  const unknown = createGuardedFetch({
    resolve: async () => {
      throw Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' });
    },
  });
  const hidden = createGuardedFetch({ resolve: async () => addresses('10.0.0.1') });
  const [absent, inside] = [
    await problemOf(whole(unknown, 'https://no.example/')),
    await problemOf(whole(hidden, 'https://no.example/')),
  ];
  expect(absent.message).toContain('No public host with this name');
  expect(inside.message).toBe(absent.message);
});

test('the caller’s own signal ends the request with its own reason, and a reader that stops closes the connection', async () => {
  handle = (_request, response) => response.write('x');
  const stop = new AbortController();
  const reading = whole(local(), origin, { signal: stop.signal });
  stop.abort(new Error('enough'));
  await expect(reading).rejects.toThrow('enough');

  const response = await local()(origin, limits);
  for await (const _chunk of response.body) break;
  await untilNoConnection();
});

test.each(['authorization', 'Cookie', 'host', 'range', 'proxy-authorization'])(
  'a caller cannot set %s',
  async (name) => {
    await expect(local()(origin, { ...limits, headers: { [name]: 'x' } })).rejects.toThrow(TypeError);
  },
);
