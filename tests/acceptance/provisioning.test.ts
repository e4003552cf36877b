import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { verifyChain } from '@longwave/command-pipeline/receipts';
import { newId } from '@longwave/ids';
import { openChannel, readTls } from '@longwave/rpc';
import { ServingServiceService } from '@longwave/rpc/serving';
import { createBrowser, mailTo, until } from '@longwave/test-kit';
import {
  connectorRedirect,
  getAccessToken,
  mailFolderOf,
  playWithoutDetails,
  registerConnector,
  tokenIn,
} from '@longwave/test-kit/clients';
import { decodeJwt, type JWK } from 'jose';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';
import { runBlock } from '../_tour.ts';

let world: SharedInstallation;
beforeAll(async () => {
  world = await openSharedInstallation();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const root = () => `${world.fleet.urls.api}/management/v1`;

async function call(path: string, token: string, body?: object) {
  const response = await fetch(`${root()}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json', 'idempotency-key': 'first-workspace' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text) };
}

/** Signs up on the way to a program that asks to provision the workspace, and allows it. */
async function signUpToProvision(clientId: string) {
  const { base } = world.fleet.urls;
  const browser = createBrowser(base);
  const verifier = randomBytes(32).toString('base64url');
  const client = { client_id: clientId, redirect_uri: connectorRedirect };
  const request = new URLSearchParams({
    ...{ ...client, response_type: 'code', resource: root(), scope: 'management:bootstrap' },
    ...{ code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256' },
  });
  const path = (await browser.get(`/oauth/authorize?${request}`)).headers.get('location')!;
  const email = `${newId('usr')}@example.com`;
  await browser.post('/sign-up', { name: 'Eve', email, return_to: path }, {}, '/sign-up');
  const { link } = await mailTo(mailFolderOf(world), email);
  const finish = { token: tokenIn(link), email, password: newId('req'), return_to: path };
  const signedUp = await browser.post('/sign-up/finish', finish, {}, link);
  expect(signedUp.headers.get('location')).toBe(path);
  const page = await browser.get(path);
  expect(page.body).toContain('Set up the workspace of the account, once');
  const accountId = /name="account" value="([^"]+)"/.exec(page.body)![1]!;
  const allowed = await browser.post(
    `${path}/consent`,
    { account: accountId, scope: 'management:bootstrap' },
    {},
    path,
  );
  const resumed = await browser.get(allowed.headers.get('location')!);
  const code = new URL(resumed.headers.get('location')!).searchParams.get('code')!;
  const response = await fetch(`${base}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...client, grant_type: 'authorization_code', code, code_verifier: verifier }),
  });
  const { access_token: token } = (await response.json()) as { readonly access_token: string };
  return { person: { browser, accountId }, token };
}

/** The chain of auth-server's commands has the account, and the published keys verify it. */
async function expectVerifiableAuthority(workspaceId: string, token: string): Promise<void> {
  const response = await fetch(`${root()}/workspaces/${workspaceId}/receipts?chain=authority`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const chain = await response.text();
  const { keys } = (await (await fetch(`${root()}/keys`)).json()) as { readonly keys: readonly JWK[] };
  expect(await verifyChain(chain, keys)).toMatchObject({ ok: true, workspaceId });
  const receipts = chain
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly id: string; readonly jws: string });
  expect(receipts.map(({ jws }) => decodeJwt(jws)['command_type'])).toEqual(
    expect.arrayContaining(['user.create', 'account.create_without_workspace']),
  );
  const { id, jws } = receipts[0]!;
  expect((await call(`/workspaces/${workspaceId}/receipts/${id}`, token)).json).toMatchObject({ id, jws });
}

