import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect } from '@jest/globals';
import { createAddressSet } from '@longwave/audience';
import { createEdge, freePorts, soleUpstream } from '@longwave/fleet';
import { listenHttp } from '@longwave/http-kit';
import { until } from '@longwave/test-kit';
import { librariesBeside } from '@longwave/test-kit/debian-program';
import { withPrograms } from '@longwave/test-kit/with-programs';

const client = '127.0.0.7';
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

/** Answers, and notes, whom the edge names as the client. */
async function startService() {
  const checkedFrom = new Set<string>();
  const service = createServer(({ url, headers }, response) => {
    const forwarded = String(headers['x-forwarded-for']);
    if (url === '/up') checkedFrom.add(forwarded);
    response.end(forwarded);
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  stack.defer(() => void service.close().closeAllConnections());
  return { port: (service.address() as AddressInfo).port, checkedFrom };
}

/** HAProxy that passes on the connections of each port in another version of the PROXY protocol, and checks the edge. */
async function startHaproxy(edgePort: number, ports: Readonly<Record<'send-proxy' | 'send-proxy-v2', number>>) {
  const folder = mkdtempSync(path.join(tmpdir(), 'longwave-haproxy-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const listeners = Object.entries(ports).map(
    ([option, port]) => `listen ${option}
  bind 127.0.0.1:${port}
  option httpchk
  http-check send meth GET uri /up ver HTTP/1.1 hdr Host pod.example
  server edge 127.0.0.1:${edgePort} ${option} check check-send-proxy inter 100
`,
  );
  const file = path.join(folder, 'haproxy.cfg');
  const times = ['connect', 'client', 'server'].map((side) => `  timeout ${side} 5s\n`).join('');
  writeFileSync(file, `defaults\n  mode tcp\n  source 127.0.0.1\n${times}${listeners.join('')}`);
  const program = process.env['TEST_HAPROXY']!;
  const env = { LD_LIBRARY_PATH: librariesBeside(program) };
  const running = spawn(program, ['-db', '-f', file], { stdio: 'ignore', env });
  stack.defer(async () => {
    running.kill('SIGKILL');
    if (running.exitCode === null && running.signalCode === null) await once(running, 'exit');
  });
}

/** A client that claims another address. */
async function ask(port: number): Promise<string> {
  const asking = request({
    ...{ host: '127.0.0.1', port, localAddress: client, agent: false },
    headers: { 'x-forwarded-for': '203.0.113.9' },
  });
  asking.end();
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  return text(answer);
}

withPrograms('TEST_HAPROXY')(
  'behind HAProxy the edge names the client of the connection, by both versions, and answers its checks',
  async () => {
    const service = await startService();
    const trustedProxies = createAddressSet(['127.0.0.1/32']);
    const edge = await listenHttp(
      '127.0.0.1:0',
      createEdge([{ prefix: '', upstreams: [soleUpstream(service.port)] }], { trustedProxies }),
      { proxyProtocol: trustedProxies },
    );
    stack.defer(() => edge.close(0));
    const [first = 0, second = 0] = await freePorts(2);
    await startHaproxy(edge.port, { 'send-proxy': first, 'send-proxy-v2': second });
    for (const port of [first, second])
      expect(await until('HAProxy answers', () => ask(port).catch(() => undefined))).toBe(client);
    await until('HAProxy checks the edge', async () => service.checkedFrom.size > 0);
    expect([...service.checkedFrom]).toEqual(['127.0.0.1']);
    await expect(ask(edge.port)).rejects.toThrow();
  },
);
