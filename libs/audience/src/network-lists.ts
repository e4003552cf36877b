import { createAddressSet, parseAddressRange, type AddressRange, type AddressSet } from './address-set.ts';

/** The verdict of rule 12 on an address (docs/counting.md#rule-12). */
export type AddressVerdict = 'ok' | 'dc_ip' | 'vpn_ip' | 'tor_ip' | 'deny_ip';

export interface NetworkLists {
  /** The code of the first list that holds the address: data centres, VPN, Tor, denied; `ok` when a valid safe entry holds it. */
  verdict(address: string): AddressVerdict;
  /** A valid safe entry holds the address: rule 16 does not limit it. */
  isSafe(address: string): boolean;
}

/** A range of addresses that many real listeners share; it lapses 90 days after its last validation. */
export interface SafeEntry {
  readonly range: AddressRange;
  /** `YYYY-MM-DD`. */
  readonly validatedOn: string;
}

/** Ranges of each list; an absent list is empty. */
export interface NetworkRanges {
  readonly dataCentres: readonly AddressRange[];
  readonly vpn?: readonly AddressRange[];
  readonly tor?: readonly AddressRange[];
  readonly deny?: readonly AddressRange[];
  readonly safe?: readonly SafeEntry[];
}

const safeForMs = 90 * 24 * 3_600_000;

/** The lines of a list without comments and blanks. */
export function listLines(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/#.*$/, '').trim())
    .filter((line) => line !== '');
}

/** Parses a list of `first,last`, `address/bits` or single addresses; throws `RangeError` with the wrong line. */
export function parseAddressRanges(text: string): AddressRange[] {
  return listLines(text).map(parseAddressRange);
}

/** Parses `address/bits,validated_on[,reason]` lines; throws `RangeError` with the wrong line. */
export function parseSafeEntries(text: string): SafeEntry[] {
  return listLines(text).map((line) => {
    const [range = '', validatedOn = ''] = line.split(',').map((part) => part.trim());
    if (!/^\d{4}-\d{2}-\d{2}$/.test(validatedOn))
      throw new RangeError(`a safe entry needs its validation date: ${line}`);
    return { range: parseAddressRange(range), validatedOn };
  });
}

/** Compiles the lists. The clock decides which safe entries are valid. */
export function createNetworkLists(ranges: NetworkRanges, nowMs: () => number): NetworkLists {
  const inOrder: readonly (readonly [AddressVerdict, AddressSet])[] = [
    ['dc_ip', createAddressSet(ranges.dataCentres)],
    ['vpn_ip', createAddressSet(ranges.vpn ?? [])],
    ['tor_ip', createAddressSet(ranges.tor ?? [])],
    ['deny_ip', createAddressSet(ranges.deny ?? [])],
  ];
  const safe = (ranges.safe ?? []).map((entry) => ({
    set: createAddressSet([entry.range]),
    untilMs: Date.parse(`${entry.validatedOn}T00:00:00Z`) + safeForMs,
  }));
  const isSafe = (address: string) => safe.some((entry) => entry.untilMs > nowMs() && entry.set.has(address));
  return {
    isSafe,
    verdict: (address) => {
      const listed = inOrder.find(([, set]) => set.has(address))?.[0] ?? 'ok';
      return listed !== 'ok' && isSafe(address) ? 'ok' : listed;
    },
  };
}
