import { isIP, isIPv4 } from 'node:net';

/** The 16 bytes of an address as one number; IPv4 stands in its IPv4-mapped place (RFC 4291 §2.5.5.2). */
export type AddressNumber = bigint;

const mapped = 0xffffn << 32n;

function ipv4Number(text: string): bigint {
  return text.split('.').reduce((value, octet) => (value << 8n) | BigInt(octet), 0n);
}

function ipv6Number(text: string): bigint {
  const bare = text.replace(/%.*$/, '');
  const tail = /(?:^|:)(\d+\.\d+\.\d+\.\d+)$/.exec(bare)?.[1];
  const words = tail
    ? `${bare.slice(0, -tail.length)}${(ipv4Number(tail) >> 16n).toString(16)}:${(ipv4Number(tail) & 0xffffn).toString(16)}`
    : bare;
  const [head = '', rest] = words.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = rest === undefined || rest === '' ? [] : rest.split(':');
  const middle = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...(rest === undefined ? [] : middle), ...right].reduce(
    (value, word) => (value << 16n) | BigInt(`0x${word}`),
    0n,
  );
}

/** The number of an address in text; undefined for any other text. A zone (`%eth0`) is ignored. */
export function tryParseAddress(text: string): AddressNumber | undefined {
  if (isIP(text) === 0) return undefined;
  return isIPv4(text) ? mapped | ipv4Number(text) : ipv6Number(text);
}

/** True when the number is an IPv4 address, plain or IPv4-mapped. */
export function isIpv4Number(address: AddressNumber): boolean {
  return address >> 32n === 0xffffn;
}

/** The usual text of an address: dotted quad for IPv4 and IPv4-mapped (docs/counting.md#definitions), eight lower-case groups for IPv6. */
export function renderAddress(address: AddressNumber): string {
  if (isIpv4Number(address)) return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 0xffn).join('.');
  return Array.from({ length: 8 }, (_, i) => ((address >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(':');
}

/**
 * The bytes of an address that go into a listener key (docs/counting.md#definitions, Listener): IPv4 whole (4 bytes, also when
 * IPv4-mapped), IPv6 its first 64 bits with the rest zero (16 bytes). Throws `RangeError` when the text is not an address.
 */
export function addressKeyBytes(address: string): Buffer {
  const value = tryParseAddress(address);
  if (value === undefined) throw new RangeError('not an address');
  const bytes = Buffer.from(value.toString(16).padStart(32, '0'), 'hex');
  return isIpv4Number(value) ? bytes.subarray(12) : bytes.fill(0, 8);
}
