import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage, type ServerResponse, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createAddressSet } from '@longwave/audience';
import { listenHttp, type HttpListener } from '@longwave/http-kit';
import { services } from '@longwave/services';
import { apiFrontPage, createEdge } from './edge.ts';
import { soleUpstream } from './upstreams.ts';

let upstream: Server;
let edge: HttpListener;
let serve: (request: IncomingMessage, response: ServerResponse) => unknown;

beforeEach(async () => {
  upstream = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  edge = await listenHttp(
    '127.0.0.1:0',
    createEdge([{ prefix: '/audience/v1', upstreams: [soleUpstream(port)] }], {
      frontPage: apiFrontPage('http://base.test', services),
    }),
  );
});
afterEach(async () => {
  upstream.closeAllConnections();
  await new Promise((resolve) => upstream.close(resolve));
  await edge.close(0);
});

const url = (path: string) => `http://127.0.0.1:${edge.port}${path}`;

test('method, path, query, headers and body arrive as they were sent, and the answer comes back as it was given', async () => {
  let seen: { method?: string; url?: string; headers: IncomingMessage['headers']; body: string } | undefined;
  serve = async (request, response) => {
    seen = { method: request.method!, url: request.url!, headers: request.headers, body: await text(request) };
    response.writeHead(
      207,
      'As It Was',
      [
        ['Content-Type', 'text/plain'],
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
        ['X-Request-Id', 'req_1'],
      ].flat(),
    );
    response.end('answer');
  };
  const response = await fetch(url('/audience/v1/batches?a=%2F..&b'), {
    method: 'POST',
    body: 'body',
    headers: { authorization: 'Bearer token', 'idempotency-key': 'key', 'content-type': 'application/json' },
  });
  expect(seen).toMatchObject({
    method: 'POST',
    url: '/audience/v1/batches?a=%2F..&b',
    body: 'body',
    headers: {
      host: `127.0.0.1:${edge.port}`,
      authorization: 'Bearer token',
      'idempotency-key': 'key',
      'content-type': 'application/json',
      'content-length': '4',
    },
  });
  expect({ status: response.status, statusText: response.statusText, body: await response.text() }).toEqual({
    status: 207,
    statusText: 'As It Was',
    body: 'answer',
  });
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(response.headers.get('x-request-id')).toBe('req_1');
});

const spoofed = {
  'x-forwarded-for': '203.0.113.9',
  'x-forwarded-host': 'evil.test',
  'X-Forwarded-Proto': 'https',
  forwarded: 'for=203.0.113.9',
  'x-real-ip': '203.0.113.9',
};
const forwardingHeaders = (headers: IncomingMessage['headers']) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => /forwarded|real-ip/.test(name)));

test('a service hears the address of the peer and nothing that the client says about it', async () => {
  serve = (request, response) => response.end(JSON.stringify(forwardingHeaders(request.headers)));
  const response = await fetch(url('/audience/v1/a'), { headers: spoofed });
  expect(await response.json()).toEqual({ 'x-forwarded-for': '127.0.0.1' });
});

test('behind a trusted proxy the address is the one that this proxy forwards', async () => {
  serve = (request, response) => response.end(JSON.stringify(forwardingHeaders(request.headers)));
  const { port } = upstream.address() as AddressInfo;
  const trusting = await listenHttp(
    '127.0.0.1:0',
    createEdge([{ prefix: '', upstreams: [soleUpstream(port)] }], {
      trustedProxies: createAddressSet(['127.0.0.1/32']),
    }),
  );
  const response = await fetch(`http://127.0.0.1:${trusting.port}/`, { headers: spoofed });
  expect(await response.json()).toEqual({ 'x-forwarded-for': '203.0.113.9' });
  await trusting.close(0);
});

