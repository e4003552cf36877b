/** Programs in Go, for tests: each is built once, with modules of the Go module proxy, into a cache folder outside of the repository. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** The first Go that fetches the toolchain a module asks for (GOTOOLCHAIN=auto). */
const goMinorMin = 21;

/**
 * Answers the path of the program. Never throws: when Go is missing or too old, or the program cannot be built, the answer says why.
 * @param {object} program
 * @param {string} program.name of its file, and the beginning of its folder in the cache
 * @param {string} [program.module] import path of its main package
 * @param {string} [program.version] of the module
 * @param {string} [program.folder] absolute folder of a module of ours, whose go.sum pins what it is made of; in place of the two above
 * @param {(line: string) => void} [program.onProgress]
 * @returns {Promise<{ binary: string } | { unavailable: string }>}
 */
export async function buildGoProgram({ onProgress = () => {}, ...program }) {
  try {
    const wanted = program.folder ? await ofFolder(program.folder) : ofModule(program);
    return { binary: await build({ name: program.name, ...wanted, onProgress }) };
  } catch (error) {
    return { unavailable: error instanceof Error ? error.message : String(error) };
  }
}

async function assertGo(name) {
  const { stdout } = await run('go', ['env', 'GOVERSION']).catch(() => {
    throw new Error(`Go is not installed; ${name} is built with Go 1.${goMinorMin} or newer`);
  });
  const minor = Number(/^go1\.(\d+)/.exec(stdout)?.[1]);
  if (!(minor >= goMinorMin))
    throw new Error(`Go is too old (${stdout.trim()}); ${name} is built with Go 1.${goMinorMin} or newer`);
}

/** What is installed of a published module. */
const ofModule = ({ module, version }) => ({ version, source: `${module}@${version}`, folder: undefined });

/** What is installed of a module of ours; its version is what its files say. */
async function ofFolder(folder) {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(await readFile(path.join(folder, file)));
  return { version: hash.digest('hex').slice(0, 12), source: '.', folder };
}

/** @returns {Promise<string>} path of the binary */
async function build({ name, version, source, folder: cwd, onProgress }) {
  const cache = process.env.LONGWAVE_CACHE ?? path.join(homedir(), '.cache', 'longwave');
  const folder = path.join(cache, `${name}-${version}`);
  const binary = path.join(folder, name);
  if (existsSync(binary)) return binary;
  await assertGo(name);

  onProgress(`building ${name} ${version}, once`);
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
    await run('go', ['install', '-modcacherw', source], { cwd, env, maxBuffer: 2 ** 24 }).catch((error) => {
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
