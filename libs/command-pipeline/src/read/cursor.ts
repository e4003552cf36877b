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

/** Seals a position for one listing: AES-256-GCM, the listing's name as associated data. */
export function sealCursor(key: Buffer, listing: string, { sortValues, id }: CursorPosition, now: Date): string {
  const nonce = nextNonce();
  const cipher = createCipheriv('aes-256-gcm', keyOf(key), nonce).setAAD(Buffer.from(listing));
  const sortedBy = sortValues.length === 1 ? sortValues[0] : sortValues;
  const text = cipher.update(JSON.stringify([sortedBy, id, now.getTime()]), 'utf8');
  return Buffer.concat([nonce, text, cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

/**
 * The position of a cursor. Throws `invalid_cursor` for another listing's, a foreign or an expired one.
 * @param maxAgeMs time for which a cursor is good: 24 hours, or without an end
 */
export function openCursor(
  key: Buffer,
  listing: string,
  cursor: string,
  now: Date,
  maxAgeMs: number = lifeMs,
): CursorPosition {
  try {
    const bytes = Buffer.from(cursor, 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', keyOf(key), bytes.subarray(0, nonceBytes), {
      authTagLength: 16,
    }).setAAD(Buffer.from(listing));
    decipher.setAuthTag(bytes.subarray(-16));
    const text = Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -16)), decipher.final()]).toString('utf8');
    const [sortedBy, id, issuedAt] = JSON.parse(text) as [string | string[], string, number];
    if (now.getTime() - issuedAt > maxAgeMs) throw new Error('expired');
    return { sortValues: typeof sortedBy === 'string' ? [sortedBy] : sortedBy, id };
  } catch (cause) {
    throw new Problem('invalid_cursor', 'Start the listing again without a cursor.', { cause });
  }
}