test('a person signs up for a program, which provisions the workspace, works in it, and reads a decision under a purpose', async () => {
  const clientId = await registerConnector(world);
  const { person, token } = await signUpToProvision(clientId);
  const tokenFor = (...scopes: string[]) =>
    getAccessToken(person, { base: world.fleet.urls.base, clientId, resource: root(), scopes });

  const early = await tokenFor('management:read', 'management:write');
  const page = 'docs/management-api.md';
  const environment = { API_URL: world.fleet.urls.api };
  const studio = { name: 'Harbour Light', currency: 'CHF', time_zone: 'Europe/Zurich' };
  const refused = await call('/workspace-provisioning', early, studio);
  expect([refused.status, refused.json.code]).toEqual([403, 'insufficient_scope']);
  const provisioned = await call('/workspace-provisioning', token, studio);
  expect(provisioned.status).toBe(200);
  const { operation, receipt } = provisioned.json;
  const workspaceId = operation.workspace_id as string;
  expect(receipt.statement).toMatchObject({ kind: 'authority', command_type: 'workspace.provision' });
  expect((await call('/workspace-provisioning', token, studio)).text).toBe(provisioned.text);
  expect(await runBlock(page, 'provisioning', { ...environment, TOKEN: token })).toBe(provisioned.text);
  expect((await call('/workspaces', token)).status).toBe(403);

  // The rights of the account come with the event of its workspace.
  await until('the rights', async () => {
    const { rows } = (await call('/workspaces', early)).json as { rows: { id: string; roles: string[] }[] };
    return rows.some(({ id, roles }) => id === workspaceId && roles.includes('owner'));
  });
  await expectVerifiableAuthority(workspaceId, early);
  const subject = { type: 'advertisers', id: null };
  const changes = { legal_name: 'Tidewater', brands: [], ad_product_categories: [] };
  const created = await call(`/workspaces/${workspaceId}/commands/advertiser.create`, early, { subject, changes });
  expect([created.status, created.json.state]).toEqual([200, 'succeeded']);

  const channel = openChannel(
    world.fleet.addresses['internal-serving'],
    'internal-serving',
    readTls(world.fleet.operator),
  );
  const decisionId = newId('dec');
  await channel.client(ServingServiceService).decide(
    {
      ...{ ...playWithoutDetails, decisionId, workspaceId, podcastId: newId('pod'), episodeId: newId('ep') },
      ...{ listenerBucket: Buffer.alloc(16, 7), breaks: [], streamFormat: 'mp3/128000/48000/2', country: 'CH' },
      atMs: BigInt(Date.now()),
    },
    { deadlineMs: 5_000 },
  );
  channel.close();
  const diagnostics = await tokenFor('management:diagnostics');
  const found = await call(`/workspaces/${workspaceId}/decisions?outcome=empty`, diagnostics);
  expect(found.json.rows).toMatchObject([{ decision_id: decisionId, no_ad_reason: 'no_plan' }]);
  const trace = await call(`/workspaces/${workspaceId}/decisions/${decisionId}/trace`, diagnostics);
  expect([trace.status, trace.json]).toMatchObject([
    200,
    {
      ...{ decision_id: decisionId, no_ad_reason: 'no_plan', replay: { status: 'identical' } },
      request_class: { country: 'CH', listener_bucket: 'present' },
    },
  ]);
  const shown = await runBlock(page, 'diagnostics', {
    ...{ ...environment, WORKSPACE: workspaceId },
    ...{ TOKEN: diagnostics, READER: early },
  });
  expect(shown).toContain(JSON.stringify(trace.json).slice(0, 60));
  expect(shown).toContain('"action":"trace"');
  const unknown = await call(`/workspaces/${workspaceId}/decisions/${newId('dec')}/trace`, diagnostics);
  expect(unknown.status).toBe(404);
  const { json } = await call(`/workspaces/${workspaceId}/diagnostics-accesses`, early);
  expect(json.rows).toMatchObject([
    { action: 'trace', outcome: 'not_found', purposes: ['quality_assurance'] },
    { action: 'trace', outcome: 'answered', decision_id: decisionId },
    { action: 'search', outcome: 'answered', question: { outcome: 'empty' } },
    { action: 'trace', outcome: 'answered', decision_id: decisionId },
    { action: 'search', outcome: 'answered', question: { outcome: 'empty' } },
  ]);
});
