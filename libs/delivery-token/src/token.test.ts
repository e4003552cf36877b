import { readFileSync } from 'node:fs';
import { expect, describe, test } from '@jest/globals';
import fc from 'fast-check';
import { createTokenKeys, tokenPurposes, type TokenKeys, type TokenPurpose } from './token-keys.ts';
import { mintToken, neverExpires, openToken, type MintRequest, type OpenedToken } from './token.ts';

interface WireClaims {
  flags: number;
  expires_at: number;
  workspace_ordinal: number;
  subject: string;
  binding: string;
  slot: number;
  variant: number;
}
interface Vectors {
  keys: { kid: number; key: string }[];
  mint: { name: string; purpose: TokenPurpose; host: string; claims: WireClaims; token: string }[];
  open: { name: string; purpose: TokenPurpose; host: string; token: string; now: number; result: string }[];
}

const vectors = JSON.parse(readFileSync(new URL('../cases/tokens.json', import.meta.url), 'utf8')) as Vectors;
const keysOf = (masters: Vectors['keys']) =>
  createTokenKeys(masters.map(({ kid, key }) => ({ kid, key: Buffer.from(key, 'hex') })));
const claimsOf = (c: WireClaims) => ({
  flags: c.flags,
  expiresAt: c.expires_at,
  workspaceOrdinal: c.workspace_ordinal,
  subject: Buffer.from(c.subject, 'hex'),
  binding: Buffer.from(c.binding, 'hex'),
  slot: c.slot,
  variant: c.variant,
});
const verdict = (opened: OpenedToken) => (opened.ok ? 'ok' : opened.reason);

const purposes = Object.keys(tokenPurposes) as TokenPurpose[];
const bytes16 = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes));
const request: fc.Arbitrary<MintRequest> = fc.record({
  purpose: fc.constantFrom(...purposes),
  host: fc.domain(),
  flags: fc.nat(0xff),
  expiresAt: fc.nat(0xffff_fffe),
  workspaceOrdinal: fc.nat(0xffff_ffff),
  subject: bytes16,
  binding: bytes16,
  slot: fc.nat(0xffff),
  variant: fc.nat(0xffff),
});

describe('vectors', () => {
  const keys = keysOf(vectors.keys);
  test.each(vectors.mint)('minting gives the published token: $name', ({ purpose, host, claims, token }) => {
    expect(mintToken(keys, { purpose, host, ...claimsOf(claims) })).toBe(token);
    expect(openToken(keys, purpose, host, token, 0)).toEqual({ ok: true, claims: claimsOf(claims) });
  });
  test.each(vectors.open)('opening gives the published result: $name', ({ purpose, host, token, now, result }) => {
    expect(verdict(openToken(keys, purpose, host, token, now))).toBe(result);
  });
});

const keys: TokenKeys = keysOf(vectors.keys);

test('every claim survives the way into a token of 103 characters and back, until its second of expiry', () => {
  fc.assert(
    fc.property(request, (minted) => {
      const { purpose, host, ...claims } = minted;
      const token = mintToken(keys, minted);
      expect(token).toMatch(/^t1\.[A-Za-z0-9_-]{100}$/);
      expect(mintToken(keys, minted)).toBe(token);
      expect(openToken(keys, purpose, host, token, claims.expiresAt - 1)).toEqual({ ok: true, claims });
      expect(openToken(keys, purpose, host, token, claims.expiresAt)).toEqual({ ok: false, reason: 'expired', claims });
    }),
  );
});

test('a token of one purpose or host never opens for another', () => {
  fc.assert(
    fc.property(request, fc.constantFrom(...purposes), fc.domain(), (minted, purpose, host) => {
      fc.pre(purpose !== minted.purpose && host !== minted.host);
      const token = mintToken(keys, minted);
      expect(verdict(openToken(keys, purpose, minted.host, token, 0))).toBe('forged');
      expect(verdict(openToken(keys, minted.purpose, host, token, 0))).toBe('forged');
    }),
  );
});

test('changing any one bit of a token makes it worthless', () => {
  fc.assert(
    fc.property(request, fc.nat(75 * 8 - 1), (minted, bit) => {
      const bytes = Buffer.from(mintToken(keys, minted).slice(3), 'base64url');
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      expect(openToken(keys, minted.purpose, minted.host, `t1.${bytes.toString('base64url')}`, 0).ok).toBe(false);
    }),
  );
});

test('no text of another making opens, and none throws', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^t1\.[A-Za-z0-9_-]{98,102}$/)), (text) => {
      expect(openToken(keys, 'arr', 'media.example', text, 0).ok).toBe(false);
    }),
  );
});

test('after a rotation old tokens open while their key is kept, and not afterwards', () => {
  const [newer, older] = vectors.keys;
  const claims = {
    ...claimsOf(vectors.mint[0]!.claims),
    purpose: 'arr' as const,
    host: 'media.example',
    expiresAt: neverExpires,
  };
  const before = mintToken(keysOf([older!]), claims);
  const after = mintToken(keysOf([newer!, older!]), claims);
  expect(after).not.toBe(before);
  expect(verdict(openToken(keysOf([newer!, older!]), 'arr', 'media.example', before, 1))).toBe('ok');
  expect(verdict(openToken(keysOf([newer!]), 'arr', 'media.example', before, 1))).toBe('unknown_key');
});

test('keys of the wrong length, a kid twice and claims that do not fit are refused', () => {
  expect(() => createTokenKeys([])).toThrow(RangeError);
  expect(() => createTokenKeys([{ kid: 1, key: Buffer.alloc(16) }])).toThrow(RangeError);
  expect(() => keysOf([vectors.keys[0]!, vectors.keys[0]!])).toThrow(RangeError);
  const claims = claimsOf(vectors.mint[0]!.claims);
  expect(() => mintToken(keys, { purpose: 'arr', host: 'h', ...claims, slot: 70_000 })).toThrow(/out of range/);
  expect(() => mintToken(keys, { purpose: 'arr', host: 'h', ...claims, subject: Buffer.alloc(15) })).toThrow(
    RangeError,
  );
});
