/**
 * Programs that are not ours, for tests and measurements, out of Debian packages: unpacked once into `$LONGWAVE_CACHE` (default `~/.cache/longwave`), without
 * an installation and without root.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const fetchTimeoutMs = 5 * 60_000;

interface WantedProgram {
  /** In `/usr/bin` or `/usr/sbin`. */
  readonly name: string;
  /** That of the program first, then those of libraries that the system may not have. */
  readonly packages: readonly string[];
  readonly onProgress?: (line: string) => void;
}

interface DebianProgram {
  readonly binary: string;
  /** Names the folders of its libraries. */
  readonly env: Readonly<Record<string, string>>;
}

/** Answers where the program is. Never throws: where it cannot be had, the answer says why. */
export async function fetchDebianProgram(
  wanted: WantedProgram,
): Promise<DebianProgram | { readonly unavailable: string }> {
  try {
    const { folder, binary } = await unpack(wanted);
    return { binary, env: { LD_LIBRARY_PATH: librariesIn(folder) } };
  } catch (error) {
    return { unavailable: error instanceof Error ? error.message : String(error) };
  }
}

/** The value of LD_LIBRARY_PATH for a program that came out of a Debian package: folders of the libraries that were unpacked beside it, '' without any. */
export const librariesBeside = (binary: string): string => librariesIn(path.resolve(binary, '../../..'));

const programIn = (folder: string, name: string): string | undefined =>
  ['usr/bin', 'usr/sbin'].map((at) => path.join(folder, at, name)).find((file) => existsSync(file));

function librariesIn(folder: string): string {
  const base = path.join(folder, 'usr/lib');
  const places = existsSync(base) ? readdirSync(base).filter((place) => place.endsWith('-linux-gnu')) : [];
  return places.map((place) => path.join(base, place)).join(':');
}

async function unpack({ name, packages, onProgress = () => undefined }: WantedProgram) {
  const cache = process.env['LONGWAVE_CACHE'] ?? path.join(homedir(), '.cache', 'longwave');
  const folder = path.join(cache, `${name}-debian`);
  const cached = programIn(folder, name);
  if (cached) return { folder, binary: cached };

  onProgress(`Fetching ${name} from the Debian package ${packages[0]} (once)`);
  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(path.join(cache, `unfinished-${name}-`));
  try {
    await run('apt-get', ['download', ...packages], { cwd: unfinished, timeout: fetchTimeoutMs }).catch(
      (error: { readonly code?: string; readonly stderr?: string }) => {
        const reason = error.code === 'ENOENT' ? 'there is no apt-get' : error.stderr?.trim().split('\n').at(-1);
        throw new Error(`the Debian package ${packages[0]} could not be fetched: ${reason}`);
      },
    );
    const whole = path.join(unfinished, 'package');
    for (const archive of readdirSync(unfinished).filter((file) => file.endsWith('.deb')))
      await run('dpkg-deb', ['--extract', path.join(unfinished, archive), whole]);
    // Complete or absent; another process may have been faster.
    await rename(whole, folder).catch((error: unknown) => {
      if (!programIn(folder, name)) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  const binary = programIn(folder, name);
  if (!binary) throw new Error(`the Debian package ${packages[0]} has no program ${name}`);
  return { folder, binary };
}
