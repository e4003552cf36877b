/**
 * Prometheus's own checker of rules, out of the Debian package `prometheus`: unpacked once into `$LONGWAVE_CACHE` (default
 * `~/.cache/longwave`), without an installation and without root.
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
 * Answers where promtool is. Never throws: where it cannot be had, the answer says why.
 * @param {{ onProgress?: (line: string) => void }} [options]
 * @returns {Promise<{ promtool: string } | { unavailable: string }>}
 */
export async function fetchPromtool({ onProgress = () => {} } = {}) {
  try {
    return { promtool: await unpack(onProgress) };
  } catch (error) {
    return { unavailable: error instanceof Error ? error.message : String(error) };
  }
}

async function unpack(onProgress) {
  const cache = process.env.LONGWAVE_CACHE ?? path.join(homedir(), '.cache', 'longwave');
  const folder = path.join(cache, 'promtool-debian');
  const promtool = path.join(folder, 'usr/bin/promtool');
  if (existsSync(promtool)) return promtool;

  onProgress('Fetching promtool from the Debian package prometheus (once)');
  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(path.join(cache, 'unfinished-promtool-'));
  try {
    await run('apt-get', ['download', 'prometheus'], { cwd: unfinished, timeout: fetchTimeoutMs }).catch((error) => {
      const reason = error.code === 'ENOENT' ? 'there is no apt-get' : error.stderr.trim().split('\n').at(-1);
      throw new Error(`the Debian package prometheus could not be fetched: ${reason}`);
    });
    const [archive] = (await readdir(unfinished)).filter((name) => name.endsWith('.deb'));
    await run('dpkg-deb', ['--extract', path.join(unfinished, archive), path.join(unfinished, 'package')]);
    // Complete or absent; another process may have been faster.
    await rename(path.join(unfinished, 'package'), folder).catch((error) => {
      if (!existsSync(promtool)) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return promtool;
}
