import { execFile } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { workspaceRoot } from '@longwave/fleet';
import { namesOf, services } from '@longwave/services';
import { startTestFleet, type TestFleet } from '../_fleet.ts';

const script = path.join(workspaceRoot, 'apps/cli/src/main.ts');
let world: TestFleet;

beforeAll(async () => {
  world = await startTestFleet();
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

/** A command of the operator, while this process goes on. */
function longwave(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], { encoding: 'utf8' }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}
const onWorld = () => ['--data', world.fleet.dataFolder];

/** Everything that the operator reads about this installation, by part and name. */
async function statusOf(...options: string[]) {
  const { status, stdout } = await longwave('status', '--json', ...options, ...onWorld());
  const { checks } = JSON.parse(stdout) as { checks: { part: string; name: string; well: boolean; says: string }[] };
  return { status, checks, failing: checks.flatMap(({ name, well }) => (well ? [] : [name])) };
}

test('status says that every service and engine is well, and is not well once a service is away', async () => {
  const { status, checks, failing } = await statusOf();
  expect({ status, failing }).toEqual({ status: 0, failing: [] });
  const of = (part: string) => checks.flatMap((check) => (check.part === part ? [check.name] : []));
  expect(of('services')).toEqual(namesOf(services));
  expect(of('engines')).toEqual(['PostgreSQL', 'Redis', 'object store']);
  expect(of('relay')).toEqual(expect.arrayContaining(['product.events', 'identity.events']));
  expect(of('followers')).toEqual(expect.arrayContaining(['analytics-sink of delivery.facts']));
  expect(of('dead letters')).toEqual(expect.arrayContaining(of('followers')));
  expect(await statusOf('--max-backup-age', '1')).toMatchObject({ status: 1, failing: ['last'] });
  await world.fleet.services['mcp-server'].stop();
  expect(await statusOf()).toMatchObject({ status: 1, failing: ['mcp-server'] });
  await world.fleet.services['mcp-server'].start();
});
