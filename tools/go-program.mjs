/**
 * Programs in Go that are not ours, for tests: built once, in a pinned version, through the Go module proxy, into a cache folder outside of
 * the repository (`LONGWAVE_CACHE`, else ~/.cache/longwave).
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** The first Go that fetches the toolchain a module asks for (GOTOOLCHAIN=auto). */
const goMinorMin = 21;

/**
 * @param {object} program
 * @param {string} program.name for people, in the middle of a sentence
 * @param {string} program.module path of the main package; its last part is the name of the binary
 * @param {string} program.version as "v1.8.0"
 * @param {(line: string) => void} program.onProgress
 * @returns {Promise<string>} path of the binary. Rejects with a sentence when it cannot be had.
 */
export async function buildGoProgram({ name, module, version, onProgress }) {
  const cache = process.env.LONGWAVE_CACHE ?? path.join(homedir(), '.cache', 'longwave');
  const file = path.basename(module);
  const folder = path.join(cache, `${file}-${version}`);
  const binary = path.join(folder, file);
  if (existsSync(binary)) return binary;

  const { stdout } = await run('go', ['env', 'GOVERSION']).catch(() => {
    throw new Error(`Go is not installed; ${name} is built with Go 1.${goMinorMin} or newer`);
  });
  const minor = Number(/^go1\.(\d+)/.exec(stdout)?.[1]);
  if (!(minor >= goMinorMin))
    throw new Error(`Go is too old (${stdout.trim()}); ${name} is built with Go 1.${goMinorMin} or newer`);

  onProgress(`building ${module}@${version}, once, about a minute`);
  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(`${folder}-`);
  try {
    const env = {
      ...process.env,
      GOBIN: unfinished,
      GOPATH: path.join(cache, 'go'),
      GOTOOLCHAIN: 'auto',
      CGO_ENABLED: '0',
    };
    await run('go', ['install', '-modcacherw', `${module}@${version}`], { env, maxBuffer: 2 ** 24 }).catch((error) => {
      throw new Error(`${name} could not be built: ${String(error.stderr).trim().split('\n').at(-1)}`);
    });
    // Two builds at once end with the same file; the second rename finds the first one's folder and is not needed.
    await rename(unfinished, folder).catch((error) => {
      if (!existsSync(binary)) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  onProgress(`built ${binary}`);
  return binary;
}
