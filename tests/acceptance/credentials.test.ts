import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { apiScopes } from '@longwave/principal';
import { createBrowser } from '@longwave/test-kit';
import { createRestClient, getAccessToken, registerConnector, signUp, type Person } from '@longwave/test-kit/clients';
import { makeCredentials } from '../_credentials.ts';
import { publishedPodcast } from '../_hosting-world.ts';
import { grantMachineAccess } from '../_machine-access.ts';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';

const noCredential = {
  ...{ tokenHeader: 401, bearer: 401, cookie: 401, mcp: 401, sink: 401, delivery: 404 },
  ...{ management: 401, managementCookie: 401, pages: 401, pagesCookie: 401 },
};
/**
 * What each API answers to each credential: REST API v1 in either header and as the cookie of a session, MCP, the audience API, Public Delivery
 * in a token's place, and the Management API as a bearer token and as that cookie, at its own host and at that of the pages.
 */
const matrix = {
  'an API key': { ...noCredential, tokenHeader: 200, bearer: 200 },
  'a legacy token': { ...noCredential, tokenHeader: 200, bearer: 200 },
  'a token of a partner application': { ...noCredential, tokenHeader: 200, bearer: 200 },
  'a token of an agent': { ...noCredential, mcp: 200, refusal: 'This MCP credential is not valid for the legacy API.' },
  'a personal token for agents': { ...noCredential, mcp: 200 },
  'a token for the Management API': { ...noCredential, management: 200 },
  'a token of a machine client': { ...noCredential, sink: 200 },
  'a machine token of the operator': { ...noCredential, sink: 200 },
  'the text of a session': { ...noCredential, cookie: 200, pagesCookie: 200 },
  'a made-up text': noCredential,
} as const;
type Kind = keyof typeof matrix;

let world: SharedInstallation;
let texts: Readonly<Record<Kind, string>>;
let owner: Person;

const tokenOf = (
  person: Pick<Person, 'browser' | 'accountId'>,
  clientId: string,
  api: 'mcp' | 'rest' | 'management',
) => {
  const { base, mcp, api: apiUrl } = world.fleet.urls;
  const resource = { mcp: `${mcp}/mcp`, rest: `${base}/api/v1`, management: `${apiUrl}/management/v1` }[api];
  const scopes = api === 'management' ? ['management:read'] : [...apiScopes[api]];
  return getAccessToken(person, { base, clientId, resource, scopes });
};

beforeAll(async () => {
  world = await openSharedInstallation();
  owner = await signUp(world, 'Ada');
  await world.operator.changeIdentity(owner.accountId, 'account.set_plan', { plan: 'network' });
  const { workspace_id: workspaceId } = await world.operator.account(owner.accountId);
  const clientId = await registerConnector(world);
  const made = await makeCredentials(owner);
  const machine = await grantMachineAccess(world, workspaceId);
  texts = {
    'an API key': made.apiKey,
    'a legacy token': made.legacyToken,
    'a personal token for agents': made.agentToken,
    'a token of a partner application': await tokenOf(owner, clientId, 'rest'),
    'a token of an agent': await tokenOf(owner, clientId, 'mcp'),
    'a token for the Management API': await tokenOf(owner, clientId, 'management'),
    'a token of a machine client': machine.clientToken,
    'a machine token of the operator': machine.issuedToken,
    'the text of a session': owner.browser.cookies.get('lw_session')!,
    'a made-up text': `lw_key_${newId('req')}`,
  };
}, 180_000);
afterAll(async () => world[Symbol.asyncDispose]());

const askRest = (headers: Record<string, string>) => fetch(`${world.fleet.urls.base}/api/v1/podcasts`, { headers });
const call = (name: string, args: object = {}) => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
});
const askMcp = (token: string, body: object) =>
  fetch(`${world.fleet.urls.mcp}/mcp`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(body),
  });

test.each(Object.keys(matrix) as Kind[])('%s is accepted at its own APIs alone', async (kind) => {
  const { refusal = undefined, ...expected } = { refusal: undefined, ...matrix[kind] };
  const text = texts[kind];
  const authorization = `Bearer ${text}`;
  const { base, api, media } = world.fleet.urls;
  const ownPage = { cookie: `lw_session=${text}`, 'sec-fetch-site': 'same-origin' };
  const askManagement = (host: string, headers: Record<string, string>) =>
    fetch(`${host}/management/v1/workspaces`, { headers });
  const [management, managementCookie, pages, pagesCookie] = await Promise.all([
    askManagement(api, { authorization }),
    askManagement(api, ownPage),
    askManagement(base, { authorization }),
    askManagement(base, ownPage),
  ]);
  const [tokenHeader, bearer, cookie, mcp, sink, delivery] = await Promise.all([
    askRest({ token: text }),
    askRest({ authorization }),
    askRest(ownPage),
    askMcp(text, call('get_account')),
    fetch(`${api}/audience/v1/watermarks?producer=acme`, { headers: { authorization } }),
    fetch(`${media}/delivery/v1/ev/${text}?e=start`),
  ]);
  const ofManagement = { management, managementCookie, pages, pagesCookie };
  const answers = { tokenHeader, bearer, cookie, mcp, sink, delivery, ...ofManagement };
  expect(Object.fromEntries(Object.entries(answers).map(([name, { status }]) => [name, status]))).toEqual(expected);
  for (const answer of [tokenHeader, bearer].filter(({ status }) => status === 401)) {
    const body = (await answer.json()) as Record<string, unknown>;
    if (refusal !== undefined) expect(body).toMatchObject({ message: refusal });
    else expect(body['message']).not.toContain('MCP');
    expect('reason' in body).toBe(refusal === undefined);
  }
});

