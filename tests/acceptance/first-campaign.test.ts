import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { samples } from '@longwave/local/samples';
import { getAccessToken, registerConnector, signUp } from '@longwave/test-kit/clients';
import { makeCredentials } from '../_credentials.ts';
import { publishPodcast, type Installation } from '../_fleet.ts';
import { openSharedInstallation } from '../_shared-installation.ts';
import { runTour } from '../_tour.ts';

const root = path.resolve(import.meta.dirname, '../..');
let world: Installation;
beforeAll(async () => {
  world = await openSharedInstallation();
});
afterAll(async () => world?.[Symbol.asyncDispose]());

/** The settings folder of somebody who has run `longwave login --for management`. */
async function signedIn(person: Awaited<ReturnType<typeof signUp>>): Promise<string> {
  const { base, api } = world.fleet.urls;
  const resource = `${api}/management/v1`;
  const scopes = ['management:read', 'management:write'];
  const clientId = await registerConnector(world);
  const session = {
    ...{ issuer: base, resource, scope: scopes.join(' ') },
    access_token: await getAccessToken(person, { base, clientId, resource, scopes }),
    expires_at: new Date(Date.now() + 14 * 60_000).toISOString(),
  };
  const settings = path.join(world.folder, 'settings');
  mkdirSync(path.join(settings, 'longwave'), { recursive: true });
  writeFileSync(path.join(settings, 'longwave/sign-in.json'), JSON.stringify({ management: session }), { mode: 0o600 });
  return settings;
}

test('the page that books a first campaign runs as it is written, from the advertiser to the report of one ad', async () => {
  const ada = await signUp(world, 'Ada');
  await world.operator.changeIdentity(ada.accountId, 'account.set_plan', { plan: 'network' });
  const { apiKey } = await makeCredentials(ada);
  const podcaster = await publishPodcast(world, { apiKey });
  const { productionId } = await podcaster.newProduction(samples.audio);
  await podcaster.rest.post(`/productions/${productionId}/start?publish_episode=true`);
  await podcaster.state(productionId, 'encoded');
  const stdout = await runTour(
    world,
    'docs/first-campaign.md',
    {
      XDG_CONFIG_HOME: await signedIn(ada),
      HOME: world.folder,
      FEED: podcaster.feedUrl,
      PODCAST: podcaster.podcastId,
      AD: samples.ad,
    },
    { cwd: root },
  );
  expect(stdout).toMatch(/^li_[0-9a-z]{26} +version \d+ +(booked|delivering) /m);
  expect(stdout).toMatch(/^line_item,ads_delivered\r?\nli_[0-9a-z]{26},1\r?$/m);
  expect(stdout).toMatch(/^version 1 {2}draft /m);
});
