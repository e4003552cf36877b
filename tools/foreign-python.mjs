/**
 * Programs in Python that are not ours, or that share no code with ours: their packages are installed once by pip, with pinned versions, into
 * a virtual environment in `$LONGWAVE_CACHE` (default `~/.cache/longwave`).
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const pythonMinorMin = 11;
const fetchTimeoutMs = 5 * 60_000;

/**
 * Answers a Python in whose environment the packages are. Never throws: when Python is missing or the packages cannot be fetched, the
 * answer says why.
 * @param {object} wanted
 * @param {string} wanted.name of the program, for people
 * @param {string} wanted.pinned package whose version names the environment
 * @param {string} wanted.cachePrefix begins the name of its folder in the cache
 * @param {string} wanted.requirements file of pinned packages; with hashes, pip installs nothing else
 * @param {(line: string) => void} [wanted.onProgress]
 * @returns {Promise<{ python: string } | { unavailable: string }>}
 */
export async function fetchPythonPackages({ onProgress = () => {}, ...wanted }) {
  try {
    return { python: await install({ ...wanted, onProgress }) };
  } catch (error) {
    return { unavailable: error instanceof Error ? error.message : String(error) };
  }
}

/** @returns {Promise<string>} path of the environment's Python */
async function install({ name, pinned, cachePrefix, requirements, onProgress }) {
  const version = new RegExp(`^${pinned}==(\\S+)`, 'm').exec(await readFile(requirements, 'utf8'))[1];
  const cache = process.env.LONGWAVE_CACHE ?? path.join(homedir(), '.cache', 'longwave');
  const folder = path.join(cache, `${cachePrefix}${version}`);
  const pythonIn = (environment) => path.join(environment, 'bin', 'python');
  if (existsSync(pythonIn(folder))) return pythonIn(folder);

  const { stdout } = await run('python3', ['--version']).catch(() => {
    throw new Error('Python is not installed');
  });
  const minor = Number(/^Python 3\.(\d+)/.exec(stdout)?.[1]);
  if (!(minor >= pythonMinorMin))
    throw new Error(`Python is too old (${stdout.trim()}); ${name} needs Python 3.${pythonMinorMin} or newer`);

  onProgress(`Fetching ${name} from the Python Package Index (once)`);
  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(`${path.join(cache, `unfinished-${cachePrefix}`)}`);
  try {
    await run('python3', ['-m', 'venv', unfinished]).catch((error) => {
      throw new Error(`a virtual environment could not be made: ${lastLine(error)}`);
    });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--only-binary', ':all:'];
    await run(pythonIn(unfinished), [...pip, '-r', requirements], { timeout: fetchTimeoutMs }).catch((error) => {
      throw new Error(`${name} could not be fetched: ${lastLine(error)}`);
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