test.each([
  ['a client that is none of them', '203.0.113.7', '203.0.113.7'],
  ['a proxy of requests before the balancer', '10.0.0.7', '203.0.113.9'],
])(
  'the PROXY header of a trusted proxy names %s: X-Forwarded-For counts for proxies alone',
  async (_, named, heard) => {
    const trustedProxies = createAddressSet(['127.0.0.1/32', '10.0.0.0/24']);
    const { port } = upstream.address() as AddressInfo;
    const routes = [{ prefix: '', upstreams: [soleUpstream(port)] }];
    const front = await listenHttp('127.0.0.1:0', createEdge(routes, { trustedProxies }), {
      proxyProtocol: trustedProxies,
    });
    serve = ({ headers }, response) => response.end(`heard ${headers['x-forwarded-for']};`);
    const socket = connect(front.port, '127.0.0.1');
    socket.write(
      `PROXY TCP4 ${named} 10.0.0.1 4711 443\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n`,
    );
    expect(await text(socket)).toContain(`heard ${heard};`);
    await front.close(0);
  },
);

test('bytes pass as they come, in both directions, before either side has ended', async () => {
  serve = (request, response) => {
    request.once('data', (chunk) => response.write(`heard ${chunk}`));
    request.once('end', () => response.end(' and the end'));
  };
  const asking = send(url('/audience/v1/echo'), { method: 'POST' });
  asking.write('hello');
  const response = await new Promise<IncomingMessage>((resolve) => asking.once('response', resolve));
  const first = await new Promise<Buffer>((resolve) => response.once('data', resolve));
  expect(String(first)).toBe('heard hello');
  asking.end();
  expect(await text(response)).toBe(' and the end');
});

test('a HEAD and a 304 have their headers and no body', async () => {
  serve = (request, response) => {
    if (request.method === 'HEAD') response.writeHead(200, { 'Content-Length': '1000' }).end();
    else response.writeHead(304, { ETag: '"1"' }).end();
  };
  expect((await fetch(url('/audience/v1/a'), { method: 'HEAD' })).headers.get('content-length')).toBe('1000');
  const unchanged = await fetch(url('/audience/v1/a'));
  expect([unchanged.status, unchanged.headers.get('etag')]).toEqual([304, '"1"']);
});

test('headers of one connection are not passed on', async () => {
  let headers: IncomingMessage['headers'] = {};
  serve = (request, response) => {
    headers = request.headers;
    response.end();
  };
  const client = connect(edge.port, '127.0.0.1');
  client.write(
    'GET /audience/v1/a HTTP/1.1\r\nHost: api.test\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nX-End: 2\r\nUpgrade: h2c\r\n\r\n',
  );
  await new Promise((resolve) => client.once('close', resolve).resume());
  expect(headers).toMatchObject({ host: 'api.test', 'x-end': '2' });
  expect(headers).not.toHaveProperty('x-hop');
  expect(headers).not.toHaveProperty('upgrade');
});

test.each(['content-length', 'Transfer-Encoding', 'keep-alive, Content-Length', 'HOST', 'close,host'])(
  'a request whose Connection lists %s reaches no service: its body would be read as the next request',
  async (listed) => {
    const seen: string[] = [];
    serve = (request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.end();
    };
    const smuggled = 'POST /audience/v1/smuggled HTTP/1.1\r\nHost: api.test\r\nContent-Length: 0\r\n\r\n';
    const framing = /transfer/i.test(listed)
      ? ['Transfer-Encoding: chunked', `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`]
      : [`Content-Length: ${smuggled.length}`, smuggled];
    const client = connect(edge.port, '127.0.0.1');
    client.write(
      `GET /audience/v1/a HTTP/1.1\r\nHost: api.test\r\nConnection: ${listed}\r\n${framing.join('\r\n\r\n')}`,
    );
    const [answer] = (await once(client, 'data')) as [Buffer];
    client.destroy();
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 /);
    await fetch(url('/audience/v1/next'));
    expect(seen).toEqual(['GET /audience/v1/next']);
  },
);

