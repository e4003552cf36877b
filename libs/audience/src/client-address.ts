import { renderAddress, tryParseAddress } from './address.ts';
import type { AddressSet } from './address-set.ts';

/** An entry of X-Forwarded-For, which may carry a port: `1.2.3.4:5`, `[2001:db8::1]:5`. */
function forwardedAddress(entry: string): string | undefined {
  const bare = /^\[(.+)\](?::\d+)?$/.exec(entry)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(entry)?.[1] ?? entry;
  const value = tryParseAddress(bare);
  return value === undefined ? undefined : renderAddress(value);
}

/**
 * The address of the client (docs/counting.md#definitions, Listener): the peer, or, only when the peer is a trusted proxy, the right-most
 * untrusted address of `X-Forwarded-For`. An entry that is not an address ends the search: the proxy that wrote it is then the client.
 * @param peer address of the socket; throws `RangeError` for any other text
 * @param forwardedFor the header's text, or several headers in order
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | readonly string[] | undefined,
  trustedProxies: AddressSet,
): string {
  let address = forwardedAddress(peer);
  if (address === undefined) throw new RangeError('the peer has no address');
  const hops = (typeof forwardedFor === 'string' ? [forwardedFor] : (forwardedFor ?? [])).join(',').split(',');
  while (trustedProxies.has(address)) {
    const next = forwardedAddress((hops.pop() ?? '').trim());
    if (next === undefined) break;
    address = next;
  }
  return address;
}
