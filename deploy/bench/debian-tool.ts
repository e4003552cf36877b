import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

export interface Tool {
  readonly command: string;
  /** Folder of its libraries when they are not the system's. */
  readonly env: Readonly<Record<string, string>>;
}

const onPath = (program: string) =>
  (process.env['PATH'] ?? '').split(path.delimiter).some((folder) => existsSync(path.join(folder, program)));

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args[0]}: ${error?.message ?? stderr.trim()}`);
}

/**
 * A program that only measurements need: the installed one, else unpacked from its Debian packages into a cache folder outside of the
 * repository (`LONGWAVE_CACHE`, else ~/.cache/longwave), without installing or starting anything. Undefined when neither is possible.
 */
export function findTool(program: string, packages: readonly string[]): Tool | undefined {
  if (onPath(program)) return { command: program, env: {} };
  const cache = process.env['LONGWAVE_CACHE'] ?? path.join(homedir(), '.cache/longwave');
  const folder = path.join(cache, 'debian', packages.join('+'));
  const locate = (): Tool | undefined => {
    const command = ['usr/bin', 'usr/sbin'].map((at) => path.join(folder, at, program)).find(existsSync);
    if (!command) return undefined;
    const base = path.join(folder, 'usr/lib');
    const libraries = existsSync(base) ? readdirSync(base).filter((name) => name.endsWith('-linux-gnu')) : [];
    return { command, env: { LD_LIBRARY_PATH: libraries.map((name) => path.join(base, name)).join(':') } };
  };
  const cached = locate();
  if (cached) return cached;
  if (!onPath('apt-get') || !onPath('dpkg-deb')) return undefined;
  mkdirSync(path.dirname(folder), { recursive: true });
  const fresh = mkdtempSync(`${folder}.`);
  try {
    run('apt-get', ['download', ...packages], fresh);
    for (const file of readdirSync(fresh)) run('dpkg-deb', ['-x', file, '.'], fresh);
    renameSync(fresh, folder);
    return locate();
  } catch (error) {
    process.stderr.write(`${program} cannot be had: ${(error as Error).message}\n`);
    return undefined;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
