#!/usr/bin/env node
/**
 * A real S3 server that is not ours, for the contract suite of the object store: Versity S3 Gateway, built once
 * through the Go module proxy into a cache folder outside of the repository (`LONGWAVE_CACHE`, else ~/.cache/longwave).
 *
 * As a program: node tools/foreign-s3.mjs <command…> runs the command with TEST_FOREIGN_S3_* set and stops the server after it.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { removeDataFolder, startVersityGateway, temporaryDataFolder } from '../libs/fleet/src/index.ts';
import { buildGoProgram } from './go-program.mjs';

const module = 'github.com/versity/versitygw/cmd/versitygw';
const version = 'v1.8.0';

/**
 * The program of the S3 server. Never throws: when it cannot be built, the answer says why.
 * @param {{ onProgress?: (line: string) => void }} [options]
 * @returns {Promise<{ binary: string } | { unavailable: string }>}
 */
export const fetchVersityGateway = ({ onProgress = () => {} } = {}) =>
  buildGoProgram({ name: 'versitygw', module, version, onProgress });

/**
 * @param {{ accounts?: object, onProgress?: (line: string) => void }} [options] further accounts, as the server's file of them has them
 * @returns {Promise<{ endpoint: string, region: string, accessKey: string, secretKey: string, stop(): Promise<void> } | { unavailable: string }>}
 */
export async function startForeignS3({ accounts, onProgress = () => {} } = {}) {
  const built = await fetchVersityGateway({ onProgress });
  if ('unavailable' in built) return built;
  const data = temporaryDataFolder();
  try {
    const server = await startVersityGateway({
      program: built.binary,
      folder: data.inside('objects'),
      accessKey: 'foreign',
      secretKey: randomBytes(16).toString('hex'),
      accounts,
      logFile: data.logFile('s3-server'),
      pidFolder: data.pids,
    });
    const { endpoint, region, accessKey, secretKey } = server;
    const stop = async () => {
      await server.stop();
      removeDataFolder(data);
    };
    return { endpoint, region, accessKey, secretKey, stop };
  } catch (error) {
    removeDataFolder(data);
    return { unavailable: error instanceof Error ? error.message : String(error) };
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
