import { readFileSync } from 'node:fs';
import { processesBelow } from './processes-below.ts';

/**
 * Every process below this one, with its resident memory in MB; pages that processes share (those of PostgreSQL) are counted
 * once (Linux: proportional set size of /proc).
 */
export function residentMegabytes(): readonly { readonly command: string; readonly megabytes: number }[] {
  return processesBelow().flatMap(({ pid, command }) => {
    try {
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
      return [{ command, megabytes: Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024 }];
    } catch {
      return [];
    }
  });
}
