import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePorts } from '@longwave/fleet';
import { until } from '@longwave/test-kit';

/** Caddy with an authority of its own, on free ports. */
export interface RunningCaddy {
  /** The status and the body of an answer whose certificate is checked. */
  readonly get: (
    host: string,
    target: string,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<{ readonly status: number; readonly text: string }>;
  /** Everything that it wrote since the last time that the log was emptied. */
  log: string;
  readonly stop: () => Promise<void>;
}

/** Runs Caddy until it answers at pod.example. Rejects with its log when it ends. */
export async function startCaddy(
  caddyfile: string,
  environment: Readonly<Record<string, string>>,
): Promise<RunningCaddy> {
  const folder = mkdtempSync(path.join(tmpdir(), 'longwave-caddy-'));
  const [https = 0, http = 0] = await freePorts(2);
  const options = ['local_certs', 'skip_install_trust', 'admin off', `https_port ${https}`, `http_port ${http}`];
  const running = spawn(process.env['TEST_CADDY']!, ['run', '--config', caddyfile, '--adapter', 'caddyfile'], {
    cwd: folder,
    env: {
      ...{ HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, PATH: process.env['PATH'] },
      ...environment,
      CADDY_GLOBAL_OPTIONS: options.join('\n'),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const caddy: RunningCaddy = {
    log: '',
    async get(host, target, headers = {}) {
      const ca = readFileSync(path.join(folder, 'caddy/pki/authorities/local/root.crt'));
      const asking = request({
        ...{ host: '127.0.0.1', port: https, servername: host, path: target, ca, agent: false },
        headers: { host, ...headers },
      });
      const answered = once(asking, 'response') as Promise<[import('node:http').IncomingMessage]>;
      asking.end();
      const [answer] = await answered;
      let text = '';
      for await (const chunk of answer.setEncoding('utf8')) text += chunk as string;
      return { status: answer.statusCode!, text };
    },
    async stop() {
      if (running.exitCode === null) {
        const ended = once(running, 'exit');
        running.kill('SIGTERM');
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
  running.stderr.setEncoding('utf8').on('data', (text: string) => (caddy.log += text));
  running.once('exit', (code) => (caddy.log += `Caddy ended with ${code}`));
  await until('Caddy', async () => {
    if (caddy.log.includes('Caddy ended with')) throw new Error(caddy.log);
    return caddy.get('pod.example', '/up').catch(() => undefined);
  });
  return caddy;
}
