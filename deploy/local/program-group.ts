import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { plainVariables } from './settings.ts';

/** A running program, together with what it starts. */
export interface ProgramGroup {
  /** Resolves to the exit code; it is 1 after a signal. */
  readonly ended: Promise<number>;
  readonly isRunning: () => boolean;
  /** Reaches every process of the group. */
  readonly signal: (signal: NodeJS.Signals) => void;
}

/** Also the settings of `npm start` without a prefix: a proof sends no mails. */
const plain: ReadonlySet<string> = new Set(plainVariables.map((name) => name.toUpperCase()));
const own = /^(LONGWAVE_|npm_lifecycle_|npm_package_|(INIT_CWD|NODE_COMPILE_CACHE)$)/;

/** What a program gets of our environment: nothing that npm, a launcher or a person set for this command alone. */
const environment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !plain.has(name) && !own.test(name)));

/**
 * Starts a program as the head of a group, so that a Ctrl-C reaches it by `signal` alone.
 * @param onLine gets each line of both of its outputs
 */
export function startGroup(
  command: string,
  args: readonly string[],
  { cwd, onLine }: { readonly cwd: string; readonly onLine: (line: string) => void },
): ProgramGroup {
  const child = spawn(command, args, { cwd, env: environment(), stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', onLine);
  let isRunning = true;
  const ended = new Promise<number>((resolve) => {
    child.once('error', (error) => {
      onLine(error.message);
      resolve(1);
    });
    child.once('exit', (code) => resolve(code ?? 1));
  });
  void ended.then(() => (isRunning = false));
  return {
    ended,
    isRunning: () => isRunning,
    signal: (signal) => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, signal);
      } catch {
        // Nothing of it is left.
      }
    },
  };
}
