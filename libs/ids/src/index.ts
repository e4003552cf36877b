import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

/** Prefixes of ids that are not of a resource; each resource of the catalog declares its own. */
export const idPrefixes = {
  access: 'dga',
  alert: 'alr',
  arrangement: 'arr',
  decision: 'dec',
  event: 'evt',
  fact: 'fct',
  job: 'job',
  lease: 'lse',
  operation: 'op',
  play: 'ply',
  preview: 'prv',
  receipt: 'rcp',
  request: 'req',
  serving: 'srv',
  trackerCall: 'tcl',
  webhookDelivery: 'whd',
} as const;

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const digits = new Map([...alphabet].map((character, value) => [character, value]));
const pattern = /^([a-z]{2,4})_([0-7][0-9a-hjkmnp-tv-z]{25})$/;

/** 16 bytes → 26 lower-case Crockford base32 characters (128 bits, most significant first). */
function encode(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  // 26 characters are 130 bits: two zeros come first.
  let count = 2;
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0xfff;
    count += 8;
    for (; count >= 5; count -= 5) text += alphabet[(bits >>> (count - 5)) & 31];
  }
  return text;
}

/** Random bytes of the next 256 ids: to ask the generator for 16 bytes costs more than the rest of an id. */
const randomPool = new Uint8Array(4_096);
let randomUsed = randomPool.length;

function nextRandom(): Uint8Array {
  if (randomUsed === randomPool.length) {
    randomFillSync(randomPool);
    randomUsed = 0;
  }
  return randomPool.subarray(randomUsed, (randomUsed += 16));
}

/** Time and counter of the newest id. */
let msecs = 0;
let seq = 0;

/**
 * A new id, `<prefix>_<26 characters>`: a UUIDv7 (RFC 9562 §5.7), so ids sort by creation time. The ids of one millisecond count on from a
 * random number (§6.2, method 1).
 */
export function newId<P extends string>(prefix: P): `${P}_${string}` {
  const random = nextRandom();
  const now = Date.now();
  if (now > msecs) {
    msecs = now;
    seq = ((random[6]! & 0x7f) << 24) | (random[7]! << 16) | (random[8]! << 8) | random[9]!;
  } else {
    seq = (seq + 1) | 0;
    if (seq === 0) msecs += 1;
  }
  return `${prefix}_${encode(v7({ random, msecs, seq }, new Uint8Array(16)))}`;
}

/** True for a well-formed id, of the given prefix when one is given. */
export function isId(text: string, prefix?: string): boolean {
  const match = pattern.exec(text);
  return match !== null && (prefix === undefined || match[1] === prefix);
}

/** The 16 bytes of an id. Throws `RangeError` when the text is not an id. */
export function idBytes(id: string): Buffer {
  const match = pattern.exec(id);
  if (!match) throw new RangeError('not an id');
  const bytes = Buffer.allocUnsafe(16);
  let bits = 0;
  // The first two of 130 bits are zeros.
  let count = -2;
  let at = 0;
  for (const character of match[2]!) {
    bits = ((bits << 5) | digits.get(character)!) & 0xfff;
    count += 5;
    if (count < 8) continue;
    count -= 8;
    bytes[at++] = bits >>> count;
  }
  return bytes;
}

/** The id of a prefix from its 16 bytes; inverse of `idBytes`. */
export function idFromBytes<P extends string>(prefix: P, bytes: Uint8Array): `${P}_${string}` {
  if (bytes.length !== 16) throw new RangeError('an id has 16 bytes');
  return `${prefix}_${encode(bytes)}`;
}

/** The id's 16 bytes, whatever they are, in the usual form of a UUID: those of a decision are a hash, which names no version. */
export function idToUuid(id: string): string {
  const hex = idBytes(id).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The id of a prefix from a UUID in the usual form; inverse of `idToUuid`. */
export function idFromUuid<P extends string>(prefix: P, uuid: string): `${P}_${string}` {
  return idFromBytes(prefix, Buffer.from(uuid.replaceAll('-', ''), 'hex'));
}
