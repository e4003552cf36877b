import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createExchangeClient } from '@longwave/exchange-client';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import { newId } from '@longwave/ids';
import { audienceTokenClaims, exchangeTokenClaims, tryVerifyAccessToken } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import {
  createRemoteJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  jwtVerify,
  SignJWT,
} from 'jose';
import {
  audienceResource,
  basic,
  connector,
  exchangeResource,
  mcpResource,
  pkce,
  startOauth,
  type Fields,
  type OauthUnderTest,
} from './_oauth.ts';
import { baseUrl, digestOf } from './_support.ts';

/** The metadata documents that the hosts of connectors serve, by address; every fetch is recorded. */
const documents = new Map<string, object>();
const fetched: string[] = [];
const fetchDocument: GuardedFetch = async (url) => {
  fetched.push(url);
  const document = documents.get(url);
  if (!document) throw new Problem('media_not_fetchable', 'There is nothing.');
  const body = (async function* () {
    yield Buffer.from(JSON.stringify(document));
  })();
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    finalUrl: url,
    body,
    [Symbol.dispose]: () => undefined,
  };
};

let oauth: OauthUnderTest;
let workspaceId: string;
beforeAll(async () => {
  oauth = await startOauth({ fetchDocument });
  workspaceId = newId('ws');
  await oauth.server.send(workspaceId, 'account.create', { name: 'Harbour Light', plan: 'network' });
}, 120_000);
afterAll(() => oauth[Symbol.asyncDispose]());

const machine = (changes: object = {}) => ({
  client_id: newId('req') as string,
  kind: 'machine',
  name: 'Edge network',
  token_endpoint_auth_method: 'client_secret_basic',
  grant_types: ['client_credentials'],
  redirect_uris: [],
  resources: ['audience'],
  scopes: ['audience:write', 'audience:read'],
  producer: 'acme',
  workspaces: [workspaceId],
  ...changes,
});

const authorityId = newId('agr');
/** The authority of a hosting platform, which takes the place of a producer. */
const platform = () => ({
  resources: ['exchange'],
  scopes: ['exchange:write', 'exchange:read'],
  producer: undefined,
  workspaces: undefined,
  authority: { workspace_id: workspaceId, authority_id: authorityId },
});

async function registered(changes: object = {}) {
  const { text, digest } = oauth.secret();
  const client = await oauth.register(machine({ secret_digest: digest, ...changes }));
  const ask = (fields: Fields = {}, secret = text) =>
    oauth.post(
      '/oauth/token',
      { grant_type: 'client_credentials', resource: audienceResource, scope: 'audience:write', ...fields },
      basic(client.client_id, secret),
    );
  return { client, ask, secret: text };
}

const verified = (token: string) =>
  tryVerifyAccessToken(token, audienceTokenClaims, {
    findKey: (kid) => oauth.server.tokenKeys.publicKeys.find((key) => key.kid === kid),
    issuer: baseUrl,
    audience: audienceResource,
    now: new Date(),
  });

