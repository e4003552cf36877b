import { createHash, createHmac, hkdfSync, type KeyObject } from 'node:crypto';

const unitSeparator = Buffer.from([0x1f]);

/** Bytes of UTF-8 that counting keeps of a user agent: far more than apps send. */
const maxUserAgentBytes = 512;

/** The longest beginning of whole characters that takes at most so many bytes of UTF-8. */
function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.alloc(maxBytes);
  // Each UTF-16 unit takes at least one byte.
  const { written } = new TextEncoder().encodeInto(text.slice(0, maxBytes), bytes);
  // A new text: a slice would keep the whole text in memory.
  return bytes.toString('utf8', 0, written);
}

/**
 * The user agent as counting knows it (docs/counting.md#definitions, Listener): CR and LF removed, trimmed, case kept, and of that at most the first
 * 512 bytes of UTF-8; '' when absent.
 */
export function normaliseUserAgent(text: string | undefined): string {
  const whole = (text ?? '').replace(/[\r\n]/g, '').trim();
  return Buffer.byteLength(whole) <= maxUserAgentBytes ? whole : cutToBytes(whole, maxUserAgentBytes).trimEnd();
}

/** SHA-256 (hex) of a normalised user agent, or null for ''; the key of table `user_agent`. */
export function userAgentDigest(userAgent: string): string | null {
  return userAgent === '' ? null : createHash('sha256').update(userAgent).digest('hex');
}

/** The secret of one month (UTC), 32 bytes, from the master secret by HKDF-SHA-256 (RFC 5869). */
export function periodSecret(master: Buffer, month: string): Buffer {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) throw new RangeError('a month is YYYY-MM');
  return Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), `longwave listener key ${month}`, 32));
}

/**
 * The month whose secret makes the keys of a time, and during its first 48 h also the month before it, whose keys link a window that
 * began under them (docs/counting.md#the-three-windows).
 */
export function keyMonths(at: Date): { readonly current: string; readonly previous?: string } {
  const current = at.toISOString().slice(0, 7);
  const before = new Date(at.getTime() - 48 * 3_600_000).toISOString().slice(0, 7);
  return before === current ? { current } : { current, previous: before };
}

/**
 * Pseudonym of a listener within a month (docs/counting.md#definitions), 64 hex digits: HMAC-SHA-256 over address key, 0x1F and user agent.
 * @param addressKey from `addressKeyBytes`
 * @param userAgent from `normaliseUserAgent`
 */
export function listenerKey(secret: Buffer | KeyObject, addressKey: Buffer, userAgent: string): string {
  return createHmac('sha256', secret).update(addressKey).update(unitSeparator).update(userAgent, 'utf8').digest('hex');
}

/** Pseudonym of an address within one UTC day (`YYYY-MM-DD`), 64 hex digits, for rule 16 only (docs/counting.md#rule-16). */
export function dailyAddressKey(secret: Buffer | KeyObject, addressKey: Buffer, day: string): string {
  return createHmac('sha256', secret).update(`address ${day}`).update(unitSeparator).update(addressKey).digest('hex');
}
