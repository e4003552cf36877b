import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createEventBus } from '@longwave/event-bus';
import { topics, type DomainEvent } from '@longwave/events';
import { newId } from '@longwave/ids';
import { diagnosticsPurposes } from '@longwave/principal';
import { Api, type Principal } from '@longwave/rpc/credential';
import { createBrowser, until } from '@longwave/test-kit';
import { callback, connector, managementResource, pkce, startOauth, type OauthUnderTest } from './_oauth.ts';
import { digestOf, secretText } from './_support.ts';
import { tokenOf } from './_pages.ts';

let oauth: OauthUnderTest;
beforeAll(async () => {
  oauth = await startOauth();
}, 120_000);
afterAll(() => oauth[Symbol.asyncDispose]());

const scopes = ['management:read', 'management:write', 'management:diagnostics', 'management:bootstrap'];
const register = () => oauth.register(connector({ resources: ['management'], scopes }));
type Client = Awaited<ReturnType<typeof register>>;
type Person = Awaited<ReturnType<OauthUnderTest['signedIn']>>;

/** The address at which a client asks for scopes of the Management API. */
function ask(client: Client, scope: string, more: Record<string, string> = {}) {
  const { verifier, challenge } = pkce();
  const address = oauth.authorizeUrl({
    ...{ response_type: 'code', client_id: client.client_id, redirect_uri: callback, resource: managementResource },
    ...{ code_challenge: challenge, code_challenge_method: 'S256', state: 's', scope, ...more },
  });
  return { verifier, address };
}

/** Sends the form of the consent page and follows it to the client. */
async function allow(person: Pick<Person, 'browser' | 'accountId'>, path: string, fields: object) {
  const answer = await person.browser.post(`${path}/consent`, { account: person.accountId, ...fields });
  const next = answer.headers.get('location');
  if (next === null) return { answer, back: undefined };
  const resumed = await person.browser.get(next.replace(oauth.baseUrl, ''));
  return { answer, back: new URL(resumed.headers.get('location')!) };
}

const redeem = async (client: Client, back: URL, verifier: string) =>
  (
    await oauth.post('/oauth/token', {
      ...{ grant_type: 'authorization_code', client_id: client.client_id, code: back.searchParams.get('code')! },
      ...{ code_verifier: verifier, redirect_uri: callback },
    })
  ).body;

const principalOf = async (token: string) => (await oauth.verify(token, Api.MANAGEMENT)) as Principal;

/** A principal of a token that a person gave for some scopes. */
async function granted(person: Pick<Person, 'browser' | 'accountId'>, scope: string, purpose: readonly string[] = []) {
  const client = await register();
  const { verifier, address } = ask(client, scope);
  const { path } = await oauth.open(person as Person, address);
  const { back } = await allow(person, path, { scope: scope.split(' '), purpose });
  const body = await redeem(client, back!, verifier);
  return { client, body, principal: await principalOf(body['access_token']!) };
}

