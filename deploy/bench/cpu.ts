import { readFileSync } from 'node:fs';
import { processesBelow } from '@longwave/test-kit/processes-below';

/** CPU time in µs (user and system) that one item took, by the name of the program; the largest first. */
export type CpuPerItem = readonly { readonly program: string; readonly micros: number }[];

/** Programs that make the load, or only run beside it. */
const loadPrograms = ['wrk', 'open-load'];
/** /proc counts in ticks of 10 ms: USER_HZ is 100 on every Linux that Node runs on. */
const microsPerTick = 10_000;

/** A service by its folder, an engine by its program, a baseline of this folder by its file. */
function programOf(command: string): string {
  const [first = ''] = command.split(' ');
  const service = /\/(?:apps|deploy\/bench)\/([a-z0-9-]+)/.exec(command)?.[1];
  if (service !== undefined) return service;
  const name = first.slice(first.lastIndexOf('/') + 1).replace(/[^a-z0-9-].*$/, '');
  return name === '' ? 'other' : name;
}

/**
 * Ticks of user and system time of a process and of its children that have ended: fields 14 to 17 of /proc/{pid}/stat, behind a name that
 * may contain anything in parentheses.
 */
function ticksOf(pid: number | 'self'): { readonly own: number; readonly ended: number } {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number) as [number, number, number, number];
    return { own: user + system, ended: endedUser + endedSystem };
  } catch {
    return { own: 0, ended: 0 };
  }
}

/**
 * Starts to watch the CPU time of this process (as `client`) and of every one below it. Answers how to read what was spent since; with
 * `byPrograms`, also by programs that began and ended meanwhile, which otherwise make the load.
 */
export function watchCpu(): (items: number, byPrograms?: boolean) => CpuPerItem {
  const before = new Map(processesBelow().map(({ pid }) => [pid, ticksOf(pid).own]));
  const ended = ticksOf('self').ended;
  const own = process.cpuUsage();
  return (items, byPrograms = false) => {
    const { user, system } = process.cpuUsage(own);
    const spent = new Map([['client', user + system]]);
    for (const { pid, command } of processesBelow()) {
      const program = programOf(command);
      if (loadPrograms.includes(program)) continue;
      const micros = (ticksOf(pid).own - (before.get(pid) ?? 0)) * microsPerTick;
      spent.set(program, (spent.get(program) ?? 0) + micros);
    }
    if (byPrograms) spent.set('programs', (ticksOf('self').ended - ended) * microsPerTick);
    return [...spent]
      .map(([program, micros]) => ({ program, micros: micros / items }))
      .sort((a, b) => b.micros - a.micros);
  };
}

/** "269 µs (public-delivery 200, redis-server 60)": the sum, and the programs that took at least a twentieth of it. */
export function renderCpu(cpu: CpuPerItem): string {
  const round = (micros: number) => (micros >= 10 ? Math.round(micros) : Number(micros.toPrecision(2)));
  const sum = cpu.reduce((all, { micros }) => all + micros, 0);
  const large = cpu.filter(({ micros }) => micros >= sum / 20);
  return `${round(sum)} µs (${large.map(({ program, micros }) => `${program} ${round(micros)}`).join(', ')})`;
}
