import { readFileSync } from 'node:fs';
import { expect, describe, test } from '@jest/globals';
import fc from 'fast-check';
import { createTokenKeys, keyWeek, kidOf, maxTokenLife, tokenPurposes, type TokenPurpose } from './token-keys.ts';
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
  secrets: string[];
  revoked: { week: number; times: number }[];
  mint: { name: string; purpose: TokenPurpose; host: string; starts_at: number; claims: WireClaims; token: string }[];
  open: { name: string; purpose: TokenPurpose; host: string; token: string; now: number; result: string }[];
}

const vectors = JSON.parse(readFileSync(new URL('../cases/tokens.json', import.meta.url), 'utf8')) as Vectors;
const secrets = vectors.secrets.map((hex) => Buffer.from(hex, 'hex'));
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

const day = 86_400;
const week = 7 * day;
const purposes = Object.keys(tokenPurposes) as TokenPurpose[];
const bytes16 = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes));
/** Any token that began at some time of 2026 and lives at least a second. */
const request: fc.Arbitrary<MintRequest> = fc
  .record({
    purpose: fc.constantFrom(...purposes),
    host: fc.domain(),
    startsAt: fc.integer({ min: 1_767_225_600, max: 1_798_761_599 }),
    lifeSeconds: fc.integer({ min: 1, max: maxTokenLife }),
    flags: fc.nat(0xff),
    workspaceOrdinal: fc.nat(0xffff_ffff),
    subject: bytes16,
    binding: bytes16,
    slot: fc.nat(0xffff),
    variant: fc.nat(0xffff),
  })
  .map(({ lifeSeconds, ...rest }) => ({ ...rest, expiresAt: rest.startsAt + lifeSeconds }));

describe('vectors', () => {
  const revoked = new Map(vectors.revoked.map(({ week: each, times }) => [each, times]));
  const keys = createTokenKeys(secrets, (each) => revoked.get(each) ?? 0);
  test.each(vectors.mint)('minting gives the published token: $name', (vector) => {
    const { purpose, host, starts_at: startsAt, claims, token } = vector;
    expect(mintToken(keys, { purpose, host, startsAt, ...claimsOf(claims) })).toBe(token);
    expect(openToken(keys, purpose, host, token, startsAt)).toEqual({ ok: true, claims: claimsOf(claims) });
  });
  test.each(vectors.open)('opening gives the published result: $name', ({ purpose, host, token, now, result }) => {
    expect(verdict(openToken(keys, purpose, host, token, now))).toBe(result);
  });
});

const keys = createTokenKeys(secrets);

test('every claim survives the way into a token of 103 characters and back, until its second of expiry', () => {
  fc.assert(
    fc.property(request, (minted) => {
      const { purpose, host, startsAt, ...claims } = minted;
      const token = mintToken(keys, minted);
      expect(token).toMatch(/^t1\.[A-Za-z0-9_-]{100}$/);
      expect(openToken(keys, purpose, host, token, startsAt)).toEqual({ ok: true, claims });
      expect(openToken(keys, purpose, host, token, claims.expiresAt - 1)).toEqual({ ok: true, claims });
      expect(openToken(keys, purpose, host, token, claims.expiresAt)).toEqual({ ok: false, reason: 'expired', claims });
    }),
  );
});

test('equal inputs give the same token whenever it is minted, and another week of beginning gives another', () => {
  fc.assert(
    fc.property(request, (minted) => {
      expect(mintToken(createTokenKeys(secrets), minted)).toBe(mintToken(keys, minted));
      expect(mintToken(keys, { ...minted, startsAt: minted.startsAt + week })).not.toBe(mintToken(keys, minted));
    }),
  );
});

test('a token of one purpose or host never opens for another', () => {
  fc.assert(
    fc.property(request, fc.constantFrom(...purposes), fc.domain(), (minted, purpose, host) => {
      fc.pre(purpose !== minted.purpose && host !== minted.host);
      const token = mintToken(keys, minted);
      expect(verdict(openToken(keys, purpose, minted.host, token, minted.startsAt))).toBe('forged');
      expect(verdict(openToken(keys, minted.purpose, host, token, minted.startsAt))).toBe('forged');
    }),
  );
});

test('changing any one bit of a token makes it worthless', () => {
  fc.assert(
    fc.property(request, fc.nat(75 * 8 - 1), (minted, bit) => {
      const bytes = Buffer.from(mintToken(keys, minted).slice(3), 'base64url');
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      const changed = `t1.${bytes.toString('base64url')}`;
      expect(openToken(keys, minted.purpose, minted.host, changed, minted.startsAt)).not.toHaveProperty('claims');
    }),
  );
});