describe('the purpose of diagnostics', () => {
  test('is proposed by the client, chosen by the person, kept on the grant and told with every token of it', async () => {
    const [client, ada] = [await register(), await oauth.signedIn('Ada')];
    const { verifier, address } = ask(client, 'management:read management:diagnostics', {
      purpose: 'delivery_dispute audit',
    });
    const { path, page } = await oauth.open(ada, address);
    const checked = [...page.body.matchAll(/name="purpose"\s+value="([a-z_]+)"\s+checked/g)].map(([, one]) => one);
    expect(checked).toEqual(['delivery_dispute', 'audit']);
    for (const purpose of diagnosticsPurposes) expect(page.body).toContain(`value="${purpose}"`);

    const { back } = await allow(ada, path, {
      scope: ['management:read', 'management:diagnostics'],
      purpose: ['audit', 'quality_assurance'],
    });
    const body = await redeem(client, back!, verifier);
    expect((await principalOf(body['access_token']!)).purposes).toEqual(['audit', 'quality_assurance']);
    const renewed = (await oauth.refresh(client, body['refresh_token']!)).body;
    expect((await principalOf(renewed['access_token']!)).purposes).toEqual(['audit', 'quality_assurance']);

    const settings = (await ada.browser.get('/settings/connectors')).body;
    expect(settings).toContain('Account for what was decided');
    expect(settings).not.toContain('Settle a dispute');
  });

  test('must be chosen where the person allows traces, and is asked for nowhere else', async () => {
    const [client, ada] = [await register(), await oauth.signedIn('Ada')];
    const { path } = await oauth.open(ada, ask(client, 'management:read management:diagnostics').address);
    const without = { scope: ['management:read', 'management:diagnostics'] };
    const refused = await allow(ada, path, without);
    expect(refused.answer.status).toBe(422);
    expect(refused.answer.body).toContain('Choose at least one purpose, or take the traces away.');
    expect((await allow(ada, path, { ...without, purpose: ['curiosity'] })).answer.status).toBe(400);
    expect((await allow(ada, path, { scope: ['management:read'], purpose: ['audit'] })).back).toBeDefined();

    const { page } = await oauth.open(ada, ask(client, 'management:read').address);
    expect(page.body).not.toContain('name="purpose"');
  });

  test('is not told with a grant that has no traces, whatever the form said', async () => {
    const ada = await oauth.signedIn('Ada');
    const { principal } = await granted(ada, 'management:read', ['audit']);
    expect(principal).toMatchObject({ scopes: ['management:read'], purposes: [] });
  });

  test('is one of the closed list, also in the request of the client', async () => {
    const [client, ada] = [await register(), await oauth.signedIn('Ada')];
    for (const purpose of ['curiosity', '', 'audit  audit', 'audit,audit']) {
      const page = await ada.browser.get(ask(client, 'management:diagnostics', { purpose }).address);
      const answer = new URL(page.headers.get('location')!, oauth.baseUrl);
      if (purpose === '') expect(answer.pathname).toMatch(/^\/oauth\/interaction\//);
      else expect(answer.searchParams.get('error')).toBe('invalid_request');
    }
  });
});

/** An account without a workspace, with a session of its owner. */
async function founder(name: string): Promise<Person> {
  const workspaceId = newId('ws');
  const email = `${workspaceId}@example.com`;
  const user = await oauth.server.send(workspaceId, 'user.create', { name, email, email_verified: true });
  const account = await oauth.server.send(workspaceId, 'account.create_without_workspace', {
    ...{ name, email, plan: 'scale', owner_user_id: user.resource.id },
  });
  return oauth.sessionOf({ workspaceId, email, userId: user.resource.id, accountId: account.resource.id });
}

/** Says what management says when it has provisioned a workspace. */
async function announceWorkspace(workspaceId: string) {
  const at = new Date().toISOString();
  const operation = newId('op');
  const event: DomainEvent = {
    ...{ id: newId('evt'), type: 'workspace.provisioned', workspace_id: workspaceId, operation_id: operation },
    ...{ subject: { type: 'workspaces', id: workspaceId, version: 1 }, occurred_at: at },
    after: {
      ...{ resource_type: 'workspaces', id: workspaceId, workspace_id: workspaceId, version: 1 },
      ...{ lifecycle_state: 'active', links: {}, digest: 'd', created_at: at, updated_at: at },
      attributes: { name: 'A', account_id: newId('acc'), currency: 'EUR', time_zone: 'UTC' },
      updated_by: { operation_id: operation },
    },
  };
  await using bus = await createEventBus({ kind: 'redis', redisUrl: oauth.server.redis.url, clientName: 'test' });
  await bus.publish([{ topic: topics.product, key: workspaceId, id: event.id, type: event.type, payload: event }]);
}

describe('an account without a workspace', () => {
  test('gives its credentials no rights, until its workspace is provisioned', async () => {
    const ada = await founder('Ada');
    const key = secretText('lw_key_');
    await oauth.server.send(ada.workspaceId, 'credential.issue', {
      ...{ account_id: ada.accountId, name: 'CI', kind: 'api_key', secret_digest: digestOf(key) },
    });
    const { body, principal } = await granted(ada, 'management:read management:write');
    const rolesOf = async () => [
      (await principalOf(body['access_token']!)).roles,
      ((await oauth.verify(key, Api.REST)) as Principal).roles,
    ];
    expect(principal.workspaceId).toBe(ada.workspaceId);
    expect(await rolesOf()).toEqual([[], []]);
    await announceWorkspace(ada.workspaceId);
    await until(async () => (await rolesOf()).every((roles) => roles.includes('owner')));
  });

  test('lets members of its organization do nothing either', async () => {
    const [ada, ben] = [await founder('Ada'), await oauth.signedIn('Ben')];
    await oauth.server.send(ada.workspaceId, 'membership.add', {
      ...{ owner_account_id: ada.accountId, member_account_id: ben.accountId, permissions: ['edit'] },
    });
    const grantsOf = async () => (await granted(ben, 'management:read')).principal.grants.length;
    expect(await grantsOf()).toBe(0);
    await announceWorkspace(ada.workspaceId);
    await until(async () => (await grantsOf()) === 1);
  });

  test('is what a person gets who signs up in order to let a program provision the workspace', async () => {
    const client = await register();
    const rolesAfterSignUp = async (scope: string) => {
      const browser = createBrowser(oauth.url);
      const path = (await browser.get(ask(client, scope).address)).headers.get('location')!;
      const email = `${newId('usr')}@example.com`;
      await browser.post('/sign-up', { name: 'Eve', email, return_to: path }, {}, '/sign-up');
      const { link } = await oauth.mailTo(email);
      const finish = { token: tokenOf(link), email, password: 'a long password', return_to: path };
      const done = await browser.post('/sign-up/finish', finish, {}, link);
      expect(done.headers.get('location')).toBe(path);
      const { rows } = await oauth.pool.query<{ id: string; without: boolean }>(
        `select id, exists (select from account_without_workspace w where w.account_id = a.id) as without
         from resource a where resource_type = 'accounts' and attributes->>'email' = $1`,
        [email],
      );
      return rows;
    };
    expect(await rolesAfterSignUp('management:bootstrap')).toEqual([expect.objectContaining({ without: true })]);
    expect(await rolesAfterSignUp('management:read')).toEqual([expect.objectContaining({ without: false })]);
  });
});

describe('the permission to provision a workspace', () => {
  test('is asked for alone, and is never among those of a request that names none', async () => {
    const [client, ada] = [await register(), await founder('Ada')];
    const page = await ada.browser.get(ask(client, 'management:read management:bootstrap').address);
    const answer = new URL(page.headers.get('location')!);
    expect(Object.fromEntries(answer.searchParams)).toMatchObject({ error: 'invalid_scope' });

    const narrow = await oauth.register(
      connector({ resources: ['management'], scopes: ['management:write', 'management:bootstrap'] }),
    );
    const { page: unnamed } = await oauth.open(ada, ask(narrow, '').address);
    expect(unnamed.body).toContain('management:write');
    expect(unnamed.body).not.toContain('management:bootstrap');
  });

  test('gives no right anywhere but to provision', async () => {
    const [ada, ben] = [await founder('Ada'), await oauth.signedIn('Ben')];
    await oauth.server.send(ben.workspaceId, 'membership.add', {
      ...{ owner_account_id: ben.accountId, member_account_id: ada.accountId, permissions: ['edit'] },
    });
    const { principal } = await granted(ada, 'management:bootstrap');
    expect(principal).toMatchObject({ scopes: ['management:bootstrap'], roles: [], grants: [] });
    expect(principal.workspaceId).toBe(ada.workspaceId);
    const owner = await granted(ben, 'management:bootstrap');
    expect(owner.principal).toMatchObject({ roles: [], grants: [] });
  });

  test('is given for accounts of one’s own alone', async () => {
    const [ada, ben, client] = [await founder('Ada'), await oauth.signedIn('Ben'), await register()];
    await oauth.server.send(ben.workspaceId, 'membership.add', {
      ...{ owner_account_id: ben.accountId, member_account_id: ada.accountId, permissions: ['edit'] },
    });
    const { path, page } = await oauth.open(ada, ask(client, 'management:bootstrap').address);
    expect(page.body).not.toContain(ben.accountId);
    const forBen = await allow({ ...ada, accountId: ben.accountId }, path, { scope: ['management:bootstrap'] });
    expect(forBen.answer.status).toBe(404);
  });
});