test('a session learns at the host of the pages who is signed in, and a page of another site learns nothing', async () => {
  const me = (site: string) =>
    fetch(`${world.fleet.urls.base}/management/v1/me`, {
      headers: { cookie: `lw_session=${texts['the text of a session']}`, 'sec-fetch-site': site },
    });
  const { workspace_id: workspaceId } = await world.operator.account(owner.accountId);
  expect(await (await me('same-origin')).json()).toMatchObject({
    account: { id: owner.accountId },
    person: { name: 'Ada' },
    own_workspace_id: workspaceId,
    workspaces: [{ id: workspaceId, roles: expect.arrayContaining(['owner']) }],
  });
  for (const site of ['same-site', 'cross-site', 'none']) expect((await me(site)).status).toBe(403);
});

describe('a member who may edit', () => {
  let member: Person;
  let podcastId: string;
  let membershipId: string;
  /** Of the member in the account of the owner. */
  let held: { readonly partner: string; readonly agent: string; readonly personal: string };

  beforeAll(async () => {
    const rest = createRestClient(world.fleet.urls.base, texts['an API key']);
    podcastId = await publishedPodcast(rest, 'Signals');
    expect(await rest.get(`/podcasts/${podcastId}/analytics?days_offset=7`)).toBeDefined();
    member = await signUp(world, 'Ben');
    const { workspace_id: workspaceId } = await world.operator.account(owner.accountId);
    const { id } = await world.operator.identityCommand(
      workspaceId,
      'membership.add',
      { type: 'memberships' },
      { owner_account_id: owner.accountId, member_account_id: member.accountId, permissions: ['edit'] },
    );
    membershipId = id;
    await member.browser.post('/sign-in/account', { account: owner.accountId }, {}, '/sign-in/account');
    const here = { browser: member.browser, accountId: owner.accountId };
    const clientId = await registerConnector(world);
    const { body } = await member.browser.post('/settings/api/agent', { once: crypto.randomUUID(), agent: 'A' });
    held = {
      partner: await tokenOf(here, clientId, 'rest'),
      agent: await tokenOf(here, clientId, 'mcp'),
      personal: /svc_mcp_[\w-]{43}/.exec(body)![0],
    };
  }, 120_000);

  /** The statuses of four requests of REST API v1: see, change, numbers, keys. */
  const tryRest = async (
    ask: (path: string, init?: { method?: string; body?: string }) => Promise<{ readonly status: number }>,
  ) => {
    const change = { method: 'PUT', body: JSON.stringify({ author: 'Ben' }) };
    const answers = [
      await ask(`/podcasts/${podcastId}`),
      await ask(`/podcasts/${podcastId}`, change),
      await ask(`/podcasts/${podcastId}/analytics?days_offset=7`),
      await ask('/account/keys'),
    ];
    return answers.map(({ status }) => status);
  };
  const asMember = [200, 200, 403, 403];

  test('has these permissions by a token of a partner application, not those of the owner', async () => {
    const json = { authorization: `Bearer ${held.partner}`, 'content-type': 'application/json' };
    const ask = (path: string, init: object = {}) =>
      fetch(`${world.fleet.urls.base}/api/v1${path}`, { ...init, headers: json });
    expect(await tryRest(ask)).toEqual(asMember);
  });

  test('has them by a session', async () => {
    const ask = (path: string, init: object = {}) =>
      member.browser.fetch(`/api/v1${path}`, { ...init, headers: { 'content-type': 'application/json' } });
    expect(await tryRest(ask)).toEqual(asMember);
  });

  test.each(['agent', 'personal'] as const)('has them by the %s token at MCP', async (kind) => {
    const result = async (name: string, args: object) => {
      const text = await (await askMcp(held[kind], call(name, args))).text();
      return /"code":"(\w+)"/.exec(text)?.[1] ?? (text.includes(podcastId) ? 'shown' : text);
    };
    expect(await result('get_podcast', { podcast_id: podcastId })).toBe('shown');
    expect(await result('get_podcast_analytics', { podcast_id: podcastId, days_offset: 7 })).toBe(
      'analytics_unavailable',
    );
  });

  test('has nothing left by any of them at the first request after the membership ended', async () => {
    await world.operator.changeIdentity(membershipId, 'membership.end', {});
    const statuses = [
      (await askRest({ authorization: `Bearer ${held.partner}` })).status,
      (await askMcp(held.agent, call('get_account'))).status,
      (await askMcp(held.personal, call('get_account'))).status,
    ];
    expect(statuses).toEqual([401, 401, 401]);
    const fresh = createBrowser(world.fleet.urls.base);
    fresh.cookies.set('lw_session', member.browser.cookies.get('lw_session')!);
    expect((await fresh.get(`/api/v1/podcasts/${podcastId}`)).status).not.toBe(200);
  });
});
