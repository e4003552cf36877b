import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { identityCatalog } from '@longwave/command-catalog';
import { newId } from '@longwave/ids';
import { Api } from '@longwave/rpc/credential';
import * as oauth4webapi from 'oauth4webapi';
import * as openid from 'openid-client';
import {
  callback,
  connector,
  managementResource,
  mcpResource,
  pkce,
  restResource,
  startOauth,
  type OauthUnderTest,
} from './_oauth.ts';
import { baseUrl } from './_support.ts';

let oauth: OauthUnderTest;
beforeAll(async () => {
  oauth = await startOauth();
}, 120_000);
afterAll(() => oauth[Symbol.asyncDispose]());

const addMember = (owner: { workspaceId: string; accountId: string }, member: { accountId: string }) =>
  oauth.server.send(owner.workspaceId, 'membership.add', {
    ...{ owner_account_id: owner.accountId, member_account_id: member.accountId, permissions: ['edit'] },
  });

describe('independent clients complete the whole flow:', () => {
  test('openid-client', async () => {
    const [client, ada] = [await oauth.register(connector()), await oauth.signedIn('Ada')];
    const options = { execute: [openid.allowInsecureRequests], [openid.customFetch]: oauth.clientFetch };
    const config = await openid.discovery(new URL(baseUrl), client.client_id, undefined, openid.None(), options);
    const { verifier, challenge } = pkce();
    const address = openid.buildAuthorizationUrl(config, {
      ...{ redirect_uri: callback, resource: mcpResource, scope: 'mcp:read offline_access', prompt: 'consent' },
      ...{ code_challenge: challenge, code_challenge_method: 'S256', state: 'one' },
    });
    const answer = await oauth.consent(ada, address.href);
    const checks = { pkceCodeVerifier: verifier, expectedState: 'one' };
    const tokens = await openid.authorizationCodeGrant(config, answer, checks, { resource: mcpResource });
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 900, scope: 'mcp:read' });
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token!, { resource: mcpResource });
    expect(await oauth.isLive(next.access_token)).toBe(true);
    await openid.tokenRevocation(config, next.refresh_token!);
    expect(await oauth.isLive(next.access_token)).toBe(false);
  });

  test('oauth4webapi, which refuses an answer without the right issuer', async () => {
    const registered = await oauth.register(connector());
    const ada = await oauth.signedIn('Ada');
    const [issuer, client] = [new URL(baseUrl), { client_id: registered.client_id }];
    const insecure = { [oauth4webapi.allowInsecureRequests]: true, [oauth4webapi.customFetch]: oauth.clientFetch };
    const found = await oauth4webapi.discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' } as never);
    const server = await oauth4webapi.processDiscoveryResponse(issuer, found);
    const { verifier, challenge } = pkce();
    const address = new URL(server.authorization_endpoint!);
    for (const [name, value] of Object.entries({
      ...{ response_type: 'code', client_id: client.client_id, redirect_uri: callback, resource: mcpResource },
      ...{ code_challenge: challenge, code_challenge_method: 'S256', state: 'one' },
    }))
      address.searchParams.set(name, value);
    const answer = await oauth.consent(ada, address.href);
    const foreign = new URL(answer);
    foreign.searchParams.set('iss', 'https://evil.example');
    expect(() => oauth4webapi.validateAuthResponse(server, client, foreign, 'one')).toThrow();
    const parameters = oauth4webapi.validateAuthResponse(server, client, answer, 'one');
    const response = await oauth4webapi.authorizationCodeGrantRequest(
      ...([server, client, oauth4webapi.None(), parameters, callback, verifier, insecure] as const),
    );
    const tokens = await oauth4webapi.processAuthorizationCodeResponse(server, client, response);
    expect(tokens.scope).toBe('mcp:read mcp:analytics.read');
    expect(await oauth.isLive(tokens.access_token)).toBe(true);
  });
});

