/**
 * Programs that are not ours, for tests, out of Debian packages: unpacked once into `$LONGWAVE_CACHE` (default `~/.cache/longwave`), without
 * an installation and without root.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const fetchTimeoutMs = 5 * 60_000;

/**
 * Answers where the program is. Never throws: where it cannot be had, the answer says why.
 * @param {object} wanted
 * @param {string} wanted.name of the program in `/usr/bin`
 * @param {string} wanted.package of Debian
 * @param {(line: string) => void} [wanted.onProgress]
 * @returns {Promise<{ binary: string } | { unavailable: string }>}
 */
export async function fetchDebianProgram({ name, package: debianPackage, onProgress = () => {} }) {
  try {
    return { binary: await unpack(name, debianPackage, onProgress) };
  } catch (error) {
    return { unavailable: error instanceof Error ? error.message : String(error) };
  }
}

async function unpack(name, debianPackage, onProgress) {
  const cache = process.env.LONGWAVE_CACHE ?? path.join(homedir(), '.cache', 'longwave');
  const folder = path.join(cache, `${name}-debian`);
  const binary = path.join(folder, 'usr/bin', name);
  if (existsSync(binary)) return binary;

  onProgress(`Fetching ${name} from the Debian package ${debianPackage} (once)`);
  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(path.join(cache, `unfinished-${name}-`));
  try {
    await run('apt-get', ['download', debianPackage], { cwd: unfinished, timeout: fetchTimeoutMs }).catch((error) => {
      const reason = error.code === 'ENOENT' ? 'there is no apt-get' : error.stderr.trim().split('\n').at(-1);
      throw new Error(`the Debian package ${debianPackage} could not be fetched: ${reason}`);
    });
    const [archive] = (await readdir(unfinished)).filter((file) => file.endsWith('.deb'));
    await run('dpkg-deb', ['--extract', path.join(unfinished, archive), path.join(unfinished, 'package')]);
    // Complete or absent; another process may have been faster.
    await rename(path.join(unfinished, 'package'), folder).catch((error) => {
      if (!existsSync(binary)) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return binary;
}
