/** The part of DER (ITU-T X.690) that a certificate needs: each function answers one encoded element. */

const tags = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  sequence: 0x30,
  set: 0x31,
};

function element(tag: number, content: Buffer): Buffer {
  const size = content.length;
  const long = [size >>> 16, size >>> 8, size]
    .map((byte) => byte & 0xff)
    .slice(size > 0xffff ? 0 : size > 0xff ? 1 : 2);
  const header = size < 0x80 ? [tag, size] : [tag, 0x80 | long.length, ...long];
  return Buffer.concat([Buffer.from(header), content]);
}

export const sequence = (...items: readonly Buffer[]) => element(tags.sequence, Buffer.concat(items));
export const set = (...items: readonly Buffer[]) => element(tags.set, Buffer.concat(items));
export const octets = (content: Buffer) => element(tags.octets, content);
export const utf8 = (text: string) => element(tags.utf8, Buffer.from(text, 'utf8'));
export const boolean = (value: boolean) => element(tags.boolean, Buffer.from([value ? 0xff : 0]));

/** A positive integer from its big-endian bytes. */
export function integer(bytes: Buffer): Buffer {
  return element(tags.integer, (bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** @param unused how many of the last byte's bits do not count */
export const bits = (content: Buffer, unused = 0) =>
  element(tags.bits, Buffer.concat([Buffer.from([unused]), content]));

/** An object identifier from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const encode = (arc: number): number[] => {
    const groups = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift(0x80 | (left & 0x7f));
    return groups;
  };
  return element(tags.oid, Buffer.from([first * 40 + second, ...rest.flatMap(encode)]));
}

/** A context-specific element `[number]`; `constructed` when it wraps other elements. */
export function context(number: number, content: Buffer, constructed: boolean): Buffer {
  return element(0x80 | (constructed ? 0x20 : 0) | number, content);
}

/** UTCTime until 2049, GeneralizedTime after (RFC 5280 §4.1.2.5). */
export function time(at: Date): Buffer {
  const digits = `${at.toISOString().replace(/\D/g, '').slice(0, 14)}Z`;
  return at.getUTCFullYear() < 2050 ? element(0x17, Buffer.from(digits.slice(2))) : element(0x18, Buffer.from(digits));
}
