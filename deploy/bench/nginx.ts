import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '@longwave/fleet';
import { findTool } from './debian-tool.ts';

/** nginx with one worker serving the files of a folder, as its own documentation tunes it for static files, with its access log. */
export interface Nginx extends Disposable {
  readonly url: string;
}

const configuration = (folder: string, port: number) => `
daemon off; master_process off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log warn;
events { worker_connections 4096; }
http {
  access_log ${folder}/access.log; sendfile on; keepalive_requests 1000000; open_file_cache max=100;
  client_body_temp_path ${folder}/t1; proxy_temp_path ${folder}/t2; fastcgi_temp_path ${folder}/t3;
  uwsgi_temp_path ${folder}/t4; scgi_temp_path ${folder}/t5;
  types { audio/mpeg mp3; }
  server { listen 127.0.0.1:${port}; root ${folder}/files; }
}`;

/**
 * Starts nginx over `files` (name → bytes).
 * @param folder for its configuration, files and logs; the caller removes it
 * @returns undefined when there is no nginx for this machine
 */
export async function startNginx(
  folder: string,
  files: Readonly<Record<string, Uint8Array>>,
): Promise<Nginx | undefined> {
  const tool = await findTool('nginx', ['nginx']);
  if (!tool) return undefined;
  mkdirSync(path.join(folder, 'files'), { recursive: true });
  for (const [name, bytes] of Object.entries(files)) writeFileSync(path.join(folder, 'files', name), bytes);
  const port = await freePort();
  const file = path.join(folder, 'nginx.conf');
  writeFileSync(file, configuration(folder, port));
  const server = spawn(tool.command, ['-c', file, '-p', folder], {
    env: { ...process.env, ...tool.env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}/`;
  for (let attempt = 0; ; attempt++) {
    const answered = await fetch(url).then(
      () => true,
      () => false,
    );
    if (answered) return { url, [Symbol.dispose]: () => void server.kill('SIGQUIT') };
    if (attempt === 50 || server.exitCode !== null) throw new Error('nginx does not start');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
