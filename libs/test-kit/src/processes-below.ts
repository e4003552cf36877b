import { readdirSync, readFileSync } from 'node:fs';

/** A process as /proc tells of it (Linux). */
export interface ProcessBelow {
  readonly pid: number;
  readonly command: string;
}

/** Every process below this one, children of children too; empty where there is no /proc. */
export function processesBelow(): readonly ProcessBelow[] {
  const processes = pids().flatMap((pid) => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return [{ pid, command, parent: Number(/^PPid:\s+(\d+)/m.exec(status)?.[1] ?? 0) }];
    } catch {
      // It ended meanwhile.
      return [];
    }
  });
  const below = new Set([process.pid]);
  for (let grew = true; grew;) {
    const before = below.size;
    for (const { pid, parent } of processes) if (below.has(parent)) below.add(pid);
    grew = below.size > before;
  }
  return processes
    .filter(({ pid }) => pid !== process.pid && below.has(pid))
    .map(({ pid, command }) => ({ pid, command }));
}

function pids(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}
