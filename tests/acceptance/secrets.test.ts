import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { namesOf, services } from '@longwave/services';
import { createBrowser, mailTo } from '@longwave/test-kit';
import {
  createAccount,
  mailFolderOf,
  signUp,
  tokenIn,
  type Person,
  registerConnector,
} from '@longwave/test-kit/clients';
import * as openid from 'openid-client';
import { Secret, TOTP } from 'otpauth';
import { grantAccess } from '../_agent-access.ts';
import { makeCredentials } from '../_credentials.ts';
import { grantMachineAccess } from '../_machine-access.ts';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';
import { keysOf, newestLogs, placesOf, tablesOf } from '../_stored-texts.ts';

let world: SharedInstallation;
/** One person for all tests: an installation mails twenty sign-ups of one sender an hour. */
let ada: Person;
beforeAll(async () => {
  world = await openSharedInstallation();
  ada = await signUp(world, 'Ada');
}, 120_000);
afterAll(async () => world[Symbol.asyncDispose]());

/** Secrets by what they are; a test adds those that it comes by. */
type Secrets = Record<string, string | undefined>;

/** Sends a credential to every API, as a bearer and in the header of REST API v1. */
async function sendEverywhere(credential: string): Promise<void> {
  const { base, mcp, api } = world.fleet.urls;
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_account', arguments: {} } };
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const authorization = `Bearer ${credential}`;
  await Promise.all([
    fetch(`${base}/api/v1/podcasts`, { headers: { authorization } }),
    fetch(`${base}/api/v1/podcasts`, { headers: { token: credential } }),
    fetch(`${base}/api/v1/podcasts?token=${credential}`),
    fetch(`${mcp}/mcp`, { method: 'POST', headers: { authorization, ...json }, body: JSON.stringify(call) }),
    fetch(`${api}/audience/v1/watermarks?producer=acme`, { headers: { authorization } }),
    fetch(`${base}/oauth/revoke`, { method: 'POST', body: new URLSearchParams({ token: credential }) }),
  ]);
}

/** Signs in again, wrongly and rightly, and chooses another password by mail. */
async function forgetPassword(ada: Person): Promise<Secrets> {
  const [browser, chosen, wrong] = [createBrowser(world.fleet.urls.base), newId('req'), newId('req')];
  const signIn = (password: string) => browser.post('/sign-in', { email: ada.email, password }, {}, '/sign-in');
  await signIn(wrong);
  await signIn(ada.password);
  const earlier = browser.cookies.get('lw_session');
  await browser.post('/sign-up', { name: 'Again', email: ada.email }, {}, '/sign-up');
  const again = await mailTo(mailFolderOf(world), ada.email, 2);
  await browser.post('/sign-in/reset', { email: ada.email }, {}, '/sign-in/reset');
  const { link } = await mailTo(mailFolderOf(world), ada.email, 3);
  await browser.post('/sign-in/reset/finish', { token: tokenIn(link), email: ada.email, password: chosen }, {}, link);
  return {
    ...{ 'a wrong password': wrong, 'the chosen password': chosen, 'the ended session': earlier },
    ...{ 'the link to the known': tokenIn(again.link), 'the link to reset': tokenIn(link) },
    ...Object.fromEntries([...browser.cookies].map(([name, value]) => [`the other browser's ${name}`, value])),
  };
}

/** Switches codes at sign-in on, and signs in with a recovery code. */
async function useCodes(person: Person): Promise<Secrets> {
  const page = '/settings/security/second-factor';
  const { body } = await person.browser.get(page);
  const shown = /<code class="secret">([^<]+)<\/code>/.exec(body)![1]!;
  const secret = Secret.fromBase32(shown.replaceAll(' ', ''));
  const fields = { code: TOTP.generate({ secret }), sealed: /name="sealed" value="([^"]+)"/.exec(body)![1]! };
  const answer = await person.browser.post(`${page}/on`, fields, {}, page);
  const codes = [...answer.body.matchAll(/<li><code>([0-9a-z-]+)<\/code><\/li>/g)].map(([, code]) => code!);
  const browser = createBrowser(world.fleet.urls.base);
  const { email, password } = person;
  await browser.post('/sign-in', { email, password }, {}, '/sign-in');
  const waiting = browser.cookies.get('lw_wait');
  const signedIn = await browser.post('/sign-in/code', { code: codes[0]! }, {}, '/sign-in/code');
  expect([codes.length, signedIn.status]).toEqual([10, 303]);
  return {
    ...{ 'the secret of codes': secret.base32, 'the secret as it is shown': shown, 'the waiting sign-in': waiting },
    ...Object.fromEntries(
      codes.flatMap((code) => [code, code.replaceAll('-', '')].map((text) => [`code ${text}`, text])),
    ),
  };
}