describe('a machine', () => {
  test('gets a token of RFC 9068 for the sink, with its producer and workspaces, for ten minutes', async () => {
    const { client, ask } = await registered();
    const { body } = await ask();
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 600, scope: 'audience:write' });
    expect(body).not.toHaveProperty('refresh_token');
    expect(decodeProtectedHeader(body['access_token']!)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
    const claims = (await verified(body['access_token']!))!;
    expect(claims).toMatchObject({
      ...{ iss: baseUrl, aud: audienceResource, sub: client.client_id, client_id: client.client_id },
      ...{ scope: 'audience:write', producer: 'acme', workspaces: [workspaceId] },
    });
    expect(claims.exp - claims.iat).toBe(600);
  });

  test('of the exchange gets a token with its one workspace and authority, and without a producer', async () => {
    const { ask, client } = await registered(platform());
    const { body } = await ask({ resource: exchangeResource, scope: 'exchange:write exchange:read' });
    const keys = createRemoteJWKSet(new URL(`${oauth.url}/oauth/jwks`));
    const { payload } = await jwtVerify(body['access_token']!, keys, { audience: exchangeResource, typ: 'at+jwt' });
    expect(payload).not.toHaveProperty('producer');
    expect(payload).not.toHaveProperty('workspaces');
    expect(exchangeTokenClaims.parse(payload)).toMatchObject({
      ...{ client_id: client.client_id, scope: 'exchange:write exchange:read' },
      ...{ workspace: workspaceId, authority: authorityId },
    });
  });

  test('of the exchange speaks for another authority from its next token on', async () => {
    const { ask, client } = await registered(platform());
    const other = { workspace_id: workspaceId, authority_id: newId('agr') };
    await client.change('revise', { authority: other });
    const { body } = await ask({ resource: exchangeResource, scope: 'exchange:read' });
    expect(decodeJwt(body['access_token']!)).toMatchObject({ authority: other.authority_id });
  });

  test('of both machine APIs gets in each token what that API needs', async () => {
    const { ask } = await registered({
      ...platform(),
      ...{ resources: ['audience', 'exchange'], scopes: ['audience:write', 'exchange:read'] },
      ...{ producer: 'acme', workspaces: [workspaceId] },
    });
    const [sink, exchange] = [await ask(), await ask({ resource: exchangeResource, scope: 'exchange:read' })];
    expect(decodeJwt(sink.body['access_token']!)).not.toHaveProperty('authority');
    expect(decodeJwt(exchange.body['access_token']!)).not.toHaveProperty('producer');
  });

  test('of the exchange that was registered before clients named an authority gets no token', async () => {
    const { ask, client } = await registered(platform());
    await oauth.pool.query(`update resource set attributes = attributes - 'authority' where id = $1`, [client.id]);
    const answer = await ask({ resource: exchangeResource, scope: 'exchange:read' });
    expect([answer.status, answer.body['error']]).toEqual([400, 'invalid_target']);
  });

  test.each<[string, Fields, number, string]>([
    ['without a resource', { resource: undefined }, 400, 'invalid_target'],
    ['for another resource', { resource: mcpResource }, 400, 'invalid_target'],
    ['for a resource of other machines', { resource: exchangeResource }, 400, 'invalid_target'],
    ['for two resources', { resource: [audienceResource, exchangeResource] }, 400, 'invalid_target'],
    ['for a scope of another API', { scope: 'exchange:write' }, 400, 'invalid_scope'],
    ['by a code', { grant_type: 'authorization_code' }, 400, 'invalid_request'],
  ])('that asks %s is refused', async (_what, fields, status, error) => {
    const { ask } = await registered();
    const answer = await ask(fields);
    expect([answer.status, answer.body['error']]).toEqual([status, error]);
  });

  test('without its secret, with another one or with its digest gets nothing', async () => {
    const { client, ask, secret: right } = await registered();
    for (const secret of ['wrong', digestOf(right), '']) expect([400, 401]).toContain((await ask({}, secret)).status);
    expect(await oauth.dump()).not.toContain(right);
    const fields = { grant_type: 'client_credentials', resource: audienceResource };
    expect((await oauth.post('/oauth/token', { ...fields, client_id: client.client_id })).status).toBe(401);
  });

  test('without a scope gets the least', async () => {
    const { ask } = await registered();
    expect((await ask({ scope: undefined })).body).toMatchObject({ scope: 'audience:read' });
  });

  test('that is disabled gets no token, and auth-server says so to the APIs at once', async () => {
    const { client, ask } = await registered();
    const check = async (clientId: string) =>
      (await oauth.server.clients.sink.clients.checkMachineToken({ clientId, tokenId: 'jti' }, {})).active;
    expect([await check(client.client_id), await check('nobody'), await check('a\u0000')]).toEqual([
      true,
      false,
      false,
    ]);
    await client.change('disable');
    expect(await check(client.client_id)).toBe(false);
    expect((await ask()).body['error']).toBe('invalid_client');
    await client.change('enable');
    expect((await ask()).status).toBe(200);
  });

  test('may prove itself by a key: each assertion once, and only by its own key', async () => {
    const [own, other] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')]);
    const { x, y } = (await exportJWK(own.publicKey)) as { x: string; y: string };
    const client = await oauth.register(
      machine({ token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ kty: 'EC', crv: 'P-256', x, y }] } }),
    );
    const assertion = (key = own.privateKey, aud = baseUrl, life = '1m') =>
      new SignJWT({ jti: newId('req') })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer(client.client_id)
        .setSubject(client.client_id)
        .setAudience(aud)
        .setIssuedAt()
        .setExpirationTime(life)
        .sign(key);
    const ask = async (text: string) =>
      (
        await oauth.post('/oauth/token', {
          ...{ grant_type: 'client_credentials', resource: audienceResource, scope: 'audience:read' },
          ...{
            client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
            client_assertion: text,
          },
        })
      ).status;
    const once = await assertion();
    expect([await ask(once), await ask(once)]).toEqual([200, 401]);
    expect(await ask(await assertion(other.privateKey))).toBe(401);
    expect(await ask(await assertion(own.privateKey, 'https://evil.example'))).toBe(401);
    expect(await ask(await assertion(own.privateKey, baseUrl, '61m'))).toBe(401);
    const twice = await assertion();
    const answers = await Promise.all([ask(twice), ask(twice), ask(twice)]);
    expect(answers.filter((status) => status === 200)).toHaveLength(1);
  });
});