test('no text of another making opens, and none throws', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.stringMatching(/^t1\.[A-Za-z0-9_-]{98,102}$/)),
      fc.nat(0xffff_ffff),
      (text, now) => {
        expect(openToken(keys, 'arr', 'media.example', text, now).ok).toBe(false);
      },
    ),
  );
});

const claims = { ...claimsOf(vectors.mint[0]!.claims), purpose: 'arr', host: 'media.example' } as const;
const endless = (startsAt: number): MintRequest => ({ ...claims, startsAt, expiresAt: neverExpires });

test('the keys of a week open for 180 days and a week ahead, whatever other weeks have the same kid', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1_767_225_600, max: 1_798_761_599 }),
      fc.integer({ min: -256 * week, max: 256 * week }),
      (startsAt, later) => {
        const opened = verdict(
          openToken(keys, 'arr', 'media.example', mintToken(keys, endless(startsAt)), startsAt + later),
        );
        const ahead = keyWeek(startsAt) - keyWeek(startsAt + later);
        const kept = ahead <= 1 && keyWeek(startsAt) >= keyWeek(startsAt + later - maxTokenLife);
        if (kept) expect(opened).toBe('ok');
        else expect(['unknown_key', 'forged']).toContain(opened);
      },
    ),
  );
});

test('a new secret mints at once, while tokens of the one before open for as long as it is kept', () => {
  const [newer, older] = secrets as [Buffer, Buffer];
  const [at, next] = [1_795_000_000, Buffer.alloc(32, 9)];
  const before = mintToken(createTokenKeys([older]), endless(at));
  const both = createTokenKeys([newer, older]);
  expect(mintToken(both, endless(at))).toBe(mintToken(createTokenKeys([newer]), endless(at)));
  expect(verdict(openToken(both, 'arr', 'media.example', before, at))).toBe('ok');
  const three = createTokenKeys([next, newer, older]);
  expect(verdict(openToken(three, 'arr', 'media.example', before, at))).toBe('ok');
  expect(verdict(openToken(createTokenKeys([newer]), 'arr', 'media.example', before, at))).toBe('forged');
});

test('a week that is revoked, as often as that happens, opens nothing from before, mints anew and leaves others alone', () => {
  const times = new Map<number, number>();
  const live = createTokenKeys(secrets, (each) => times.get(each) ?? 0);
  const at = 1_795_000_000;
  const other = mintToken(live, endless(at - week));
  const gone: string[] = [];
  for (let revoked = 1; revoked <= 3; revoked++) {
    gone.push(mintToken(live, endless(at)));
    times.set(keyWeek(at), revoked);
    for (const token of gone) expect(verdict(openToken(live, 'arr', 'media.example', token, at))).toBe('forged');
    const minted = mintToken(live, endless(at));
    expect(gone).not.toContain(minted);
    expect(verdict(openToken(live, 'arr', 'media.example', minted, at))).toBe('ok');
    expect(verdict(openToken(live, 'arr', 'media.example', other, at))).toBe('ok');
  }
});

test('every failure tries as many keys as there are secrets', () => {
  const at = 1_795_000_000;
  for (let kid = 0; kid < 256; kid++) expect(keys.opening(kid, 'evt', at).keys).toHaveLength(secrets.length);
  const known = Array.from({ length: 256 }, (_, kid) => kid).filter((kid) => keys.opening(kid, 'evt', at).known);
  const oldest = keyWeek(at - maxTokenLife);
  const weeks = Array.from({ length: keyWeek(at) + 2 - oldest }, (_, later) => oldest + later);
  expect(new Set(known)).toEqual(new Set(weeks.map(kidOf)));
});

test('secrets of the wrong length, one that occurs twice and claims that do not fit are refused', () => {
  expect(() => createTokenKeys([])).toThrow(RangeError);
  expect(() => createTokenKeys([Buffer.alloc(16)])).toThrow(RangeError);
  expect(() => createTokenKeys([secrets[0]!, secrets[0]!])).toThrow(RangeError);
  expect(() => mintToken(keys, { ...endless(0), slot: 70_000 })).toThrow(/out of range/);
  expect(() => mintToken(keys, { ...endless(0), subject: Buffer.alloc(15) })).toThrow(RangeError);
});
