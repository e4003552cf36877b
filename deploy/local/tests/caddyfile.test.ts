import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort, workspaceRoot } from '@longwave/fleet';
import { until } from '@longwave/test-kit';
import { startCaddy, type RunningCaddy } from './_caddy.ts';

const caddyfile = path.join(workspaceRoot, 'deploy/server/Caddyfile');

/** Secrets of the requests below; none may be in the log. */
const token = `t1.${randomBytes(60).toString('base64url')}`;
const encodedToken = `%74%31%2e${randomBytes(60).toString('base64url')}`;
const [signature, authorizationCode, bearer, session] = [0, 1, 2, 3].map(() => randomBytes(20).toString('hex'));
const secrets = [token.slice(3), encodedToken.slice(9), signature!, authorizationCode!, bearer!, session!];

interface Seen {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

(process.env['TEST_CADDY'] ? describe : describe.skip)('Caddy with deploy/server/Caddyfile (needs TEST_CADDY)', () => {
  let upstream: Server;
  let caddy: RunningCaddy;
  const seen: Seen[] = [];

  beforeAll(async () => {
    // Answers as delivery does: a token in Location, a cookie.
    upstream = createServer(({ url, headers }, response) => {
      seen.push({ url, headers });
      response.writeHead(302, { location: `/delivery/v1/${token}/a.mp3`, 'set-cookie': `lw_session=${session}` }).end();
    });
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    const hosts = ['BASE', 'MCP', 'API', 'MEDIA', 'OBJECTS'].map((host) => [`LONGWAVE_${host}`, `127.0.0.1:${port}`]);
    caddy = await startCaddy(caddyfile, {
      ...(Object.fromEntries(hosts) as Record<string, string>),
      LONGWAVE_API: `127.0.0.1:${await freePort()}`,
    });
  });

  afterAll(async () => {
    await caddy.stop();
    upstream.close();
  });

  const get = async (host: string, target: string, headers: Record<string, string> = {}) =>
    (await caddy.get(host, target, headers)).status;

  test('each of the five host names is served by TLS, and the service hears the host, the target and the true address of the client', async () => {
    seen.length = 0;
    const hosts = ['pod.example', 'mcp.pod.example', 'media.pod.example', 'objects.pod.example'];
    const spoofed = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http' };
    for (const host of hosts) expect(await get(host, '/a%20b?c=d%2Fe', spoofed)).toBe(302);
    expect(seen.map(({ url, headers }) => [headers.host, url, headers['x-forwarded-for']])).toEqual(
      hosts.map((host) => [host, '/a%20b?c=d%2Fe', '127.0.0.1']),
    );
    expect(await get('api.pod.example', '/management/v1/contract')).toBe(502);
  });

  test('the log names requests, and contains no delivery token, no query, no header and no whole address', async () => {
    caddy.log = '';
    const headers = {
      ...{ authorization: `Bearer ${bearer}`, cookie: `lw_session=${session}` },
      referer: `https://media.pod.example/delivery/v1/${token}/a.mp3`,
    };
    await get('media.pod.example', `/delivery/v1/${token}/first.mp3`, headers);
    await get('media.pod.example', `/delivery/v1/${encodedToken}/second.mp3?play=1`, headers);
    await get('objects.pod.example', `/longwave/uploads/third.wav?X-Amz-Signature=${signature}`, headers);
    await get('pod.example', `/oauth/fourth?code=${authorizationCode}`, headers);
    // Nothing answers there: an error is logged.
    await get('api.pod.example', `/management/v1/fifth?code=${authorizationCode}`, headers);
    const words = ['first', 'second', 'third', 'fourth', 'fifth'];
    const lines = await until('the lines of all requests', () => {
      const whole = caddy.log.slice(0, caddy.log.lastIndexOf('\n')).split('\n');
      const found = whole.filter((line) => words.some((word) => line.includes(word)));
      return words.every((word) => found.some((line) => line.includes(word))) && found;
    });
    const uris = lines.map((line) => (JSON.parse(line) as { request: { uri: string } }).request.uri);
    expect([...new Set(uris)]).toEqual([
      '/delivery/v1/***/first.mp3',
      '/delivery/v1/***/second.mp3***',
      '/longwave/uploads/third.wav***',
      '/oauth/fourth***',
      '/management/v1/fifth***',
    ]);
    expect(lines.some((line) => line.includes('http.log.error'))).toBe(true);
    for (const secret of secrets) expect(caddy.log).not.toContain(secret);
    expect(caddy.log).not.toContain('127.0.0.1"');
    expect(caddy.log).toContain('"remote_ip":"127.0.0.0"');
  });
});
