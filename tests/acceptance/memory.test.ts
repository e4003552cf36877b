import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runJob } from '@longwave/local/job';
import { samples, startTestFleet, type TestFleet } from '../_fleet.ts';

let world: TestFleet;
beforeAll(async () => {
  world = await startTestFleet();
});
afterAll(async () => world?.[Symbol.asyncDispose]());

const field = (text: string, name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);

/** Every process below this one, with its resident memory in MB; shared pages of PostgreSQL's processes are counted once. */
function residentMegabytes(): readonly { readonly command: string; readonly megabytes: number }[] {
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

test('the whole fleet, engines included, stays within 1.5 GB resident after it has worked', async () => {
  const quiet = {
    step: async (_name: string, run: (progress: () => void) => Promise<string>) => void (await run(() => undefined)),
  };
  expect((await runJob({ fleet: world.fleet, audio: samples.episode, ad: samples.ad, report: quiet })).ok).toBe(true);
  const used = residentMegabytes();
  const total = used.reduce((sum, { megabytes }) => sum + megabytes, 0);
  console.log(`fleet resident: ${Math.round(total)} MB in ${used.length} processes`);
  // Seven services, PostgreSQL, Redis and the object store: fewer would mean that the count misses some.
  expect(used.filter(({ command }) => command.includes('dist/main.js'))).toHaveLength(7);
  expect(total).toBeLessThan(1500);
});
