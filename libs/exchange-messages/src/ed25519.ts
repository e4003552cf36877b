import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { tryDecodeBase64url } from './base64url.ts';

/** Order of the prime field. */
const p = 2n ** 255n - 19n;

/** Order of the base point. */
const L = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;

/** y of four of the points of order 8: d·y⁴ + 2·y² = 1. The other four have p − y. */
const order8 = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n;

/** y of the eight points whose order divides 8. Under such a key, or with such an R, one signature can be valid for many messages. */
export const smallOrderY: readonly bigint[] = [0n, 1n, p - 1n, order8, p - order8];

const fromLittleEndian = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);

/** True for 32 bytes whose y is below p and of no small order. Whether the point is on the curve is seen when a signature is verified. */
function isStrictPoint(bytes: Uint8Array): boolean {
  const y = BigInt.asUintN(255, fromLittleEndian(bytes));
  return y < p && !smallOrderY.includes(y);
}

/** A public Ed25519 key that was checked; only `tryParsePublicKey` makes one. */
export interface PublicKey {
  readonly keyObject: KeyObject;
}

/**
 * Reads a public key: the member `x` of its JWK (RFC 8037). Undefined when it is not canonical base64url of 32 bytes, encodes its point in
 * another way than RFC 8032 §5.1.2, or is of small order.
 */
export function tryParsePublicKey(x: string): PublicKey | undefined {
  const bytes = tryDecodeBase64url(x);
  if (bytes?.length !== 32 || !isStrictPoint(bytes)) return undefined;
  return { keyObject: createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }) };
}

/**
 * Verifies a signature of RFC 8032 §5.1.7 without cofactor, and refuses what verifiers disagree about (Chalkias, Garillot, Nikolaenko:
 * “Taming the many EdDSAs”): R in another encoding or of small order, S not below L. Nobody but the holder of a private key can make two
 * signatures of one message that are valid here.
 */
export function isSignedBy(key: PublicKey, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== 64) return false;
  if (!isStrictPoint(signature.subarray(0, 32)) || fromLittleEndian(signature.subarray(32)) >= L) return false;
  return verify(null, message, key.keyObject, signature);
}

/** The 64 bytes of a signature (RFC 8032). Throws `RangeError` for a key of another kind. */
export function signBytes(privateKey: KeyObject, message: Uint8Array): Buffer {
  if (privateKey.type !== 'private' || privateKey.asymmetricKeyType !== 'ed25519')
    throw new RangeError('a private Ed25519 key is needed');
  return sign(null, message, privateKey);
}
