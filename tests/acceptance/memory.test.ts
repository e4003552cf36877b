import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runJob } from '@longwave/local/job';
import { residentMegabytes } from '@longwave/test-kit/resident-memory';
import { samples } from '@longwave/local/samples';
import { startTestFleet, type TestFleet } from '../_fleet.ts';

let world: TestFleet;
beforeAll(async () => {
  world = await startTestFleet();
});
afterAll(async () => world?.[Symbol.asyncDispose]());

test('the whole fleet, engines included, stays within 1.5 GB resident after it has worked', async () => {
  const quiet = {
    step: async (_name: string, run: (progress: () => void) => Promise<string>) => void (await run(() => undefined)),
  };
  expect((await runJob({ fleet: world.fleet, audio: samples.audio, ad: samples.ad, report: quiet })).ok).toBe(true);
  const used = residentMegabytes();
  const total = used.reduce((sum, { megabytes }) => sum + megabytes, 0);
  console.log(`fleet resident: ${Math.round(total)} MB in ${used.length} processes`);
  // Seven services, PostgreSQL, Redis and the object store: fewer would mean that the count misses some.
  expect(used.filter(({ command }) => command.includes('dist/main.js'))).toHaveLength(7);
  expect(total).toBeLessThan(1500);
});
