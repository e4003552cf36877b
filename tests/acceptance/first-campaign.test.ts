import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { samples } from '@longwave/local/samples';
import { signUp, type Person } from '@longwave/test-kit/clients';
import { makeCredentials } from '../_credentials.ts';
import { publishPodcast, type Installation } from '../_fleet.ts';
import { openSharedInstallation } from '../_shared-installation.ts';
import { managementToken, signedIn, workspaceOf } from '../_signed-in.ts';
import { runBlock, runTour } from '../_tour.ts';

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
let world: Installation;
beforeAll(async () => {
  world = await openSharedInstallation();
});
afterAll(async () => world?.[Symbol.asyncDispose]());

/** Runs what the pages of reconciliations and makegoods show, with a line item that has delivered one ad of a thousand. */
async function reconcileAndMakeGood(person: Person, lineItem: string): Promise<void> {
  const today = `${new Date().toISOString().slice(0, 10)}T00:00:00Z`;
  const counts = path.join(world.folder, 'counts.csv');
  writeFileSync(counts, `Line item ID,Date,Impressions\n${lineItem},${today.slice(0, 10)},90\n`);
  const shell = {
    ...{ XDG_CONFIG_HOME: await signedIn(world, person), HOME: world.folder, LINE: lineItem, COUNTS: counts },
    ...{ START: today, END: new Date(Date.parse(today) + 86_400_000).toISOString() },
  };
  const matched = await runBlock('docs/reconciliation.md', 'reconcile', shell);
  expect(matched).toMatch(/"theirs": 90/);
  const [reconciliation] = /rec_[0-9a-z]{26}/.exec(matched)!;
  const decided = await runBlock('docs/reconciliation.md', 'decide', { ...shell, RECONCILIATION: reconciliation });
  expect(decided).toMatch(/^item +source .*\n[\s\S]*\nsucceeded\n$/);
  const shown = async (...words: string[]) =>
    (await run('npx', ['longwave', 'manage', ...words], { cwd: root, env: { PATH: process.env['PATH'], ...shell } }))
      .stdout;
  expect(await shown('funnel', lineItem)).toMatch(/^ {2}confirmed +1$/m);
  expect(await shown('alerts', '--state', 'open')).toBe('There are none.\n');
  const stop = ['manage', 'run', 'line_item.stop', lineItem, '--cause', 'It is over.', '--wait'];
  await run('npx', ['longwave', ...stop], { cwd: root, env: { PATH: process.env['PATH'], ...shell } });
  const made = await runBlock('docs/makegoods.md', 'makegood', shell);
  expect(made).toMatch(/^succeeded\nsucceeded\n/);
  expect(made).toMatch(/"line_item_id": "li_[0-9a-z]{26}"/);
}

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
  expect(JSON.parse(why)).toMatchObject({
    candidates: [
      { break_key: 'pre', verdict: 'won' },
      { break_key: 'mid', verdict: 'targeting_position' },
    ],
    picks: [expect.anything()],
  });
  await reconcileAndMakeGood(ada, /^li_[0-9a-z]{26}/m.exec(stdout)![0]);
});