test('the library of the exchange gets its tokens by a secret and by a key', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const { x, y } = (await exportJWK(publicKey)) as { x: string; y: string };
  const { client: bySecret, secret } = await registered(platform());
  const byKey = await oauth.register(
    machine({
      ...{ ...platform(), token_endpoint_auth_method: 'private_key_jwt' },
      jwks: { keys: [{ kty: 'EC', crv: 'P-256', x, y }] },
    }),
  );
  for (const [clientId, proof] of [
    [bySecret.client_id, { clientSecret: secret }],
    [byKey.client_id, { privateKeyJwt: await exportJWK(privateKey) }],
  ] as const) {
    const sent: unknown[] = [];
    const exchange = createExchangeClient({
      ...{ apiUrl: 'http://api.test', tokenUrl: `${baseUrl}/oauth/token`, clientId, ...proof },
      ...{ workspaceId, authorityId },
      fetch: async (input, init) => {
        const address = input instanceof Request ? input.url : String(input);
        if (!address.startsWith('http://api.test')) return oauth.clientFetch(input, init);
        sent.push(decodeJwt(new Headers(init?.headers).get('authorization')!.slice('Bearer '.length)));
        return Response.json({ status: 404, code: 'not_found', detail: 'There is none.' }, { status: 404 });
      },
    });
    expect(await exchange.head('show:1234')).toBeUndefined();
    expect(sent).toMatchObject([{ client_id: clientId, workspace: workspaceId, authority: authorityId }]);
  }
});

test('a new key of the file signs and is published without a restart, and tokens of the older one stay good', async () => {
  const { ask } = await registered();
  const older = (await ask()).body['access_token']!;
  await oauth.server.tokenKeys.add();
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const newer = (await ask()).body['access_token']!;
  expect(decodeProtectedHeader(newer).kid).not.toBe(decodeProtectedHeader(older).kid);
  const published = await fetch(`${oauth.url}/oauth/jwks`);
  expect(published.headers.get('cache-control')).toBe('public, max-age=300');
  const text = await published.text();
  expect(text).not.toContain('"d"');
  const { keys } = JSON.parse(text) as { keys: { kid: string }[] };
  expect(keys.map(({ kid }) => kid)).toEqual([newer, older].map((token) => decodeProtectedHeader(token).kid));
  for (const token of [older, newer]) expect(await verified(token)).toBeDefined();
});

describe('a connector with a metadata document', () => {
  const address = 'https://studio.example/client.json';
  const record = connector({ client_id: address });
  const document = {
    ...{ client_id: address, client_name: record.name, redirect_uris: record.redirect_uris },
    ...{ grant_types: record.grant_types, token_endpoint_auth_method: 'none', response_types: ['code'] },
  };
  const ask = (clientId = address) =>
    oauth.authorizeUrl({
      ...{ response_type: 'code', client_id: clientId, redirect_uri: record.redirect_uris[0], resource: mcpResource },
      ...{ code_challenge: pkce().challenge, code_challenge_method: 'S256' },
    });
  const status = async (clientId: string) => (await oauth.browser().get(ask(clientId))).status;

  test('is fetched only when its record is approved, and gives tokens when the document says the same', async () => {
    expect(await status(address)).toBe(400);
    expect(fetched).toEqual([]);
    documents.set(address, document);
    const metadata = async () => (await fetch(`${oauth.url}/.well-known/oauth-authorization-server`)).json();
    expect(await metadata()).not.toHaveProperty('client_id_metadata_document_supported');
    const client = await oauth.register(record);
    expect(await metadata()).toMatchObject({ client_id_metadata_document_supported: true });
    const ada = await oauth.signedIn('Ada');
    const { body } = await (await oauth.grant(ada, record)).redeem();
    expect(await oauth.isLive(body['access_token']!)).toBe(true);
    await client.change('disable');
    expect(await oauth.isLive(body['access_token']!)).toBe(false);
    expect(await status(address)).toBe(400);
  });

  test.each<[string, object]>([
    ['another name', { client_name: 'Stud1o' }],
    ['one more redirect address', { redirect_uris: [...record.redirect_uris, 'https://evil.example/'] }],
    ['keys of its own', { jwks_uri: 'https://studio.example/keys' }],
    ['another client_id', { client_id: 'https://studio.example/other.json' }],
    ['another method', { token_endpoint_auth_method: 'client_secret_basic' }],
    ['a secret', { client_secret: 'x'.repeat(40) }],
    ['one more grant type', { grant_types: [...record.grant_types, 'client_credentials'] }],
  ])('that says %s is refused', async (what, changes) => {
    const clientId = `https://studio.example/${encodeURIComponent(what)}.json`;
    await oauth.register({ ...record, client_id: clientId });
    documents.set(clientId, { ...document, client_id: clientId, ...changes });
    expect(await status(clientId)).toBe(400);
  });

  test('that cannot be fetched is refused', async () => {
    const clientId = 'https://studio.example/away.json';
    await oauth.register({ ...record, client_id: clientId });
    expect(await status(clientId)).toBe(400);
  });
});
