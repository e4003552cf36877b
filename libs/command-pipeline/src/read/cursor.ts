import { createCipheriv, createDecipheriv, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { Problem } from '@longwave/problems';

/** Position after the last row of a page, bound to the listing it belongs to. */
export interface CursorPosition {
  /** The values that the listing is sorted by, as text. */
  readonly sortValues: readonly string[];
  readonly id: string;
}

const lifeMs = 24 * 3600_000;

const imported = new WeakMap<Buffer, KeyObject>();

/** Imports each key once: an import costs more than sealing a cursor. */
function keyOf(bytes: Buffer): KeyObject {
  const known = imported.get(bytes) ?? createSecretKey(bytes);
  imported.set(bytes, known);
  return known;
}

const nonceBytes = 12;
let nonces = Buffer.alloc(0);

/** A random nonce. Many are drawn at once: a page seals hundreds of cursors. */
function nextNonce(): Buffer {
  if (nonces.length === 0) nonces = randomBytes(nonceBytes * 256);
  const nonce = nonces.subarray(0, nonceBytes);
  nonces = nonces.subarray(nonceBytes);
  return nonce;
}

/** One key of 32 bytes, or where to ask for those of now, the newest first: it seals, all of them open. */
export type CursorKeys = Buffer | (() => readonly Buffer[]);

const listOf = (keys: CursorKeys): readonly Buffer[] => (typeof keys === 'function' ? keys() : [keys]);

/** Seals a position for one listing: AES-256-GCM, the listing's name as associated data. */
export function sealCursor(keys: CursorKeys, listing: string, { sortValues, id }: CursorPosition, now: Date): string {
  const [key] = listOf(keys);
  if (!key) throw new RangeError('at least one key is needed');
  const nonce = nextNonce();
  const cipher = createCipheriv('aes-256-gcm', keyOf(key), nonce).setAAD(Buffer.from(listing));
  const sortedBy = sortValues.length === 1 ? sortValues[0] : sortValues;
  const text = cipher.update(JSON.stringify([sortedBy, id, now.getTime()]), 'utf8');
  return Buffer.concat([nonce, text, cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

/** The text of a cursor under one key; undefined when it was sealed by another one, for another listing, or is no cursor. */
function tryDecrypt(key: Buffer, listing: string, bytes: Buffer): string | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', keyOf(key), bytes.subarray(0, nonceBytes), {
      authTagLength: 16,
    }).setAAD(Buffer.from(listing));
    decipher.setAuthTag(bytes.subarray(-16));
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -16)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/**
 * The position of a cursor. Throws `invalid_cursor` for another listing's, a foreign or an expired one.
 * @param maxAgeMs time for which a cursor is good: 24 hours, or without an end
 */
export function openCursor(
  keys: CursorKeys,
  listing: string,
  cursor: string,
  now: Date,
  maxAgeMs: number = lifeMs,
): CursorPosition {
  try {
    const bytes = Buffer.from(cursor, 'base64url');
    for (const key of listOf(keys)) {
      const text = tryDecrypt(key, listing, bytes);
      if (text === undefined) continue;
      const [sortedBy, id, issuedAt] = JSON.parse(text) as [string | string[], string, number];
      if (now.getTime() - issuedAt > maxAgeMs) throw new Error('expired');
      return { sortValues: typeof sortedBy === 'string' ? [sortedBy] : sortedBy, id };
    }
    throw new Error('sealed by no key of this service');
  } catch (cause) {
    throw new Problem('invalid_cursor', 'Start the listing again without a cursor.', { cause });
  }
}
