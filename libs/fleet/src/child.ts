import { spawn, spawnSync, type SpawnOptions } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { endProcess, findProcess, isAlive, type ProcessIdentity } from './process-identity.ts';
import { readJson } from './read-json.ts';

export interface ChildOptions {
  /** Names the pid file and the log. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment: nothing is inherited but PATH, HOME, TMPDIR, the locale and where Node keeps compiled code. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Appended to; standard output and standard error together. */
  readonly logFile: string;
  /** Folder in which the pid is noted while the child lives, for `endLeftovers` after a crash of the runner. */
  readonly pidFolder: string;
  /** Asks for an orderly stop. */
  readonly stopSignal: 'SIGTERM' | 'SIGINT';
}

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running child process. */
export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly exited: Promise<ChildExit>;
  readonly isRunning: () => boolean;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Orderly stop, SIGKILL after `graceMs`; resolves when the process is gone. */
  readonly stop: (graceMs?: number) => Promise<ChildExit>;
}

const inherited = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ', 'NODE_COMPILE_CACHE'];

/** Linux only: the kernel signals the child when the runner dies, even by SIGKILL. Elsewhere `endLeftovers` does it later. */
function withDeathSignal(command: string, args: readonly string[], signal: string): [string, string[]] {
  const bind = ['--pdeathsig', signal.slice(3), '--'];
  if (process.platform !== 'linux' || spawnSync('setpriv', [...bind, 'true']).status !== 0) return [command, [...args]];
  return ['setpriv', [...bind, command, ...args]];
}

interface PidFile extends ProcessIdentity {
  readonly stopSignal: NodeJS.Signals;
  /** The path at which the file was written: a copy of it elsewhere is ignored. */
  readonly folder?: string;
}

/** Starts a process and notes its pid. Rejects, and leaves nothing running, when the command cannot be run or its pid not be noted. */
export async function startChild(options: ChildOptions): Promise<Child> {
  mkdirSync(path.dirname(options.logFile), { recursive: true });
  mkdirSync(options.pidFolder, { recursive: true });
  const log = openSync(options.logFile, 'a', 0o600);
  const [command, args] = withDeathSignal(options.command, options.args, options.stopSignal);
  const environment = Object.fromEntries(
    inherited.flatMap((key) => (process.env[key] ? [[key, process.env[key]]] : [])),
  );
  const spawnOptions: SpawnOptions = {
    cwd: options.cwd ?? '/',
    env: { ...environment, ...options.env },
    stdio: ['ignore', log, log],
    // A group of its own: Ctrl-C reaches only the runner, and what the child started can be ended with it.
    detached: true,
    ...options.user,
  };
  const child = spawn(command, args, spawnOptions);
  closeSync(log);
  const exited = new Promise<ChildExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => reject(new Error(`${options.name}: cannot run ${options.command}`, { cause })));
  });
  const pid = child.pid as number;
  const pidFile = path.join(options.pidFolder, `${options.name}.json`);
  const identity = findProcess(pid);
  try {
    if (identity)
      writeFileSync(
        pidFile,
        JSON.stringify({ ...identity, stopSignal: options.stopSignal, folder: options.pidFolder } satisfies PidFile),
      );
  } catch (cause) {
    // A process that no later start would find must not stay.
    child.kill('SIGKILL');
    await exited;
    endGroup(pid);
    throw new Error(`${options.name}: cannot note its process: ${String(cause)}`, { cause });
  }
  let running = true;
  void exited.then(() => {
    running = false;
    endGroup(pid);
    if (readJson<PidFile>(pidFile)?.pid === pid) rmSync(pidFile, { force: true });
  });
  const kill = (signal: NodeJS.Signals) => void (running && child.kill(signal));
  return {
    name: options.name,
    pid,
    exited,
    isRunning: () => running,
    kill,
    stop: async (graceMs = 15_000) => {
      kill(options.stopSignal);
      const force = setTimeout(() => kill('SIGKILL'), graceMs);
      const exit = await exited;
      clearTimeout(force);
      return exit;
    },
  };
}

/** Ends what an exited group leader left running (an encoder's ffmpeg). */
function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // Nothing was left.
  }
}

/** Ends the children that a crashed runner left behind in `pidFolder`; pids that now belong to others are left alone. */
export async function endLeftovers(pidFolder: string, graceMs = 15_000): Promise<readonly string[]> {
  let files: string[];
  try {
    files = readdirSync(pidFolder).filter((file) => file.endsWith('.json'));
  } catch {
    return [];
  }
  const ended = await Promise.all(
    files.map(async (file) => {
      const left = readJson<PidFile>(path.join(pidFolder, file));
      const alive = left !== undefined && (left.folder ?? pidFolder) === pidFolder && isAlive(left);
      if (alive) {
        await endProcess(left, left.stopSignal, graceMs);
        endGroup(left.pid);
      }
      rmSync(path.join(pidFolder, file), { force: true });
      return alive ? path.basename(file, '.json') : [];
    }),
  );
  return ended.flat();
}

/** The last lines of a log, to show why a child did not start. */
export function tailOf(logFile: string, fromByte = 0, lines = 20): string {
  try {
    const size = statSync(logFile).size;
    const text = readFileSync(logFile).subarray(Math.min(fromByte, size)).toString('utf8');
    return text.trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '';
  }
}

/**
 * Polls `check` until it holds. Rejects when the child exits first or after `timeoutMs`, with the end of its log.
 * @param check may reject or answer false: not yet
 */
export async function waitUntilReady(
  child: Child,
  logFile: string,
  check: () => Promise<boolean>,
  timeoutMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (child.isRunning() && performance.now() < deadline) {
    if (await check().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  const reason = child.isRunning() ? `is not ready after ${timeoutMs / 1000} s` : 'stopped while starting';
  if (child.isRunning()) await child.stop(2_000);
  throw new Error(`${child.name} ${reason}. Its log ${logFile} ends with:\n${tailOf(logFile)}`);
}