test('both well-known documents say the same, and name nothing that is not there', async () => {
  const read = async (path: string) => (await fetch(oauth.url + path)).json() as Promise<Record<string, unknown>>;
  const metadata = await read('/.well-known/oauth-authorization-server');
  expect(await read('/.well-known/openid-configuration')).toEqual(metadata);
  expect(metadata).toMatchObject({
    ...{ issuer: baseUrl, response_types_supported: ['code'], code_challenge_methods_supported: ['S256'] },
    ...{ response_modes_supported: ['query', 'form_post'], authorization_response_iss_parameter_supported: true },
    grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'private_key_jwt'],
    protected_resources: expect.arrayContaining([mcpResource, restResource]),
    scopes_supported: expect.arrayContaining(['mcp:read', 'api:write', 'exchange:write', 'offline_access']),
  });
  for (const absent of ['registration', 'introspection', 'device_authorization', 'userinfo'])
    expect(metadata).not.toHaveProperty(`${absent}_endpoint`);
  for (const path of ['/oauth/register', '/reg', '/oauth/introspect', '/request', '/me', '/session/end'])
    expect((await oauth.post(path, {})).status).toBe(404);
});

describe('consent', () => {
  const ask = (client: ReturnType<typeof connector>, more: object = {}) =>
    oauth.authorizeUrl({
      ...{ response_type: 'code', client_id: client.client_id, redirect_uri: client.redirect_uris[0], state: 's' },
      ...{ resource: mcpResource, scope: 'mcp:read mcp:episodes.write' },
      ...{ code_challenge: pkce().challenge, code_challenge_method: 'S256', ...more },
    });

  test('names the client, the host of the answer in ASCII, the account and each permission, and leads nowhere else', async () => {
    const address = 'https://stüdio.example/callback';
    const client = await oauth.register(connector({ name: 'Stüdio <b>', redirect_uris: [address] }));
    const ada = await oauth.signedIn('Ada');
    const { page } = await oauth.open(ada, ask(client));
    for (const text of ['Stüdio &lt;b&gt;', client.client_id, 'xn--stdio-lva.example', 'Ada', ada.email])
      expect(page.body).toContain(text);
    expect(page.body).toContain('See the account, podcasts, episodes and audio files');
    expect(page.body).toContain('Create episodes, and change podcasts and episodes');
    expect(page.body).not.toContain('listening figures');
    expect(page.body).not.toContain('your own computer');
    const policy = page.headers.get('content-security-policy')!;
    expect(policy).toContain("form-action 'self' https://xn--stdio-lva.example;");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('upgrade-insecure-requests');
  });

  test('warns of a program that only this computer can reach, and the browser may go on to its port', async () => {
    const ada = await oauth.signedIn('Ada');
    const { page } = await oauth.open(
      ada,
      ask({ ...connector(), ...{ client_id: 'longwave-cli', redirect_uris: ['http://127.0.0.1:28417/callback'] } }),
    );
    expect(page.body).toContain('This program runs on your own computer');
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self' http://127.0.0.1:28417;");
  });

  test('may leave a part out: the token has the rest, and reads only when no permission to write is left', async () => {
    const [client, ada] = [await oauth.register(connector()), await oauth.signedIn('Ada')];
    const { verifier, challenge } = pkce();
    const answer = await oauth.consent(ada, ask(client, { code_challenge: challenge }), { scope: ['mcp:read'] });
    const { body } = await oauth.post('/oauth/token', {
      ...{ grant_type: 'authorization_code', client_id: client.client_id, code: answer.searchParams.get('code')! },
      ...{ code_verifier: verifier, redirect_uri: callback },
    });
    expect(body).toMatchObject({ scope: 'mcp:read' });
    expect(await oauth.verify(body['access_token']!)).toMatchObject({ scopes: ['mcp:read'], readOnly: true });
  });

  test('that leaves nothing, and a refusal, are access_denied with issuer and state', async () => {
    const [client, ada] = [await oauth.register(connector()), await oauth.signedIn('Ada')];
    const nothing = await oauth.consent(ada, ask(client), { scope: [] });
    const { path } = await oauth.open(ada, ask(client));
    const answer = await ada.browser.post(`${path}/abort`, {});
    const resumed = await ada.browser.get(answer.headers.get('location')!.replace(baseUrl, ''));
    for (const url of [nothing, new URL(resumed.headers.get('location')!)])
      expect(Object.fromEntries(url.searchParams)).toMatchObject({ error: 'access_denied', iss: baseUrl, state: 's' });
  });

  test('is asked for again for another account in the same browser, and binds the token to that account', async () => {
    const client = await oauth.register(connector());
    const [ada, ben] = [await oauth.signedIn('Ada'), await oauth.signedIn('Ben')];
    await addMember(ben, ada);
    const own = await (await oauth.grant(ada, client)).redeem();
    const asMember = await (await oauth.grant(ada, client, { account: ben.accountId })).redeem();
    const [first, second] = [
      await oauth.verify(own.body['access_token']!),
      await oauth.verify(asMember.body['access_token']!),
    ];
    expect(first).toMatchObject({ accountId: ada.accountId, userId: ada.userId, workspaceId: ada.workspaceId });
    expect(second).toMatchObject({ accountId: ben.accountId, userId: ada.userId, roles: ['viewer', 'editor'] });
    await oauth.post('/oauth/revoke', { client_id: client.client_id, token: own.body['refresh_token'] });
    expect(await oauth.isLive(asMember.body['access_token']!)).toBe(true);
  });

  test('never names an account of others, and no other browser or site can give it', async () => {
    const client = await oauth.register(connector());
    const [ada, ben] = [await oauth.signedIn('Ada'), await oauth.signedIn('Ben')];
    const { path } = await oauth.open(ada, ask(client));
    const fields = { account: ada.accountId, scope: 'mcp:read' };
    expect((await ada.browser.post(`${path}/consent`, { ...fields, account: ben.accountId })).status).toBe(404);
    expect((await ben.browser.post(`${path}/consent`, fields)).status).toBe(404);
    expect((await ada.browser.post(`${path}/consent`, { ...fields, form_token: 'x' })).status).toBe(403);
    const foreign = { 'sec-fetch-site': 'cross-site' };
    expect((await ada.browser.post(`${path}/consent`, fields, foreign)).status).toBe(403);
    expect((await ada.browser.post(`${path}/consent`, { ...fields, more: 'x' })).status).toBe(400);
  });

  test('given by two forms at once is one access, and is listed when the client has redeemed a code of it', async () => {
    const [client, person] = [await oauth.register(connector({ name: 'Twice' })), await oauth.signedIn('Ada')];
    const { verifier, challenge } = pkce();
    const asked = { response_type: 'code', client_id: client.client_id, redirect_uri: callback, resource: mcpResource };
    const { path } = await oauth.open(
      person,
      oauth.authorizeUrl({ ...asked, code_challenge: challenge, code_challenge_method: 'S256' }),
    );
    const send = () => person.browser.post(`${path}/consent`, { account: person.accountId, scope: 'mcp:read' });
    const [first, second] = await Promise.all([send(), send()]);
    const resume = first.headers.get('location')!;
    expect([first.status, second.status, second.headers.get('location')]).toEqual([303, 303, resume]);
    const back = await person.browser.get(resume.replace(baseUrl, ''));
    const code = new URL(back.headers.get('location')!).searchParams.get('code')!;
    const list = async () => (await person.browser.get('/settings/connectors')).body.match(/Twice<\/h2>/g);
    expect(await list()).toBeNull();

    const { body } = await oauth.post('/oauth/token', {
      ...{ grant_type: 'authorization_code', client_id: client.client_id, code, code_verifier: verifier },
      redirect_uri: callback,
    });
    expect(await oauth.isLive(body['access_token']!)).toBe(true);
    expect(await list()).toHaveLength(1);
    expect((await oauth.securityEvents(person.userId)).filter((kind) => kind === 'consent_given')).toHaveLength(1);
    const { rowCount } = await oauth.pool.query('select from connector_grant where client_id = $1', [client.client_id]);
    expect(rowCount).toBe(1);
  });

  test('needs a person who is signed in, and one who gave the password in the last 15 minutes', async () => {
    const client = await oauth.register(connector());
    const stranger = oauth.browser();
    const first = await stranger.get(ask(client));
    const path = first.headers.get('location')!;
    const at = await stranger.get(path);
    expect(at.headers.get('location')).toBe(`/sign-in?return_to=${encodeURIComponent(path)}`);
    const ada = await oauth.signedIn('Ada');
    const { now } = oauth.server.clock;
    oauth.server.clock.now = new Date(now.getTime() + 15 * 60_000);
    const { page, path: own } = await oauth.open(ada, ask(client));
    oauth.server.clock.now = now;
    const detour = `/sign-in/password?return_to=${encodeURIComponent(own)}`;
    expect(page.headers.get('location')).toBe(detour);
    const { body } = await ada.browser.get(detour);
    expect(body).toContain('A program asks for access.');
    expect(body).not.toContain('settings</a>');
    expect(body).toContain('go back to the program');
  });

  test('follows at once on signing in: the form of the sign-in page leads back to it', async () => {
    const client = await oauth.register(connector());
    const { browser, email, password } = await oauth.signedUp('Dora');
    browser.cookies.delete('lw_session');
    const path = (await browser.get(ask(client))).headers.get('location')!;
    const form = (await browser.get(path)).headers.get('location')!;
    const signedIn = await browser.post('/sign-in', { email, password, return_to: path }, {}, form);
    expect(signedIn.headers.get('location')).toBe(path);
    const { body } = await browser.get(path);
    const account = /name="account" value="([^"]+)"/.exec(body)![1]!;
    const answer = await browser.post(`${path}/consent`, { account, scope: 'mcp:read' });
    const resumed = await browser.get(answer.headers.get('location')!.replace(baseUrl, ''));
    expect(new URL(resumed.headers.get('location')!).searchParams.get('code')).not.toBeNull();
  });

  test('is remembered nowhere: without it nothing is given, and no browser keeps a session of the library', async () => {
    const [client, ada] = [await oauth.register(connector()), await oauth.signedIn('Ada')];
    await oauth.grant(ada, client);
    const again = await ada.browser.get(ask(client, { prompt: 'none' }));
    const answer = new URL(again.headers.get('location')!);
    expect(Object.fromEntries(answer.searchParams)).toMatchObject({ error: 'login_required', iss: baseUrl });
    expect([...ada.browser.cookies.keys()].filter((name) => name.includes('as_session'))).toEqual([]);
  });
});

