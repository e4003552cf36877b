import { expect, test } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose';
import { createPrincipalSigner, signPrincipal, tryVerifyPrincipal, type Principal } from './index.ts';

async function keyPair(kid: string): Promise<{ readonly privateJwk: JWK; readonly publicJwk: JWK }> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true });
  return {
    privateJwk: { ...(await exportJWK(privateKey)), kid, alg: 'EdDSA' },
    publicJwk: { ...(await exportJWK(publicKey)), kid, alg: 'EdDSA' },
  };
}

const keys = await keyPair('one');
const now = new Date('2026-11-21T12:00:00.500Z');
const seconds = Math.floor(now.getTime() / 1000);
const principal: Principal = {
  account_id: 'acc_1',
  workspace_id: 'ws_1',
  roles: ['owner', 'editor'],
  grants: [{ workspace_id: 'ws_2', podcast_id: 'pod_1', roles: ['editor'] }],
  credential_id: 'crd_1',
  credential_kind: 'api_key',
  read_only: false,
};

/** A valid statement but for the given change. */
async function forge(change: {
  readonly key?: Parameters<SignJWT['sign']>[0];
  readonly alg?: string;
  readonly typ?: string;
  readonly issuer?: string;
  readonly audience?: string;
  readonly payload?: object;
}): Promise<string> {
  return new SignJWT({ principal: change.payload ?? principal })
    .setProtectedHeader({ alg: change.alg ?? 'EdDSA', typ: change.typ ?? 'principal+jwt', kid: 'one' })
    .setIssuer(change.issuer ?? 'longwave/auth-server')
    .setAudience(change.audience ?? 'longwave/services')
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + 60)
    .sign(change.key ?? keys.privateJwk);
}
const verify = (statement: string, at = now) => tryVerifyPrincipal(statement, [keys.publicJwk], at);
const after = (durationMs: number) => new Date(now.getTime() + durationMs);

test('a signed principal arrives as it was', async () => {
  expect(await verify(await signPrincipal(principal, keys.privateJwk, now))).toEqual(principal);
  expect(await verify(await forge({}))).toEqual(principal);
});

test('a statement holds for its lifetime and not a second longer', async () => {
  const statement = await signPrincipal(principal, keys.privateJwk, now, 60);
  expect(await verify(statement, after(59_000))).toEqual(principal);
  expect(await verify(statement, after(60_000))).toBeUndefined();
});

const other = await keyPair('one');
const rsa = await generateKeyPair('RS256');
const secret = Buffer.from(keys.publicJwk.x ?? '', 'base64url');

test.each([
  ['another key under the same key id', { key: other.privateJwk }],
  ['another issuer', { issuer: 'longwave/management' }],
  ['another audience', { audience: 'longwave/listeners' }],
  ['another kind of token', { typ: 'receipt+jwt' }],
  ['another algorithm', { alg: 'RS256', key: rsa.privateKey }],
  ['the public key abused as a shared secret', { alg: 'HS256', key: secret }],
  ['a role nobody knows', { payload: { ...principal, roles: ['root'] } }],
  ['a field nobody knows', { payload: { ...principal, sudo: true } }],
  ['a missing field', { payload: { account_id: 'acc_1' } }],
])('a statement with %s is refused', async (_, change) => {
  expect(await verify(await forge(change))).toBeUndefined();
});

test('a changed payload or signature, an unsigned statement and plain text are refused', async () => {
  const [header = '', payload = '', signature = ''] = (await forge({})).split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { principal: Principal };
  const text = JSON.stringify({ ...claims, principal: { ...principal, workspace_id: 'ws_2' } });
  const flipped = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1);
  const unsigned = Buffer.from(JSON.stringify({ alg: 'none', typ: 'principal+jwt' })).toString('base64url');
  for (const statement of [
    `${header}.${Buffer.from(text).toString('base64url')}.${signature}`,
    `${header}.${payload}.${flipped}`,
    `${unsigned}.${payload}.`,
    `${header}.${payload}`,
    'no statement',
    '',
  ])
    expect(await verify(statement)).toBeUndefined();
});

test('while keys rotate, statements of the old and of the new key are both accepted, in either order', async () => {
  const next = await keyPair('two');
  for (const privateJwk of [keys.privateJwk, next.privateJwk]) {
    const statement = await signPrincipal(principal, privateJwk, now);
    expect(await tryVerifyPrincipal(statement, [keys.publicJwk, next.publicJwk], now)).toEqual(principal);
    expect(await tryVerifyPrincipal(statement, [next.publicJwk, keys.publicJwk], now)).toEqual(principal);
  }
  const retired = await signPrincipal(principal, keys.privateJwk, now);
  expect(await tryVerifyPrincipal(retired, [next.publicJwk], now)).toBeUndefined();
});

test('without any key nobody is accepted', async () => {
  expect(await tryVerifyPrincipal(await forge({}), [], now)).toBeUndefined();
});

test('a principal with an undeclared field is not signed', async () => {
  const wider = { ...principal, email: 'a@example.com' };
  await expect(signPrincipal(wider, keys.privateJwk, now)).rejects.toThrow();
});

test('a statement that was accepted once is refused when its minute is over, and a changed copy of it always', async () => {
  const publicKeys = [keys.publicJwk];
  const statement = await signPrincipal(principal, keys.privateJwk, now);
  expect(await tryVerifyPrincipal(statement, publicKeys, now)).toEqual(principal);
  expect(await tryVerifyPrincipal(statement, publicKeys, after(59_000))).toEqual(principal);
  expect(await tryVerifyPrincipal(statement, publicKeys, after(60_000))).toBeUndefined();
  expect(await tryVerifyPrincipal(`${statement.slice(0, -4)}AAAA`, publicKeys, now)).toBeUndefined();
});

test('a signer reuses the statement of a principal for some seconds, and signs one of its own for any other principal', async () => {
  const sign = createPrincipalSigner(keys.privateJwk, 15);
  const first = await sign(principal, now);
  expect(await sign({ ...principal }, after(14_000))).toBe(first);
  expect(await sign({ ...principal, read_only: true }, now)).not.toBe(first);
  const second = await sign(principal, after(15_000));
  expect(second).not.toBe(first);
  expect(await tryVerifyPrincipal(second, [keys.publicJwk], after(70_000))).toEqual(principal);
});