test('an unreachable service is 502 with a problem, also one that dies before it answers', async () => {
  serve = (request) => request.socket.destroy();
  const died = await fetch(url('/audience/v1/a'));
  expect(died.status).toBe(502);
  expect(await died.json()).toMatchObject({ code: 'bad_gateway', retry: { class: 'after_delay', after_seconds: 1 } });
  const away = await listenHttp(
    '127.0.0.1:0',
    createEdge([{ prefix: '/audience/v1', upstreams: [soleUpstream(1)] }], {
      frontPage: apiFrontPage('http://base.test', services),
    }),
  );
  const refused = await fetch(`http://127.0.0.1:${away.port}/audience/v1/a`, {
    method: 'POST',
    body: 'x'.repeat(100_000),
  });
  expect([refused.status, refused.headers.get('content-type'), refused.headers.get('retry-after')]).toEqual([
    502,
    'application/problem+json; charset=utf-8',
    '1',
  ]);
  await away.close(0);
});

test('an answer that a service breaks off is broken off for the client, instead of looking whole', async () => {
  serve = (_request, response) => {
    response.writeHead(200, { 'Content-Length': '100' });
    response.write('half');
    setImmediate(() => response.destroy());
  };
  await expect(fetch(url('/audience/v1/a')).then((response) => response.text())).rejects.toThrow();
});

test('a client that leaves before the answer ends the request to the service', async () => {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  serve = (_request, response) => {
    response.once('close', () => ended.resolve());
    begun.resolve();
  };
  const leaving = new AbortController();
  const asked = fetch(url('/audience/v1/a'), { signal: leaving.signal });
  await begun.promise;
  leaving.abort();
  await expect(asked).rejects.toThrow();
  await ended.promise;
});

/** Sends a body in chunks to its end, whatever is answered before; answers the status line, or '' after half a minute without progress. */
async function sendWhole(path: string, bytes: number): Promise<string> {
  const client = connect(edge.port, '127.0.0.1');
  client.on('error', () => undefined).setTimeout(30_000, () => client.destroy());
  let answer = '';
  client.on('data', (part) => (answer += String(part)));
  client.write(`POST ${path} HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n`);
  const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
  for (let sent = 0; sent < bytes; sent += 0x4000) await new Promise((resolve) => client.write(chunk, resolve));
  await new Promise((resolve) => client.write('0\r\n\r\n', resolve));
  if (answer === '') await Promise.race([once(client, 'data'), once(client, 'close')]);
  const isWhole = !client.destroyed;
  client.destroy();
  return isWhole ? answer.split('\r\n')[0]! : '';
}

/** Answers after the first part of a body and reads no more of it, as parsers do whose limit is reached. */
const refuseEarly = (request: IncomingMessage, response: ServerResponse) =>
  request.once('data', () => {
    request.pause();
    response.writeHead(413, { 'Content-Length': '9' }).end('too large');
  });

test('a service that answers before the end of a body has the next requests too, and none of them hangs', async () => {
  const service = await listenHttp('127.0.0.1:0', (request, response) => void refuseEarly(request, response));
  await using _closed = { [Symbol.asyncDispose]: () => service.close(0) };
  const before = edge;
  edge = await listenHttp('127.0.0.1:0', createEdge([{ prefix: '', upstreams: [soleUpstream(service.port)] }]));
  await before.close(0);
  for (let round = 0; round < 3; round += 1) {
    const lines = await Promise.all(Array.from({ length: 16 }, () => sendWhole('/', 300_000)));
    expect(new Set(lines)).toEqual(new Set(['HTTP/1.1 413 Payload Too Large']));
  }
});

test('a client sends its body to the end after an early answer, however long it is', async () => {
  serve = refuseEarly;
  expect(await sendWhole('/audience/v1/a', 30_000_000)).toBe('HTTP/1.1 413 Payload Too Large');
});

test('the root is a page: what this address is, where its documentation is, and where the REST API is', async () => {
  const response = await fetch(url('/?from=anywhere'));
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(response.headers.get('x-powered-by')).toBeNull();
  const html = await response.text();
  expect(html).toContain('This is the host of the ad server APIs');
  expect([...html.matchAll(/<a href="([^"]+)"/g)].map(([, href]) => href)).toEqual([
    '/management/v1/docs',
    '/management/v1/openapi.json',
    '/audience/v1/docs',
    '/audience/v1/openapi.json',
    '/hosting-exchange/v1/docs',
    '/hosting-exchange/v1/openapi.json',
    'http://base.test/api-docs',
  ]);
  expect(await (await fetch(url('/'), { method: 'HEAD' })).text()).toBe('');
  expect((await fetch(url('/'), { method: 'POST' })).status).toBe(404);
});

