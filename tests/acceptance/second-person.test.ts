import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import { signUp } from '@longwave/test-kit/clients';
import type { Installation } from '../_fleet.ts';
import { openSharedInstallation } from '../_shared-installation.ts';
import { managementToken, signedIn, workspaceOf } from '../_signed-in.ts';
import { runBlock } from '../_tour.ts';

const page = 'docs/management-api.md';
let world: Installation;
beforeAll(async () => {
  world = await openSharedInstallation();
});
afterAll(async () => world?.[Symbol.asyncDispose]());

test('a policy, a role for a second person and a command that is withdrawn work as the pages write them', async () => {
  const [ada, ben] = [await signUp(world, 'Ada'), await signUp(world, 'Ben')];
  const { base: BASE, api: API_URL } = world.fleet.urls;
  const adasToken = await managementToken(world, ada);
  const WORKSPACE = await workspaceOf(world, adasToken);
  const alone = { XDG_CONFIG_HOME: await signedIn(world, ada), HOME: world.folder, EMAIL: ben.email };
  const policy = await runBlock('docs/policies.md', 'policy', alone);
  expect(policy).toMatch(/^succeeded\n\{[^]*"lifecycle_state": "(scheduled|active)"/);

  const proposed = JSON.parse(await runBlock(page, 'roles', alone));
  expect(proposed).toMatchObject({ lifecycle_state: 'proposed', attributes: { grantee: { email: ben.email } } });
  const TOKEN = await managementToken(world, ben);
  const accepted = await runBlock(page, 'accept', { API_URL, WORKSPACE, TOKEN, GRANT: proposed.id });
  expect(JSON.parse(accepted)).toMatchObject({ command_type: 'authority_grant.activate', state: 'succeeded' });
  await until(async () => {
    const seen = await fetch(`${API_URL}/management/v1/workspaces`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    return (await seen.text()).includes(WORKSPACE);
  });

  /** Sends a command of Ada's about an advertiser; answers its subject. */
  async function send(name: string, subject: object, changes: object) {
    const answer = await fetch(`${API_URL}/management/v1/workspaces/${WORKSPACE}/commands/advertiser.${name}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adasToken}`, 'content-type': 'application/json', 'idempotency-key': name },
      body: JSON.stringify({ subject: { type: 'advertisers', ...subject }, changes }),
    });
    return ((await answer.json()) as { readonly subject: { readonly id: string; readonly version: number } }).subject;
  }
  const { id: ID } = await send('create', { id: null }, { legal_name: 'Tea', brands: [], ad_product_categories: [] });
  await send('revise', { id: ID, version: 1 }, { billing_ref: 'D-17' });
  const shown = await runBlock(page, 'cancel', {
    ...{ BASE, API: `${API_URL}/management/v1`, WORKSPACE, TOKEN: adasToken },
    ID,
  });
  const [waiting, cancel, cancelled] = shown
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(waiting).toMatchObject({ state: 'waiting_review' });
  expect(cancel).toMatchObject({ state: 'succeeded', consequences: [{ state: 'withdrawn' }] });
  expect(cancelled).toMatchObject({ id: waiting.id, state: 'cancelled' });
});
