import { generateKeyPairSync, hash, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isSignedBy, signBytes, smallOrderY, tryParsePublicKey } from './ed25519.ts';

interface Wycheproof {
  testGroups: {
    publicKey: { pk: string };
    tests: { tcId: number; comment: string; msg: string; sig: string; result: 'valid' | 'invalid' }[];
  }[];
}
interface SpecCheckCase {
  message: string;
  pub_key: string;
  signature: string;
}

const readCases = (file: string): unknown =>
  JSON.parse(readFileSync(new URL(`../cases/${file}`, import.meta.url), 'utf8'));
const hex = (text: string) => Buffer.from(text, 'hex');
const parseHexKey = (text: string) => tryParsePublicKey(hex(text).toString('base64url'));
const verifies = (publicKey: string, message: string, signature: string) => {
  const key = parseHexKey(publicKey);
  return key !== undefined && isSignedBy(key, hex(message), hex(signature));
};

const L = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;
const p = 2n ** 255n - 19n;
const littleEndian = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
const mod = (value: bigint) => ((value % p) + p) % p;
function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let [factor, rest] = [mod(base), exponent]; rest > 0n; rest >>= 1n, factor = mod(factor * factor))
    if (rest & 1n) result = mod(result * factor);
  return result;
}

const toNumber = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);

const pair = generateKeyPairSync('ed25519');
const x = pair.publicKey.export({ format: 'jwk' }).x!;
const key = tryParsePublicKey(x)!;

describe('Wycheproof', () => {
  const { testGroups } = readCases('wycheproof/ed25519_test.json') as Wycheproof;
  const all = testGroups.flatMap(({ publicKey, tests }) => tests.map((each) => ({ ...each, pk: publicKey.pk })));

  test('has 151 vectors, 88 of which are valid', () => {
    expect([all.length, all.filter(({ result }) => result === 'valid').length]).toEqual([151, 88]);
  });

  test.each(all)('vector $tcId is $result: $comment', ({ pk, msg, sig, result }) => {
    expect(verifies(pk, msg, sig)).toBe(result === 'valid');
  });
});

describe('“Taming the many EdDSAs”', () => {
  const reasons = [
    ...['small A and R', 'small A', 'small R', 'A and R of mixed order', 'only the cofactored equation holds'],
    ...['only without reduction before the cofactor', 'S beyond L', 'S far beyond L', 'R not canonical, reduced'],
    ...['R not canonical', 'A not canonical, reduced', 'A not canonical'],
  ];
  const cases = (readCases('ed25519-speccheck/cases.json') as SpecCheckCase[]).map((each, number) => ({
    ...each,
    number,
    reason: reasons[number],
  }));

  test.each(cases)('case $number: $reason', ({ number, pub_key, message, signature }) => {
    // A key of mixed order has a private key like any other; only its owner could have chosen it.
    expect(verifies(pub_key, message, signature)).toBe(number === 3);
  });
});

describe('points of small order', () => {
  const d = mod(-121_665n * power(121_666n, p - 2n));
  /** Doubles y on the curve −x² + y² = 1 + d·x²·y². */
  const doubled = (y: bigint) => {
    const x2 = mod((y * y - 1n) * power(d * y * y + 1n, p - 2n));
    return mod((y * y + x2) * power(1n - d * x2 * y * y, p - 2n));
  };

  test('are five y, each of which is 1 after three doublings', () => {
    expect(new Set(smallOrderY).size).toBe(5);
    for (const y of smallOrderY) expect(doubled(doubled(doubled(y)))).toBe(1n);
  });

  test('are no keys, with either sign and in every encoding', () => {
    const encodings = smallOrderY.flatMap((y) => [y, y + p]).filter((y) => y < 2n ** 255n);
    for (const y of encodings)
      for (const encoded of [y, y + 2n ** 255n])
        expect(tryParsePublicKey(littleEndian(encoded).toString('base64url'))).toBeUndefined();
  });

  test('are no R: the identity with S = k·a satisfies the equation of RFC 8032, for any message', () => {
    const message = Buffer.from('m');
    const identity = littleEndian(1n);
    const seed = Buffer.from(pair.privateKey.export({ format: 'jwk' }).d!, 'base64url');
    const scalar = hash('sha512', seed, 'buffer').subarray(0, 32);
    scalar[0]! &= 248;
    scalar[31] = (scalar[31]! & 127) | 64;
    const k = hash('sha512', Buffer.concat([identity, Buffer.from(x, 'base64url'), message]), 'buffer');
    const signature = Buffer.concat([identity, littleEndian((toNumber(k) * toNumber(scalar)) % L)]);
    expect(isSignedBy(key, message, signature)).toBe(false);
  });
});

test('a y of p or more is no key, whatever it encodes', () => {
  for (let y = p; y < 2n ** 255n; y += 1n)
    expect(tryParsePublicKey(littleEndian(y).toString('base64url'))).toBeUndefined();
});

test('every signature of node:crypto verifies, and no other one that is made of it does', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.nat(511), (message, bit) => {
      const signature = signBytes(pair.privateKey, message);
      expect(signature).toEqual(sign(null, message, pair.privateKey));
      expect(isSignedBy(key, message, signature)).toBe(true);
      expect(isSignedBy(key, Buffer.concat([message, Buffer.of(0)]), signature)).toBe(false);
      const s = toNumber(signature.subarray(32));
      const malleable = Buffer.concat([signature.subarray(0, 32), littleEndian(s + L)]);
      expect(isSignedBy(key, message, malleable)).toBe(false);
      signature[bit >> 3]! ^= 1 << (bit & 7);
      expect(isSignedBy(key, message, signature)).toBe(false);
    }),
  );
});

test('no bytes make verification throw', () => {
  const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(bytes32, fc.uint8Array({ maxLength: 70 }), fc.uint8Array(), (point, signature, message) => {
      const parsed = tryParsePublicKey(Buffer.from(point).toString('base64url'));
      if (parsed) expect(isSignedBy(parsed, message, signature)).toBe(false);
    }),
  );
});

test.each(['', 'AA', x.slice(1), `${x}=`, `${x}A`, 'é'.repeat(43)])('%j is no key', (text) => {
  expect(tryParsePublicKey(text)).toBeUndefined();
});

test('another kind of key does not sign', () => {
  for (const other of [generateKeyPairSync('x25519').privateKey, pair.publicKey])
    expect(() => signBytes(other, Buffer.alloc(1))).toThrow(RangeError);
});