test.each(['//', '/audience', '/audience/v10/batches', '/management/v2/contract', '/x/audience/v1/batches'])(
  'no service has %s: 404',
  async (path) => {
    serve = (_request, response) => response.end();
    const response = await fetch(url(path));
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([404, 'not_found']);
  },
);

test.each(['/audience/v1', '/audience/v1?x', '/audience/v1/', '/audience/v1/batches'])(
  '%s is passed on',
  async (path) => {
    serve = (request, response) => response.end(request.url);
    expect(await (await fetch(url(path))).text()).toBe(path);
  },
);

/** Services that say which of them answers, and the edge in front of them. */
async function severalBehindEdge(
  listeners: readonly ((request: IncomingMessage, response: ServerResponse) => unknown)[],
) {
  const stack = new AsyncDisposableStack();
  const upstreams = await Promise.all(
    listeners.map(async (listener) => {
      const server = await listenHttp('127.0.0.1:0', (request, response) => void listener(request, response));
      stack.defer(() => server.close(0));
      let takes = true;
      const setTakes = (next: boolean) => (takes = next);
      return { port: server.port, takesRequests: () => takes, setTakes, close: () => server.close(0) };
    }),
  );
  const front = await listenHttp('127.0.0.1:0', createEdge([{ prefix: '', upstreams }]));
  stack.defer(() => front.close(0));
  const ask = async (init?: RequestInit) => {
    const response = await fetch(`http://127.0.0.1:${front.port}/`, init);
    return response.ok ? response.text() : String(response.status);
  };
  const askTimes = async (times: number, init?: RequestInit) => {
    const answers: string[] = [];
    for (let i = 0; i < times; i++) answers.push(await ask(init));
    return answers;
  };
  return { upstreams, ask, askTimes, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const naming = (name: string) => (_: IncomingMessage, response: ServerResponse) => void response.end(name);

test('processes of one service take turns, and one that takes no requests gets none while another does', async () => {
  await using two = await severalBehindEdge([naming('a'), naming('b')]);
  expect((await two.askTimes(4)).toSorted()).toEqual(['a', 'a', 'b', 'b']);
  two.upstreams[0]!.setTakes(false);
  expect(await two.askTimes(4)).toEqual(['b', 'b', 'b', 'b']);
  two.upstreams[1]!.setTakes(false);
  expect(['a', 'b']).toContain(await two.ask());
});

test('a request with a body that cannot connect reaches another process, whole and once', async () => {
  const bodies: string[] = [];
  await using two = await severalBehindEdge([
    naming('a'),
    async (request, response) => {
      bodies.push(await text(request));
      response.end('b');
    },
  ]);
  await two.upstreams[0]!.close();
  expect(await two.askTimes(4, { method: 'POST', body: 'x'.repeat(500_000) })).toEqual(['b', 'b', 'b', 'b']);
  expect(bodies.map(({ length }) => length)).toEqual([500_000, 500_000, 500_000, 500_000]);
});

test('a read whose connection breaks before the answer is asked of another process, and a POST is not sent twice', async () => {
  const seen: string[] = [];
  const breaking = (request: IncomingMessage) => {
    seen.push(request.method!);
    request.socket.destroy();
  };
  await using two = await severalBehindEdge([breaking, naming('b')]);
  expect(await two.askTimes(4)).toEqual(['b', 'b', 'b', 'b']);
  expect(seen).toEqual(['GET', 'GET']);
  expect((await two.askTimes(2, { method: 'POST', body: 'once' })).toSorted()).toEqual(['502', 'b']);
  expect(seen).toEqual(['GET', 'GET', 'POST']);
});

test('a read that ends every process that has it is repeated once, and leaves the others alone', async () => {
  let broken = 0;
  const breaking = (request: IncomingMessage) => {
    broken++;
    request.socket.destroy();
  };
  await using four = await severalBehindEdge([breaking, breaking, breaking, breaking]);
  expect(await four.ask()).toBe('502');
  expect(broken).toBe(2);
});
