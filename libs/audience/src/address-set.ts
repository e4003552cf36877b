import { isIpv4Number, tryParseAddress, type AddressNumber } from './address.ts';

/** Closed range of addresses. */
export interface AddressRange {
  readonly first: AddressNumber;
  readonly last: AddressNumber;
}

/** A set of addresses; `has` is a binary search, and false for a text that is not an address. */
export interface AddressSet {
  has(address: string): boolean;
}

/**
 * Parses `first,last[,…]`, `address/bits[,…]` or one address; further columns are ignored.
 * Throws `RangeError` for any other text.
 */
export function parseAddressRange(text: string): AddressRange {
  const [left = '', right] = text.split(',', 2).map((part) => part.trim());
  const [base = '', bits] = left.split('/');
  const first = tryParseAddress(base);
  if (first === undefined) throw new RangeError(`not an address range: ${text}`);
  if (bits === undefined) {
    const last = tryParseAddress(right ?? '') ?? first;
    if (last < first) throw new RangeError(`not an address range: ${text}`);
    return { first, last };
  }
  const width = isIpv4Number(first) && !base.includes(':') ? 32 : 128;
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > width) throw new RangeError(`not an address range: ${text}`);
  const host = (1n << BigInt(width - Number(bits))) - 1n;
  return { first: first & ~host, last: first | host };
}

/** Sorts and merges ranges into a set. */
export function createAddressSet(ranges: Iterable<AddressRange | string>): AddressSet {
  const sorted = [...ranges]
    .map((range) => (typeof range === 'string' ? parseAddressRange(range) : range))
    .sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const firsts: bigint[] = [];
  const lasts: bigint[] = [];
  for (const { first, last } of sorted) {
    const at = lasts.length - 1;
    if (at >= 0 && first <= lasts[at]! + 1n) lasts[at] = last > lasts[at]! ? last : lasts[at]!;
    else {
      firsts.push(first);
      lasts.push(last);
    }
  }
  return {
    has: (address) => {
      const value = tryParseAddress(address);
      if (value === undefined) return false;
      let low = 0;
      let high = firsts.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (firsts[middle]! <= value) low = middle + 1;
        else high = middle;
      }
      return low > 0 && value <= lasts[low - 1]!;
    },
  };
}
