import { readdirSync, readFileSync } from 'node:fs';

const field = (text: string, name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);

/**
 * Every process below this one, with its resident memory in MB; pages that processes share (those of PostgreSQL) are counted
 * once (Linux: proportional set size of /proc).
 */
export function residentMegabytes(): readonly { readonly command: string; readonly megabytes: number }[] {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8');
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return [
          {
            pid: Number(pid),
            parent: field(status, 'PPid'),
            command,
            proportional: field(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), 'Pss'),
          },
        ];
      } catch {
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
    .map(({ command, proportional }) => ({ command, megabytes: proportional / 1024 }));
}
