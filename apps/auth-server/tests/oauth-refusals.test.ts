import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  basic,
  callback,
  connector,
  managementResource,
  mcpResource,
  pkce,
  startOauth,
  type Fields,
  type OauthUnderTest,
} from './_oauth.ts';
import { removeExpiredArtifacts } from '../src/oauth/artifact-table.ts';
import { baseUrl } from './_support.ts';

let oauth: OauthUnderTest;
let client: Awaited<ReturnType<OauthUnderTest['register']>> & ReturnType<typeof connector>;
let ada: Awaited<ReturnType<OauthUnderTest['signedIn']>>;
beforeAll(async () => {
  oauth = await startOauth();
  client = await oauth.register(connector({ resources: ['mcp', 'rest'], scopes: ['mcp:read', 'api:read'] }));
  ada = await oauth.signedIn('Ada');
}, 120_000);
afterAll(() => oauth[Symbol.asyncDispose]());

const request = (changes: Fields = {}): Fields => ({
  ...{ response_type: 'code', client_id: client.client_id, redirect_uri: callback, resource: mcpResource, state: 's' },
  ...{ scope: 'mcp:read', code_challenge: pkce().challenge, code_challenge_method: 'S256', ...changes },
});

describe('an authorization request', () => {
  const cli = 'http://127.0.0.1:28417/callback';
  test.each<[string, Fields, string]>([
    ['for an implicit token', { response_type: 'token' }, 'unsupported_response_type invalid_request'],
    ['for an ID token', { response_type: 'code id_token' }, 'unsupported_response_type invalid_request'],
    ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['without a challenge method', { code_challenge_method: undefined }, 'invalid_request'],
    ['with plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['without a resource', { resource: undefined }, 'invalid_target'],
    ['for another resource', { resource: 'https://evil.example/mcp' }, 'invalid_target'],
    ['for a resource that the client may not use', { resource: managementResource }, 'invalid_target'],
    ['for the resource with a slash', { resource: `${mcpResource}/` }, 'invalid_target'],
    ['for the resource in capitals', { resource: 'http://MCP.test/mcp' }, 'invalid_target'],
    ['for the resource with a fragment', { resource: `${mcpResource}#x` }, 'invalid_target'],
    ['for two resources', { resource: [mcpResource, `${baseUrl}/api/v1`] }, 'invalid_target'],
    ['for a resource that is no address', { resource: 'mcp' }, 'invalid_target'],
    ['for an unknown scope', { scope: 'mcp:read everything' }, 'invalid_scope'],
    ['for a scope of another API', { scope: 'api:read' }, 'invalid_scope'],
    ['for a scope that the client may not have', { scope: 'mcp:content.delete' }, 'invalid_scope'],
    ['for the scope openid', { scope: 'openid mcp:read' }, 'invalid_scope'],
    ['with an answer in the fragment', { response_mode: 'fragment' }, 'unauthorized_client invalid_request'],
    ['with an unknown prompt', { prompt: 'everything' }, 'invalid_request'],
    ['with a request object', { request: 'x.y.z' }, 'request_not_supported'],
    ['with the scope twice', { scope: ['mcp:read', 'mcp:read'] }, 'invalid_request'],
  ])('%s goes back to the client with the error, issuer and state', async (_what, changes, error) => {
    const answer = await oauth.browser().get(oauth.authorizeUrl(request(changes)));
    expect(answer.status).toBe(303);
    const at = new URL(answer.headers.get('location')!);
    expect(at.origin + at.pathname).toBe(callback);
    const said = Object.fromEntries(at.hash ? new URLSearchParams(at.hash.slice(1)) : at.searchParams);
    expect(error.split(' ')).toContain(said['error']);
    expect(said).toMatchObject({ iss: baseUrl, state: 's' });
    expect(said).not.toHaveProperty('code');
  });

  test.each<[string, () => Fields]>([
    ['without a redirect address', () => ({ redirect_uri: undefined })],
    ['with a slash after the address', () => ({ redirect_uri: `${callback}/` })],
    ['with a query after the address', () => ({ redirect_uri: `${callback}?x=1` })],
    [
      'with another port of the command line',
      () => ({ client_id: 'longwave-cli', redirect_uri: cli.replace('28417', '28418') }),
    ],
    [
      'with another name of the machine',
      () => ({ client_id: 'longwave-cli', redirect_uri: cli.replace('127.0.0.1', 'localhost') }),
    ],
    [
      'with the other loopback address',
      () => ({ client_id: 'longwave-cli', redirect_uri: cli.replace('127.0.0.1', '[::1]') }),
    ],
    ['with a user in the address', () => ({ client_id: 'longwave-cli', redirect_uri: cli.replace('127', 'a@127') })],
    ['with two redirect addresses', () => ({ redirect_uri: [callback, callback] })],
    ['of an unknown client', () => ({ client_id: 'nobody' })],
    ['of two clients', () => ({ client_id: [client.client_id, client.client_id] })],
    ['of no client', () => ({ client_id: undefined })],
    ['of a client with a NUL in its name', () => ({ client_id: 'a\u0000b' })],
    ['of a client with a name that is too long', () => ({ client_id: 'a'.repeat(10_000) })],
    ['of a client that nobody approved, by its document', () => ({ client_id: 'https://evil.example/client.json' })],
  ])('%s is answered here, never at an address', async (_what, changes) => {
    const browser = oauth.browser();
    const answer = await browser.get(oauth.authorizeUrl(request(changes())));
    expect(answer.status).toBe(400);
    expect(answer.headers.get('location')).toBeNull();
    const page = await browser.fetch(oauth.authorizeUrl(request(changes())), { headers: { accept: 'text/html' } });
    expect(page.status).toBe(400);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.body).toContain('This request for access is not valid');
  });

  test('may hold every text that a parameter can hold', async () => {
    for (const state of ['\u0000', '\ud800', 'ä🙂', 'x'.repeat(8_000), '"><script>'])
      expect((await ada.browser.get(oauth.authorizeUrl(request({ state })))).status).toBe(303);
    const stranger = oauth.browser();
    for (const path of ['/oauth/authorize?%', '/oauth/authorize?client_id[]=x', '/oauth/authorize/%00'])
      expect([400, 404]).toContain((await stranger.get(path)).status);
    const ben = await oauth.signedIn('Ben');
    expect((await ben.browser.get('/oauth/interaction/x')).status).toBe(404);
  });

  test('is refused after sixty in a minute from one address, before anything is stored; others go on', async () => {
    const browser = oauth.browser();
    const interactions = async () =>
      (await oauth.pool.query(`select from oauth_artifact where model = 'Interaction'`)).rowCount;
    for (let sent = 0; sent < 60; sent++) expect((await browser.get(oauth.authorizeUrl(request()))).status).toBe(303);
    const before = await interactions();
    const refused = await browser.get(oauth.authorizeUrl(request()));
    expect([refused.status, refused.body.includes('Too many requests for access')]).toEqual([429, true]);
    const wait = Number(refused.headers.get('retry-after'));
    expect([wait > 0, wait <= 60]).toEqual([true, true]);
    expect(await interactions()).toBe(before);
    expect((await oauth.browser().get(oauth.authorizeUrl(request()))).status).toBe(303);
  });

  test('that nobody goes on with is forgotten after ten minutes', async () => {
    await oauth.browser().get(oauth.authorizeUrl(request()));
    const interactions = async () =>
      (await oauth.pool.query(`select from oauth_artifact where model = 'Interaction'`)).rowCount;
    await removeExpiredArtifacts(oauth.pool, new Date(), 10_000);
    expect(await interactions()).toBeGreaterThan(0);
    await removeExpiredArtifacts(oauth.pool, new Date(Date.now() + 601_000), 10_000);
    expect(await interactions()).toBe(0);
  });

  test('by POST is not possible', async () => {
    const answer = await oauth.post('/oauth/authorize', request());
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe('a code', () => {
  test.each<[string, Fields, string]>([
    ['without the verifier', { code_verifier: undefined }, 'invalid_grant'],
    ['with another verifier', { code_verifier: pkce().verifier }, 'invalid_grant'],
    ['without the redirect address', { redirect_uri: undefined }, 'invalid_request'],
    ['with another redirect address', { redirect_uri: `${callback}/` }, 'invalid_grant'],
    ['for another resource', { resource: `${baseUrl}/api/v1` }, 'invalid_target'],
    ['of another client', { client_id: 'longwave-cli' }, 'invalid_grant'],
  ])('%s is not redeemed', async (_what, changes, error) => {
    const { redeem } = await oauth.grant(ada, client);
    const answer = await redeem(changes);
    expect([answer.status, answer.body['error']]).toEqual([400, error]);
  });

  test('that is redeemed twice ends every token that came of it', async () => {
    const { redeem } = await oauth.grant(ada, client);
    const { body } = await redeem();
    expect(await oauth.isLive(body['access_token']!)).toBe(true);
    expect((await redeem()).body['error']).toBe('invalid_grant');
    expect(await oauth.isLive(body['access_token']!)).toBe(false);
    expect((await oauth.refresh(client, body['refresh_token']!)).body['error']).toBe('invalid_grant');
  });

  test('that six requests redeem at once gives tokens at most once, and then the family is dead', async () => {
    const { redeem } = await oauth.grant(ada, client);
    await expectDeadFamily(await Promise.all(Array.from({ length: 6 }, () => redeem())));
  });
});

async function expectDeadFamily(
  answers: readonly { readonly status: number; readonly body: Record<string, string> }[],
) {
  const good = answers.filter(({ status }) => status === 200);
  expect(good.length).toBeLessThanOrEqual(1);
  expect(answers.filter(({ status }) => status !== 200).map(({ body }) => body['error'])).toEqual(
    Array.from({ length: 6 - good.length }, () => 'invalid_grant'),
  );
  for (const { body } of good) {
    expect(await oauth.isLive(body['access_token']!)).toBe(false);
    expect((await oauth.refresh(client, body['refresh_token']!)).body['error']).toBe('invalid_grant');
  }
}

describe('a refresh token', () => {
  const family = async () => {
    const { body } = await (await oauth.grant(ada, client)).redeem();
    return { token: body['refresh_token']!, accessToken: body['access_token']! };
  };

  test('is replaced at each use, and the tokens of the family stay good', async () => {
    const { token, accessToken } = await family();
    const next = await oauth.refresh(client, token);
    expect(next.body).toMatchObject({ scope: 'mcp:read', token_type: 'Bearer', expires_in: 900 });
    expect(next.body['refresh_token']).not.toBe(token);
    expect(await oauth.isLive(accessToken)).toBe(true);
    expect(await oauth.isLive(next.body['access_token']!)).toBe(true);
  });

  test.each<[string, Fields]>([
    ['as it was', {}],
    ['with an unknown scope', { scope: 'everything' }],
    ['with another resource', { resource: 'https://evil.example' }],
    ['by another client', { client_id: 'longwave-cli' }],
  ])('that is used a second time, %s, ends the family', async (_what, changes) => {
    const { token } = await family();
    const { body } = await oauth.refresh(client, token);
    expect((await oauth.refresh(client, token, changes)).body['error']).toBe('invalid_grant');
    expect(await oauth.isLive(body['access_token']!)).toBe(false);
    expect((await oauth.refresh(client, body['refresh_token']!)).body['error']).toBe('invalid_grant');
  });

  test.each<[string, Fields, string]>([
    ['another resource', { resource: 'https://evil.example' }, 'invalid_target'],
    ['two resources', { resource: [mcpResource, `${baseUrl}/api/v1`] }, 'invalid_target'],
    ['a scope that was not granted', { scope: 'mcp:read mcp:content.delete' }, 'invalid_scope'],
  ])('with %s is refused and stays good for the right request', async (_what, changes, error) => {
    const { token } = await family();
    expect((await oauth.refresh(client, token, changes)).body['error']).toBe(error);
    expect((await oauth.refresh(client, token, { resource: mcpResource })).status).toBe(200);
  });

  test('that six requests use at once gives tokens at most once, and then the family is dead', async () => {
    const { token } = await family();
    await expectDeadFamily(await Promise.all(Array.from({ length: 6 }, () => oauth.refresh(client, token))));
  });

  test('that was used is remembered as long as its grant, and everything else as long as it lives', async () => {
    const { token, accessToken } = await family();
    await oauth.refresh(client, token);
    const { grantId } = (await oauth.verify(accessToken)) as { grantId: string };
    const models = async () => {
      const { rows } = await oauth.pool.query<{ model: string }>(
        'select model from oauth_artifact where grant_id = $1 order by model',
        [grantId],
      );
      return rows.map(({ model }) => model);
    };
    const sweepIn = (days: number) =>
      removeExpiredArtifacts(oauth.pool, new Date(Date.now() + days * 86_400_000), 10_000);
    const [access, code, refreshToken] = ['AccessToken', 'AuthorizationCode', 'RefreshToken'];
    expect(await models()).toEqual([access, access, code, 'Grant', refreshToken, refreshToken]);
    await sweepIn(40);
    expect(await models()).toEqual([code, 'Grant', refreshToken]);
    await sweepIn(181);
    expect(await models()).toEqual([]);
  });

  test('of another family lives on, and the person reads of the reuse', async () => {
    const [one, other] = [await family(), await family()];
    await oauth.refresh(client, one.token);
    await oauth.refresh(client, one.token);
    expect((await oauth.refresh(client, other.token)).status).toBe(200);
    expect(await oauth.securityEvents(ada.userId)).toContain('reuse_detected');
  });
});

describe('revoking', () => {
  test.each(['access_token', 'refresh_token'])('the %s ends the family at once', async (kind) => {
    const { body } = await (await oauth.grant(ada, client)).redeem();
    const answer = await oauth.post('/oauth/revoke', { client_id: client.client_id, token: body[kind] });
    expect(answer.status).toBe(200);
    expect(await oauth.isLive(body['access_token']!)).toBe(false);
    expect((await oauth.refresh(client, body['refresh_token']!)).body['error']).toBe('invalid_grant');
  });

  test('by another client, or of what is no token, is answered 200 and changes nothing', async () => {
    const { body } = await (await oauth.grant(ada, client)).redeem();
    for (const fields of [
      { client_id: 'longwave-cli', token: body['access_token'] },
      { client_id: client.client_id, token: 'nothing' },
    ])
      expect((await oauth.post('/oauth/revoke', fields)).status).toBe(200);
    expect(await oauth.isLive(body['access_token']!)).toBe(true);
  });
});

describe('a request that is not one', () => {
  const big = 'x'.repeat(70_000);
  const cases: readonly [string, Fields | string, Record<string, string>][] = [
    ['an empty one', '', {}],
    ['one without a grant type', { client_id: 'longwave-cli' }, {}],
    ['one of an unknown grant type', { client_id: 'longwave-cli', grant_type: 'password' }, {}],
    ['one with a grant type twice', { client_id: 'longwave-cli', grant_type: ['refresh_token', 'refresh_token'] }, {}],
    [
      'one with a refresh token twice',
      { client_id: 'longwave-cli', grant_type: 'refresh_token', refresh_token: ['a', 'b'] },
      {},
    ],
    ['one with a NUL', { client_id: 'longwave-cli\u0000', grant_type: 'refresh_token', refresh_token: '\u0000' }, {}],
    ['one that is too large', { client_id: 'longwave-cli', grant_type: 'refresh_token', refresh_token: big }, {}],
    ['one in JSON', '{"grant_type":"refresh_token"}', { 'content-type': 'application/json' }],
    [
      'one in an unknown character set',
      'grant_type=x',
      { 'content-type': 'application/x-www-form-urlencoded; charset=utf-99' },
    ],
    ['one that cannot be decoded', '%%%=%E0%A4%A', {}],
    ['one with a wrong Authorization', { grant_type: 'refresh_token' }, { authorization: 'Basic !!!' }],
    ['one with a Bearer', { grant_type: 'refresh_token' }, { authorization: 'Bearer x' }],
    ['one with a secret of a public client', { grant_type: 'refresh_token' }, basic('longwave-cli', 'x')],
  ];
  test.each(cases)('%s is refused with a 4xx', async (_what, fields, headers) => {
    for (const path of ['/oauth/token', '/oauth/revoke']) {
      const answer = await oauth.post(path, fields, headers);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
      expect(answer.body['error']).toMatch(/^[a-z_]+$/);
    }
  });

  test.each(['GET', 'PUT', 'DELETE'])('%s is not possible at the token endpoint', async (method) => {
    expect((await fetch(`${oauth.url}/oauth/token`, { method })).status).toBe(405);
  });
});

test('pages of the client’s own origin may redeem, and pages of no other', async () => {
  const asked = async (origin: string) =>
    (
      await oauth.post(
        '/oauth/token',
        { client_id: client.client_id, grant_type: 'refresh_token', refresh_token: 'x' },
        { origin },
      )
    ).headers.get('access-control-allow-origin');
  expect(await asked('https://studio.example')).toBe('https://studio.example');
  expect(await asked('https://evil.example')).toBeNull();
});

test('no table and no log holds a token, code, verifier or secret that could be used', async () => {
  const { body, code, verifier } = await (async () => {
    const { redeem, ...more } = await oauth.grant(ada, client);
    return { ...(await redeem()), ...more };
  })();
  const next = await oauth.refresh(client, body['refresh_token']!);
  const { path } = await oauth.open(ada, oauth.authorizeUrl(request()));
  const used = [code, verifier, body['access_token'], body['refresh_token'], next.body['access_token']];
  const texts = [...used, next.body['refresh_token'], path.split('/').at(-1)] as string[];
  const dump = await oauth.dump();
  expect(dump).toContain(client.client_id);
  for (const text of texts) {
    expect(text.length).toBeGreaterThanOrEqual(40);
    expect(dump).not.toContain(text);
    expect(oauth.server.logLines.join('')).not.toContain(text);
  }
});
