import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { samples } from '@longwave/local/samples';
import { signUp } from '@longwave/test-kit/clients';
import { startOutsideHost } from '../_outside-host.ts';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';
import { signedIn } from '../_signed-in.ts';
import { runBlock, runTour } from '../_tour.ts';

const root = path.resolve(import.meta.dirname, '../..');
const page = 'docs/hosting-exchange.md';
const run = promisify(execFile);

let world: SharedInstallation;
beforeAll(async () => {
  world = await openSharedInstallation();
});
afterAll(async () => world?.[Symbol.asyncDispose]());

/** Registers the client by the operator's line of the page; answers its secret. */
async function registerClient(workspaceId: string, authorityId: string): Promise<string> {
  const line = readFileSync(path.join(root, page), 'utf8')
    .split('\n')
    .find((each) => each.startsWith('npx longwave client register'))!;
  const typed = line.replace('ws_…', workspaceId).replace('agr_…', authorityId);
  const { stdout } = await run('bash', ['-c', `${typed} --data ${world.fleet.dataFolder}`], { cwd: root });
  return (JSON.parse(stdout) as { client_secret: string }).client_secret;
}

test('the page that connects a hosting platform runs as it is written, from the authority to the first served alias', async () => {
  const ada = await signUp(world, 'Ada');
  await world.operator.changeIdentity(ada.accountId, 'account.set_plan', { plan: 'network' });
  const { workspace_id: workspaceId } = await world.operator.account(ada.accountId);
  const person = { XDG_CONFIG_HOME: await signedIn(world, ada), HOME: world.folder };
  const authorityId = (await runBlock(page, 'grant', person)).trim();
  expect(authorityId).toMatch(/^agr_/);
  const secret = await registerClient(workspaceId, authorityId);

  await using host = await startOutsideHost(world.outsidePort);
  host.files.set('/audio/first-light.mp3', { type: 'audio/mpeg', path: samples.audio });
  const { base, api, media } = world.fleet.urls;
  const stdout = await runTour(
    world,
    page,
    {
      ...person,
      ...{ BASE: base, API_URL: api, MEDIA_URL: media, TMPDIR: world.folder },
      ...{ WORKSPACE: workspaceId, AUTHORITY: authorityId, LONGWAVE_EXCHANGE_SECRET: secret },
      AUDIO: `${host.origin}/audio/first-light.mp3`,
    },
    { cwd: root },
  );
  expect(stdout).toContain('"state": "ready"');
  expect(stdout).toMatch(/"route": "platform_controlled"/);
  expect(stdout).toMatch(/"intent_id": "\w+",\n +"intent_version"/);
  expect(stdout).toContain('"whole": true');
  expect(stdout).toContain('"messages": 3');
  expect(stdout).toMatch(/"downloads": 4711\s+\},\s+"ours": \{\s+"downloads": 0/);
  const { stdout: heard } = await run('bash', ['-c', `ls ${world.folder}/tmp.*/heard.mp3`]);
  expect(statSync(heard.trim()).size).toBeGreaterThan(10_000);
}, 300_000);
