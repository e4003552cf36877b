import { spawnSync } from 'node:child_process';
import os from 'node:os';
import { isPortFree } from '@longwave/fleet/running';
import type { Check } from '../checks/check.ts';
import { describeBytes } from '../checks/sizes.ts';

/** All services and engines at rest take about a gigabyte. */
const leastMemoryBytes = 2 * 1024 ** 3;

function checkMemory(): Check {
  const total = os.totalmem();
  const well = total >= leastMemoryBytes * 0.95;
  return {
    part: 'machine',
    name: 'memory',
    well,
    says: describeBytes(total),
    ...(!well && { advice: `Services and engines need ${describeBytes(leastMemoryBytes)} together.` }),
    value: total,
    unit: 'bytes',
  };
}

/** Whether the system keeps the clock right, as systemd says it; other systems do not tell. */
function checkClock(): Check {
  const { status, stdout } = spawnSync('timedatectl', ['show', '--property=NTPSynchronized', '--value'], {
    encoding: 'utf8',
    timeout: 5_000,
  });
  const isKnown = status === 0 && /^(yes|no)\n$/.test(stdout);
  const well = !isKnown || stdout === 'yes\n';
  const says = isKnown
    ? well
      ? 'synchronised'
      : 'not synchronised'
    : 'this system does not say whether it is synchronised';
  return {
    part: 'machine',
    name: 'clock',
    well,
    says,
    ...(!well && {
      advice: 'Turn NTP on: sudo timedatectl set-ntp true. Tokens, leases and counted hours depend on the time.',
    }),
  };
}

/** Where a start listens publicly. */
interface PublicListener {
  /** An address of the machine. */
  readonly host: string;
  /** The first of five neighbouring ports. */
  readonly base: number;
}

/** The five neighbouring ports of a start, unless the service that runs on this data folder has them. */
async function checkPorts({ host, base }: PublicListener, isRunning: boolean): Promise<Check> {
  const ports = Array.from({ length: 5 }, (_, at) => base + at);
  const named = { part: 'machine', name: `ports ${base} to ${base + 4}` };
  if (isRunning) return { ...named, well: true, says: 'not looked at: the service of this data folder runs' };
  try {
    const free = await Promise.all(ports.map((port) => isPortFree(port, host)));
    const taken = ports.filter((_, at) => !free[at]);
    if (taken.length === 0) return { ...named, well: true, says: host === '127.0.0.1' ? 'free' : `free at ${host}` };
    return {
      ...named,
      well: false,
      says: `used by another program: ${taken.join(', ')}`,
      advice: `Choose others: npm start -- --port-base ${base + 1_000}`,
    };
  } catch (error) {
    return {
      ...named,
      well: false,
      says: (error as Error).message,
      advice: 'Set listen to an address of this machine, or to 0.0.0.0 for all, and port_base to 1024 or more.',
    };
  }
}

/** @param listener undefined: where a start listens is not known, and not looked at */
export const checkMachine = async (
  listener: PublicListener | undefined,
  isRunning: boolean,
): Promise<readonly Check[]> => [
  checkMemory(),
  checkClock(),
  ...(listener === undefined ? [] : [await checkPorts(listener, isRunning)]),
];