/** Lets an agent in, which refreshes its tokens, uses a code and a refresh token twice, and is shut out. */
async function letAgentIn(ada: Person): Promise<Secrets> {
  const { config, tokens, code, verifier } = await grantAccess(world, ada, await registerConnector(world));
  const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token!);
  for (const access of [tokens.access_token, renewed.access_token]) await sendEverywhere(access);
  await openid.refreshTokenGrant(config, tokens.refresh_token!).catch(() => undefined);
  const { client_id } = config.clientMetadata();
  const fields = { grant_type: 'authorization_code', client_id, code, code_verifier: verifier };
  await fetch(`${world.fleet.urls.base}/oauth/token`, { method: 'POST', body: new URLSearchParams(fields) });
  return {
    ...{ 'the code': code, 'the verifier': verifier, 'the access token': tokens.access_token },
    ...{ 'the refresh token': tokens.refresh_token, 'the renewed access token': renewed.access_token },
    'the renewed refresh token': renewed.refresh_token,
  };
}

/** Makes a webhook endpoint, rotates its secret, and lets an address that nobody answers be tried. */
async function makeWebhook(apiKey: string): Promise<Secrets> {
  const send = async (path: string, body: object) => {
    const headers = { token: apiKey, 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${world.fleet.urls.base}/api/v1/webhook_endpoints${path}`, request);
    return (await answer.json()) as { id: string; secret: string };
  };
  const { id, secret } = await send('', { url: 'https://webhooks.invalid/hook', events: ['podcast.created'] });
  const { secret: rotated } = await send(`/${id}/rotate_secret`, {});
  await send(`/${id}/test`, {});
  expect([secret, rotated].map((text) => text.slice(0, 6))).toEqual(['whsec_', 'whsec_']);
  return { 'the secret of the webhook': secret.slice(6), 'the rotated secret of the webhook': rotated.slice(6) };
}

test('no log and no database holds a token, a code, a key, a password, a cookie or the link of a mail', async () => {
  const credentials = await makeCredentials(ada);
  const made = {
    'the API key': credentials.apiKey,
    'the legacy token': credentials.legacyToken,
    "the agent's token": credentials.agentToken,
  };
  const agent = await letAgentIn(ada);
  const own = Object.fromEntries([...ada.browser.cookies].map(([name, value]) => [`the ${name}`, value]));
  const organization = await createAccount(world.operator, 'network', { email: `${newId('usr')}@example.com` });
  const machine = await grantMachineAccess(world, organization.workspaceId);
  const forgotten = await forgetPassword(ada);
  const webhook = await makeWebhook(organization.apiKey);
  const codes = await useCodes(await signUp(world, 'Ben'));
  const sent = {
    ...made,
    ...{ "the organization's key": organization.apiKey, 'the session': own['the lw_session'] },
    ...{ "the machine's token": machine.clientToken, 'the issued token': machine.issuedToken },
  };
  for (const credential of Object.values(sent)) await sendEverywhere(credential!);

  const secrets: Secrets = {
    ...{
      'the password': ada.password,
      'the link of the sign-up': ada.mailToken,
      "the machine's secret": machine.secret,
    },
    ...{ ...own, ...sent, ...agent, ...forgotten, ...codes, ...webhook },
  };
  const [logs, tables, keys] = [await newestLogs(world.fleet), await tablesOf(world.fleet), await keysOf(world.fleet)];
  expect([...logs.keys()]).toEqual(expect.arrayContaining(namesOf(services).map((service) => `log ${service}`)));
  const digest = createHash('sha256').update(made['the API key']).digest('hex');
  expect(placesOf(digest, tables)).toContain('identity.resource');
  const found = Object.entries(secrets).map(([name, text]) => [name, placesOf(text!, logs, tables, keys)] as const);
  expect(found.filter(([, places]) => places.length > 0)).toEqual([]);
});

test('an address stands in the tables and the events of auth-server alone, and in no log', async () => {
  const [invited, email] = [`${newId('usr')}@example.com`, `${newId('usr')}@example.com`];
  const { apiKey } = await createAccount(world.operator, 'network', { email });
  const answer = await fetch(`${world.fleet.urls.base}/api/v1/account/members`, {
    ...{ method: 'POST', headers: { token: apiKey, 'content-type': 'application/json' } },
    body: JSON.stringify({ email: invited, permissions: ['edit'] }),
  });
  expect(answer.status).toBe(201);
  await createBrowser(world.fleet.urls.base).post('/sign-up', { name: 'Ada', email: ada.email }, {}, '/sign-up');
  await mailTo(mailFolderOf(world), invited);
  const [logs, tables, keys] = [await newestLogs(world.fleet), await tablesOf(world.fleet), await keysOf(world.fleet)];
  for (const address of [ada.email, email, invited]) {
    expect(placesOf(address, logs)).toEqual([]);
    const places = placesOf(address, tables, keys);
    expect(places).toContain('identity.resource');
    expect(places.filter((place) => !/^(identity\.|redis bus:identity\.events:)/.test(place))).toEqual([]);
  }
});
