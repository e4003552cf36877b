import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { keyWeek, kidOf, tokenPurposes, type PurposeKeys, type TokenKeys, type TokenPurpose } from './token-keys.ts';

/** The contents of a token. Numbers are unsigned and of the stated width. */
interface TokenClaims {
  /** u8 */
  readonly flags: number;
  /** End of life in Unix seconds, u32; `neverExpires` for an alias. */
  readonly expiresAt: number;
  /** u32, 0 when workspaces are not numbered. */
  readonly workspaceOrdinal: number;
  /** 16 bytes: the id of the thing that the token opens. */
  readonly subject: Buffer;
  /** 16 bytes: the decision or binding behind it, zeros when there is none. */
  readonly binding: Buffer;
  /** u16 */
  readonly slot: number;
  /** u16 */
  readonly variant: number;
}

export interface MintRequest extends TokenClaims {
  readonly purpose: TokenPurpose;
  /** Host of the media URL, in lower case, with its port when it has one. */
  readonly host: string;
  /** Start of the play or binding, in Unix seconds; the keys of that week seal the token, whenever it is minted. */
  readonly startsAt: number;
}

/** Why a token does not open; a revoked one is `forged`. Only for logs: a client always sees the same 404. */
type TokenFailure = 'malformed' | 'unknown_key' | 'forged' | 'expired';

export type OpenedToken =
  | { readonly ok: true; readonly claims: TokenClaims }
  /** `claims` only when the token is genuine and merely expired. */
  | { readonly ok: false; readonly reason: TokenFailure; readonly claims?: TokenClaims };

export const neverExpires = 0xffff_ffff;

const prefix = 't1.';
const nonceBytes = 12;
const plainBytes = 46;
const tagBytes = 16;
const totalBytes = 1 + nonceBytes + plainBytes + tagBytes;
/** 75 bytes are exactly 100 characters of base64url, without padding or unused bits. */
const pattern = /^t1\.[A-Za-z0-9_-]{100}$/;

const additionalData = (purpose: TokenPurpose, host: string) => Buffer.from(`t1${purpose}${host}`, 'utf8');

function writeClaims(purpose: TokenPurpose, claims: TokenClaims): Buffer {
  if (claims.subject.length !== 16 || claims.binding.length !== 16)
    throw new RangeError('subject and binding have 16 bytes');
  const plain = Buffer.alloc(plainBytes);
  plain.writeUInt8(tokenPurposes[purpose], 0);
  plain.writeUInt8(claims.flags, 1);
  plain.writeUInt32BE(claims.expiresAt, 2);
  plain.writeUInt32BE(claims.workspaceOrdinal, 6);
  claims.subject.copy(plain, 10);
  claims.binding.copy(plain, 26);
  plain.writeUInt16BE(claims.slot, 42);
  plain.writeUInt16BE(claims.variant, 44);
  return plain;
}

function readClaims(plain: Buffer): TokenClaims {
  return {
    flags: plain.readUInt8(1),
    expiresAt: plain.readUInt32BE(2),
    workspaceOrdinal: plain.readUInt32BE(6),
    subject: Buffer.from(plain.subarray(10, 26)),
    binding: Buffer.from(plain.subarray(26, 42)),
    slot: plain.readUInt16BE(42),
    variant: plain.readUInt16BE(44),
  };
}

/**
 * Mints `t1.` + base64url(kid ‖ nonce ‖ AES-256-GCM ciphertext ‖ tag), 103 characters, under the newest secret.
 * The nonce is synthetic (an HMAC of the contents), so equal inputs give equal tokens and no nonce serves two contents.
 * Throws `RangeError` when a claim does not fit its width.
 */
export function mintToken(keys: TokenKeys, { purpose, host, startsAt, ...claims }: MintRequest): string {
  const week = keyWeek(startsAt);
  const { seal, nonce: nonceKey } = keys.minting(week, purpose);
  const plain = writeClaims(purpose, claims);
  const aad = additionalData(purpose, host);
  // The length separates the additional data from the plaintext.
  const length = Buffer.alloc(4);
  length.writeUInt32BE(aad.length);
  const nonce = createHmac('sha256', nonceKey)
    .update(length)
    .update(aad)
    .update(plain)
    .digest()
    .subarray(0, nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', seal, nonce).setAAD(aad);
  const sealed = Buffer.concat([
    Buffer.of(kidOf(week)),
    nonce,
    cipher.update(plain),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return prefix + sealed.toString('base64url');
}

function unseal(keys: PurposeKeys, aad: Buffer, bytes: Buffer): Buffer | undefined {
  const decipher = createDecipheriv('aes-256-gcm', keys.seal, bytes.subarray(1, 1 + nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(aad).setAuthTag(bytes.subarray(totalBytes - tagBytes));
  const plain = decipher.update(bytes.subarray(1 + nonceBytes, totalBytes - tagBytes));
  try {
    decipher.final();
    return plain;
  } catch {
    return undefined;
  }
}

/**
 * Opens a token of exactly this purpose and host. Every failure before the last one does the same work (one
 * decryption per secret), so the time tells neither which keys exist nor how far a forgery came.
 * @param now Unix seconds
 */
export function openToken(
  keys: TokenKeys,
  purpose: TokenPurpose,
  host: string,
  text: string,
  now: number,
): OpenedToken {
  const wellFormed = pattern.test(text);
  const bytes = wellFormed ? Buffer.from(text.slice(prefix.length), 'base64url') : Buffer.alloc(totalBytes);
  const { known, keys: candidates } = keys.opening(bytes[0]!, purpose, now);
  const aad = additionalData(purpose, host);
  let plain: Buffer | undefined;
  for (const each of candidates) plain ??= unseal(each, aad, bytes);
  if (!wellFormed) return { ok: false, reason: 'malformed' };
  if (!known) return { ok: false, reason: 'unknown_key' };
  if (!plain || plain[0] !== tokenPurposes[purpose]) return { ok: false, reason: 'forged' };
  const claims = readClaims(plain);
  if (claims.expiresAt !== neverExpires && claims.expiresAt <= now) return { ok: false, reason: 'expired', claims };
  return { ok: true, claims };
}