describe('an access token', () => {
  const apis = [
    [Api.MCP, 'mcp'],
    [Api.REST, 'rest'],
    [Api.MANAGEMENT, 'management'],
  ] as const;
  test.each([
    ['mcp', mcpResource, 'mcp:read', 'mcp_access_token'],
    ['rest', restResource, 'api:write', 'oauth_access_token'],
    ['rest', restResource, 'api:read', 'oauth_access_token'],
    // It orders exports.
    ['rest', restResource, 'api:analytics.read', 'oauth_access_token'],
    ['management', managementResource, 'management:read', 'management_access_token'],
  ])('for %s is accepted there alone', async (own, resource, scope, kind) => {
    const client = await oauth.register(connector({ resources: [own], scopes: [scope] }));
    const ada = await oauth.signedIn('Ada');
    const { body } = await (await oauth.grant(ada, client, { resource, scope })).redeem();
    for (const [api, name] of apis) {
      const found = await oauth.verify(body['access_token']!, api);
      if (name === own) {
        expect(found).toMatchObject({ credentialKind: kind, scopes: [scope], userId: ada.userId });
        expect(found).toMatchObject({ grantId: expect.stringMatching(/^cgr_/), readOnly: scope.endsWith(':read') });
        expect(found).toMatchObject({ clientId: `${client.client_id}/${ada.userId}/${ada.accountId}` });
      } else expect(found).toBe(own === 'mcp' && name === 'rest' ? 'REFUSAL_MCP_CREDENTIAL' : 'REFUSAL_UNKNOWN_USER');
    }
  });

  test('of an application changes no member and no key, whatever its person may do', async () => {
    const client = await oauth.register(connector({ resources: ['rest'], scopes: ['api:write'] }));
    const ada = await oauth.signedIn('Ada');
    const { body } = await (await oauth.grant(ada, client, { resource: restResource, scope: 'api:write' })).redeem();
    const { statement } = (await oauth.verify(body['access_token']!, Api.REST)) as { statement: string };
    const send = oauth.server.clients.gateway.commands.execute;
    for (const commandType of Object.keys(identityCatalog.commands)) {
      const request = {
        ...{ workspaceId: ada.workspaceId, commandType, idempotencyKey: newId('req'), ifMatch: '' },
        ...{ subjectVersion: undefined, changesJson: '{}', reasonJson: '' },
        ...{ subjectType: `${commandType.split('.')[0]}s`, subjectId: ada.accountId },
      };
      await expect(send(request, { principalStatement: statement })).rejects.toMatchObject({
        code: 'permission_denied',
        message: 'An application cannot change members and keys. Change them on the pages of the settings.',
      });
    }
  });

  test.each([
    'the membership ends',
    'the account is closed',
    'the account is suspended',
    'the user is closed',
    'the client is disabled',
    'the person ends the grant',
  ])('is refused at the next request, and refreshing too, when %s', async (event) => {
    const client = await oauth.register(connector());
    const [ada, ben] = [await oauth.signedIn('Ada'), await oauth.signedIn('Ben')];
    const membership = await addMember(ben, ada);
    const { body } = await (await oauth.grant(ada, client, { account: ben.accountId })).redeem();
    const { access_token: token = '', refresh_token: refreshToken = '' } = body;
    const before = await oauth.verify(token);
    expect(before).toMatchObject({ accountId: ben.accountId });
    const grantId = (before as { grantId: string }).grantId;
    const { send } = oauth.server;
    await {
      'the membership ends': () => send(ben.workspaceId, 'membership.end', {}, { subjectId: membership.resource.id }),
      'the account is closed': () => send(ben.workspaceId, 'account.close', {}, { subjectId: ben.accountId }),
      'the account is suspended': () =>
        send(...([ben.workspaceId, 'account.set_subscription', { subscription: { state: 'suspended' } }] as const), {
          subjectId: ben.accountId,
        }),
      'the user is closed': () => send(ada.workspaceId, 'user.close', {}, { subjectId: ada.userId }),
      'the client is disabled': () => client.change('disable'),
      'the person ends the grant': () => ada.browser.post('/settings/connectors', { grant: grantId }),
    }[event]!();
    expect(await oauth.verify(token)).toMatch(/^REFUSAL_/);
    expect(await oauth.verify(token, Api.REST)).toBe('REFUSAL_UNKNOWN_USER');
    const again = await oauth.refresh(client, refreshToken);
    expect([again.status, again.body['error']]).toEqual(
      event === 'the client is disabled' ? [401, 'invalid_client'] : [400, 'invalid_grant'],
    );
  });

  test('has its last use recorded once a minute', async () => {
    const [client, ada] = [await oauth.register(connector()), await oauth.signedIn('Ada')];
    const { body } = await (await oauth.grant(ada, client)).redeem();
    const { now } = oauth.server.clock;
    const recordedAfter = async (ms: number) => {
      oauth.server.clock.now = new Date(now.getTime() + ms);
      await oauth.verify(body['access_token']!);
      const { rows } = await oauth.pool.query<{ last_used_at: Date }>(
        'select last_used_at from connector_grant where client_id = $1',
        [client.client_id],
      );
      return rows[0]!.last_used_at.getTime() - now.getTime();
    };
    expect(await recordedAfter(0)).toBe(0);
    expect(await recordedAfter(59_999)).toBe(0);
    expect(await recordedAfter(60_000)).toBe(60_000);
    oauth.server.clock.now = now;
  });

  test('ends after its time', async () => {
    const [client, ada] = [await oauth.register(connector()), await oauth.signedIn('Ada')];
    const { body } = await (await oauth.grant(ada, client)).redeem();
    const { now } = oauth.server.clock;
    oauth.server.clock.now = new Date(now.getTime() + 930_000);
    expect(await oauth.isLive(body['access_token']!)).toBe(false);
    oauth.server.clock.now = now;
  });
});

test('a person sees the clients with access, what they may do and when they last did it, and those of nobody else', async () => {
  const client = await oauth.register(connector({ name: 'Garden & Co' }));
  const [ada, ben] = [await oauth.signedIn('Ada'), await oauth.signedIn('Ben')];
  const { body } = await (await oauth.grant(ada, client)).redeem();
  const list = async (person: typeof ada) => (await person.browser.get('/settings/connectors')).body;
  expect(await list(ada)).toContain('not used yet');
  const { grantId } = (await oauth.verify(body['access_token']!)) as { grantId: string };
  const shown = await list(ada);
  for (const text of ['Garden &amp; Co', 'studio.example', 'See listening figures and reports', grantId])
    expect(shown).toContain(text);
  expect(shown).not.toContain('not used yet');
  expect(await list(ben)).not.toContain('Garden');
  await ben.browser.post('/settings/connectors', { grant: grantId });
  expect(await oauth.isLive(body['access_token']!)).toBe(true);
  const ended = await ada.browser.post('/settings/connectors', { grant: grantId });
  expect(ended.body).toMatch(/The access of .+ has ended\./);
  expect(await oauth.isLive(body['access_token']!)).toBe(false);
  expect(await list(ada)).not.toContain('Garden');
});
