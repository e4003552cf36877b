import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { samples } from '@longwave/local/samples';
import { signUp } from '@longwave/test-kit/clients';
import { makeCredentials } from '../_credentials.ts';
import { publishPodcast, type Installation } from '../_fleet.ts';
import { openSharedInstallation } from '../_shared-installation.ts';
import { managementToken, signedIn, workspaceOf } from '../_signed-in.ts';
import { runBlock, runTour } from '../_tour.ts';

const root = path.resolve(import.meta.dirname, '../..');
let world: Installation;
beforeAll(async () => {
  world = await openSharedInstallation();
});
afterAll(async () => world?.[Symbol.asyncDispose]());

test('the page that books a first campaign runs as it is written, from the advertiser to the report of one ad', async () => {
  const ada = await signUp(world, 'Ada');
  await world.operator.changeIdentity(ada.accountId, 'account.set_plan', { plan: 'network' });
  const { apiKey } = await makeCredentials(ada);
  const podcaster = await publishPodcast(world, { apiKey });
  const { productionId } = await podcaster.newProduction(samples.audio);
  await podcaster.rest.post(`/productions/${productionId}/start?publish_episode=true`);
  await podcaster.state(productionId, 'encoded');
  const person = { XDG_CONFIG_HOME: await signedIn(world, ada), HOME: world.folder };
  const stdout = await runTour(
    world,
    'docs/first-campaign.md',
    {
      ...person,
      FEED: podcaster.feedUrl,
      PODCAST: podcaster.podcastId,
      AD: samples.ad,
    },
    { cwd: root },
  );
  expect(stdout).toMatch(/^li_[0-9a-z]{26} +version \d+ +(booked|delivering) /m);
  expect(stdout).toMatch(/^line_item,ads_delivered\r?\nli_[0-9a-z]{26},1\r?$/m);
  expect(stdout).toMatch(/^version 1 {2}draft /m);
  const forecast = await runBlock('docs/forecasts.md', 'forecast', person);
  expect(forecast).toContain('learning_podcasts');
  const page = 'docs/management-api.md';
  const workspace = await workspaceOf(world, await managementToken(world, ada));
  const why = await runBlock(page, 'why', {
    ...{ API_URL: world.fleet.urls.api, WORKSPACE: workspace },
    TOKEN: await managementToken(world, ada, ['management:diagnostics']),
    LINE: /^li_[0-9a-z]{26}/m.exec(stdout)![0],
  });
  expect(JSON.parse(why)).toMatchObject({ candidates: [{ verdict: 'won' }], picks: [expect.anything()] });
});
