import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process that cannot be confused with a later one that got the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque: when the process started, as the system tells it. */
  readonly startedAt: string;
}

/** When the living process `pid` started; undefined when there is none (a zombie counts as none). */
function findStart(pid: number): string | undefined {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
      return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()} ${fields[19]}`;
    } catch {
      return undefined;
    }
  }
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout?.trim() || undefined;
}

/** The identity of a living process, or undefined. */
export function findProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = findStart(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** Whether exactly this process still lives. */
export function isAlive(identity: ProcessIdentity): boolean {
  const startedAt = findStart(identity.pid);
  return startedAt !== undefined && startedAt === identity.startedAt;
}

/** Ends a process: `signal`, and SIGKILL when it still lives after `graceMs`. Resolves when it is gone. */
export async function endProcess(identity: ProcessIdentity, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  const send = (with_: NodeJS.Signals) => {
    try {
      if (isAlive(identity)) process.kill(identity.pid, with_);
    } catch {
      // It went away in between.
    }
  };
  const deadline = performance.now() + graceMs;
  send(signal);
  for (let killed = false; isAlive(identity);) {
    if (!killed && performance.now() > deadline) {
      send('SIGKILL');
      killed = true;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
