#!/usr/bin/env node
/**
 * A real S3 server that is not ours, for the contract suite of the object store: Versity S3 Gateway, built once
 * through the Go module proxy into a cache folder outside of the repository (`LONGWAVE_CACHE`, else ~/.cache/longwave).
 *
 * As a program: node tools/foreign-s3.mjs <command…> runs the command with TEST_FOREIGN_S3_* set and stops the server after it.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildGoProgram } from './go-program.mjs';

const module = 'github.com/versity/versitygw/cmd/versitygw';
const version = 'v1.8.0';
const region = 'us-east-1';
const maxStartMs = 20_000;

/**
 * @param {{ onProgress?: (line: string) => void }} [options]
 * @returns {Promise<{ endpoint: string, region: string, accessKey: string, secretKey: string, stop(): Promise<void> } | { unavailable: string }>}
 */
export async function startForeignS3({ onProgress = () => {} } = {}) {
  const built = await buildGoProgram({ name: 'versitygw', module, version, onProgress });
  if ('unavailable' in built) return built;
  const folder = await mkdtemp(path.join(tmpdir(), 'longwave-foreign-s3-'));
  const objects = path.join(folder, 'objects');
  const metadata = path.join(folder, 'metadata');
  await mkdir(objects);
  await mkdir(metadata);
  const port = await freePort();
  const accessKey = 'foreign';
  const secretKey = randomBytes(16).toString('hex');
  const endpoint = `http://127.0.0.1:${port}`;

  // The sidecar keeps metadata in files, so that the file system needs no extended attributes.
  const server = spawn(built.binary, ['--quiet', 'posix', '--sidecar', metadata, objects], {
    env: {
      VGW_PORT: `127.0.0.1:${port}`,
      VGW_REGION: region,
      VGW_KEEP_ALIVE: 'true',
      ROOT_ACCESS_KEY: accessKey,
      ROOT_SECRET_KEY: secretKey,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  server.stderr.on('data', (chunk) => (complaint = (complaint + chunk).slice(-2000)));
  const ended = new Promise((resolve) => server.once('close', resolve));
  server.once('error', (error) => (complaint += error.message));
  const kill = () => server.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    process.off('exit', kill);
    server.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };

  const deadline = Date.now() + maxStartMs;
  while (!(await answers(endpoint))) {
    if (server.exitCode === null && server.signalCode === null && Date.now() < deadline) continue;
    await stop();
    return { unavailable: `the S3 server did not start: ${complaint.trim()}` };
  }
  return { endpoint, region, accessKey, secretKey, stop };
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** True when an S3 answers; waits a moment when not. */
async function answers(endpoint) {
  try {
    await (await fetch(endpoint)).arrayBuffer();
    return true;
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return false;
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [command, ...args] = process.argv.slice(2);
  const s3 = await startForeignS3({ onProgress: (line) => console.error(line) });
  if ('unavailable' in s3) {
    console.error(s3.unavailable);
    process.exitCode = 1;
  } else {
    const env = {
      ...process.env,
      TEST_FOREIGN_S3_ENDPOINT: s3.endpoint,
      TEST_FOREIGN_S3_REGION: s3.region,
      TEST_FOREIGN_S3_ACCESS_KEY: s3.accessKey,
      TEST_FOREIGN_S3_SECRET_KEY: s3.secretKey,
    };
    const child = spawn(command, args, { env, stdio: 'inherit' });
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
    process.exitCode = await new Promise((resolve) => {
      child.once('error', () => resolve(127));
      child.once('exit', (code) => resolve(code ?? 1));
    });
    await s3.stop();
  }
}
