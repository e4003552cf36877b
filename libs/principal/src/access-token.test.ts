import { createHmac } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { exportJWK, exportSPKI, generateKeyPair, importJWK, SignJWT, type JWK } from 'jose';
import {
  audienceTokenClaims,
  bearerOf,
  signAccessToken,
  tryVerifyAccessToken,
  type AudienceTokenClaims,
} from './access-token.ts';

const now = new Date('2026-11-21T12:00:00.000Z');
const seconds = (at: string) => Date.parse(at) / 1000;
const claims: AudienceTokenClaims = {
  iss: 'http://base.test',
  aud: 'http://api.test/audience/v1',
  sub: 'acme',
  client_id: 'acme',
  scope: 'audience:write',
  producer: 'acme',
  workspaces: ['ws_1'],
  iat: seconds('2026-11-21T11:59:00Z'),
  exp: seconds('2026-11-21T12:01:00Z'),
  jti: 'mtk_1',
};

const keys: { private: JWK; public: JWK }[] = [];
let publicPem: string;

beforeAll(async () => {
  for (const kid of ['one', 'two', 'stranger']) {
    const pair = await generateKeyPair('ES256', { extractable: true });
    keys.push({
      private: { ...(await exportJWK(pair.privateKey)), kid },
      public: { ...(await exportJWK(pair.publicKey)), kid },
    });
    if (kid === 'one') publicPem = await exportSPKI(pair.publicKey);
  }
});

/** The keys that the API knows: the first two. */
const verify = (token: string, at = now) =>
  tryVerifyAccessToken(token, audienceTokenClaims, {
    findKey: (kid) => keys.slice(0, 2).find((key) => key.public.kid === kid)?.public,
    issuer: 'http://base.test',
    audience: 'http://api.test/audience/v1',
    now: at,
  });

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token with another header, other claims or another key than a right one. */
async function forged(header: object, changes: object = {}, key: JWK = keys[0]!.private): Promise<string> {
  const payload = Object.fromEntries(Object.entries({ ...claims, ...changes }).filter(([, value]) => value !== null));
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'one', ...header })
    .sign(await importJWK(key, 'ES256'));
}

test('a token is good under every key that is published, the newest or an older one', async () => {
  for (const key of keys.slice(0, 2)) expect(await verify(await signAccessToken(claims, key.private))).toEqual(claims);
});

test('a token is good until the second it expires', async () => {
  const token = await signAccessToken(claims, keys[0]!.private);
  expect(await verify(token, new Date('2026-11-21T12:00:59.999Z'))).toBeDefined();
  expect(await verify(token, new Date('2026-11-21T12:01:00.000Z'))).toBeUndefined();
});

describe('no token is', () => {
  test.each<[string, () => Promise<string>]>([
    ['one of another issuer', () => forged({}, { iss: 'http://base.test/' })],
    ['one for another API', () => forged({}, { aud: 'http://api.test/management/v1' })],
    ['one for this API with a slash', () => forged({}, { aud: 'http://api.test/audience/v1/' })],
    ['one for several APIs', () => forged({}, { aud: ['http://api.test/audience/v1', 'http://api.test/x'] })],
    ['one for nobody', () => forged({}, { aud: null })],
    ['one that never expires', () => forged({}, { exp: null })],
    ['one that is not good yet', () => forged({}, { nbf: seconds('2026-11-21T12:00:30Z') })],
    ['one without an id', () => forged({}, { jti: null })],
    ['one without a producer', () => forged({}, { producer: null })],
    ['one without workspaces', () => forged({}, { workspaces: [] })],
    ['one with a scope that is a list', () => forged({}, { scope: ['audience:write'] })],
    ['an ID token', () => forged({ typ: 'JWT' })],
    ['a statement about a principal', () => forged({ typ: 'principal+jwt' })],
    ['one of no type', () => forged({ typ: undefined })],
    ['one that names no key', () => forged({ kid: undefined })],
    ['one that names an unknown key', () => forged({ kid: 'stranger' }, {}, keys[2]!.private)],
    ['one signed by another key than it names', () => forged({ kid: 'one' }, {}, keys[2]!.private)],
    ['one signed by the other published key', () => forged({ kid: 'one' }, {}, keys[1]!.private)],
    ['one that nobody signed', async () => `${base64({ alg: 'none', typ: 'at+jwt', kid: 'one' })}.${base64(claims)}.`],
    [
      'one that says none and keeps a signature',
      async () => {
        const [, , signature] = (await signAccessToken(claims, keys[0]!.private)).split('.');
        return `${base64({ alg: 'none', typ: 'at+jwt', kid: 'one' })}.${base64(claims)}.${signature}`;
      },
    ],
    [
      'one whose HMAC has the public key as its secret',
      async () => {
        const head = `${base64({ alg: 'HS256', typ: 'at+jwt', kid: 'one' })}.${base64(claims)}`;
        return `${head}.${createHmac('sha256', publicPem).update(head).digest('base64url')}`;
      },
    ],
    [
      'one whose claims were changed after signing',
      async () => {
        const [header, , signature] = (await signAccessToken(claims, keys[0]!.private)).split('.');
        return `${header}.${base64({ ...claims, workspaces: ['ws_2'] })}.${signature}`;
      },
    ],
    ['one that brings its own key', () => forged({ kid: 'stranger', jwk: keys[2]!.public }, {}, keys[2]!.private)],
    [
      'one with a critical header that nobody knows',
      async () => {
        const [, payload, signature] = (await signAccessToken(claims, keys[0]!.private)).split('.');
        return `${base64({ alg: 'ES256', typ: 'at+jwt', kid: 'one', crit: ['x'], x: 1 })}.${payload}.${signature}`;
      },
    ],
    ['any other text', async () => 'lw_key_0123456789'],
    ['nothing', async () => ''],
  ])('%s', async (_what, token) => {
    expect(await verify(await token())).toBeUndefined();
  });
});

test.each([
  ['Bearer abc.def', 'abc.def'],
  ['bearer abc', 'abc'],
  ['Bearer  abc ', 'abc'],
  ['Basic abc', undefined],
  ['Bearer', undefined],
  ['Bearer a b', undefined],
  ['Bearer a,Bearer b', undefined],
  [`Bearer ${'a'.repeat(8_193)}`, undefined],
  [undefined, undefined],
])('the header %j names the token %j', (header, token) => expect(bearerOf(header)).toBe(token));
