/**
 * Schemathesis, a program that generates requests from an OpenAPI document: installed once by pip, with pinned versions, into a virtual
 * environment in `$LONGWAVE_CACHE` (default `~/.cache/longwave`).
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const requirements = path.join(import.meta.dirname, 'schemathesis-requirements.txt');
const pythonMinorMin = 11;
const fetchTimeoutMs = 5 * 60_000;

/**
 * Answers the Python in whose environment Schemathesis is. Never throws: when Python is missing or the packages cannot be fetched, the
 * answer says why.
 * @param {{ onProgress?: (line: string) => void }} [options]
 * @returns {Promise<{ python: string } | { unavailable: string }>}
 */
export async function fetchSchemathesis({ onProgress = () => {} } = {}) {
  try {
    return { python: await install(onProgress) };
  } catch (error) {
    return { unavailable: error instanceof Error ? error.message : String(error) };
  }
}

/** @returns {Promise<string>} path of the environment's Python */
async function install(onProgress) {
  const version = /^schemathesis==(.+)$/m.exec(await readFile(requirements, 'utf8'))[1];
  const cache = process.env.LONGWAVE_CACHE ?? path.join(homedir(), '.cache', 'longwave');
  const folder = path.join(cache, `schemathesis-${version}`);
  const pythonIn = (environment) => path.join(environment, 'bin', 'python');
  if (existsSync(pythonIn(folder))) return pythonIn(folder);

  const { stdout } = await run('python3', ['--version']).catch(() => {
    throw new Error('Python is not installed');
  });
  const minor = Number(/^Python 3\.(\d+)/.exec(stdout)?.[1]);
  if (!(minor >= pythonMinorMin))
    throw new Error(`Python is too old (${stdout.trim()}); Schemathesis needs Python 3.${pythonMinorMin} or newer`);

  onProgress(`Fetching Schemathesis ${version} from the Python Package Index (once)`);
  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(`${path.join(cache, 'unfinished-schemathesis')}-`);
  try {
    await run('python3', ['-m', 'venv', unfinished]).catch((error) => {
      throw new Error(`a virtual environment could not be made: ${lastLine(error)}`);
    });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--only-binary', ':all:'];
    await run(pythonIn(unfinished), [...pip, '-r', requirements], { timeout: fetchTimeoutMs }).catch((error) => {
      throw new Error(`Schemathesis could not be fetched: ${lastLine(error)}`);
    });
    // Complete or absent; another process may have been faster. Python finds its packages beside itself, wherever the folder lies.
    await rename(unfinished, folder).catch((error) => {
      if (!existsSync(pythonIn(folder))) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return pythonIn(folder);
}

/** Of what a program printed, the last line; else why it could not be run. */
const lastLine = ({ stdout, stderr, message }) => `${stdout}${stderr}`.trim().split('\n').at(-1) || message;
