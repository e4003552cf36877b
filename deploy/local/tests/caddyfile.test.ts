import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePorts, workspaceRoot } from '@longwave/fleet';
import { until } from '@longwave/test-kit';

const caddyfile = path.join(workspaceRoot, 'deploy/server/Caddyfile');
const caddy = process.env['TEST_CADDY'];

/** Secrets of the requests below; none may be in the log. */
const token = `t1.${randomBytes(60).toString('base64url')}`;
const encodedToken = `%74%31%2e${randomBytes(60).toString('base64url')}`;
const [signature, authorizationCode, bearer, session] = [0, 1, 2, 3].map(() => randomBytes(20).toString('hex'));
const secrets = [token.slice(3), encodedToken.slice(9), signature!, authorizationCode!, bearer!, session!];

interface Seen {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

(caddy ? describe : describe.skip)('Caddy with deploy/server/Caddyfile (needs TEST_CADDY)', () => {
  let folder: string;
  let upstream: Server;
  let running: ChildProcess;
  let httpsPort: number;
  let log = '';
  const seen: Seen[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'longwave-caddy-'));
    // Answers as delivery does: a token in Location, a cookie.
    upstream = createServer(({ url, headers }, response) => {
      seen.push({ url, headers });
      response.writeHead(302, { location: `/delivery/v1/${token}/a.mp3`, 'set-cookie': `lw_session=${session}` }).end();
    });
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    const [https = 0, http = 0, nobody = 0] = await freePorts(3);
    httpsPort = https;
    const options = ['local_certs', 'skip_install_trust', 'admin off', `https_port ${https}`, `http_port ${http}`];
    const hosts = ['BASE', 'MCP', 'API', 'MEDIA', 'OBJECTS'].map((host) => [`LONGWAVE_${host}`, `127.0.0.1:${port}`]);
    running = spawn(caddy!, ['run', '--config', caddyfile, '--adapter', 'caddyfile'], {
      cwd: folder,
      env: {
        ...{ HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, PATH: process.env['PATH'] },
        ...Object.fromEntries(hosts),
        LONGWAVE_API: `127.0.0.1:${nobody}`,
        CADDY_GLOBAL_OPTIONS: options.join('\n'),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    running.stderr!.setEncoding('utf8').on('data', (text: string) => (log += text));
    running.once('exit', (code) => (log += `Caddy ended with ${code}`));
    await until('Caddy', async () => {
      if (log.includes('Caddy ended with')) throw new Error(log);
      return get('pod.example', '/up').catch(() => undefined);
    });
  });

  afterAll(async () => {
    if (running.exitCode === null) {
      const ended = once(running, 'exit');
      running.kill('SIGTERM');
      await ended;
    }
    upstream.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The status of an answer whose certificate is checked against Caddy's own authority. */
  async function get(host: string, target: string, headers: Record<string, string> = {}): Promise<number> {
    const ca = readFileSync(path.join(folder, 'caddy/pki/authorities/local/root.crt'));
    return await new Promise((resolve, reject) => {
      const asking = request(
        {
          host: '127.0.0.1',
          port: httpsPort,
          servername: host,
          path: target,
          ca,
          agent: false,
          headers: { host, ...headers },
        },
        (answer) => void answer.resume().once('end', () => resolve(answer.statusCode!)),
      );
      asking.once('error', reject).end();
    });
  }

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
    log = '';
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
      const whole = log.slice(0, log.lastIndexOf('\n')).split('\n');
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
    for (const secret of secrets) expect(log).not.toContain(secret);
    expect(log).not.toContain('127.0.0.1"');
    expect(log).toContain('"remote_ip":"127.0.0.0"');
  });
});
