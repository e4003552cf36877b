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

/** The five neighbouring ports of a start, unless the service that runs on this data folder has them. */
async function checkPorts(base: number, isRunning: boolean): Promise<Check> {
  const ports = Array.from({ length: 5 }, (_, at) => base + at);
  const name = `ports ${base} to ${base + 4}`;
  if (isRunning)
    return { part: 'machine', name, well: true, says: 'not looked at: the service of this data folder runs' };
  const free = await Promise.all(ports.map((port) => isPortFree(port)));
  const taken = ports.filter((_, at) => !free[at]);
  return {
    part: 'machine',
    name,
    well: taken.length === 0,
    says: taken.length === 0 ? 'free' : `used by another program: ${taken.join(', ')}`,
    ...(taken.length > 0 && { advice: `Choose others: npm start -- --port-base ${base + 1_000}` }),
  };
}

export const checkMachine = async (portBase: number, isRunning: boolean): Promise<readonly Check[]> => [
  checkMemory(),
  checkClock(),
  await checkPorts(portBase, isRunning),
];
