import { addressKeyBytes } from './address.ts';
import type { AddressSet } from './address-set.ts';
import { clientAddress } from './client-address.ts';

/** The parts of a request that name its sender. */
interface SentRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** The sender of a request by its address, in hex: an IPv4 address, or the /64 network of an IPv6 address. */
export type SenderOf = (request: SentRequest) => string;

/** The address that trusted proxies forward; X-Forwarded-For of any other peer is ignored. */
export const createSenderOf =
  (trustedProxies: AddressSet): SenderOf =>
  ({ headers, socket }) => {
    // A connection that has ended has no address.
    if (!socket.remoteAddress) return '';
    const address = clientAddress(socket.remoteAddress, headers['x-forwarded-for'], trustedProxies);
    return addressKeyBytes(address).toString('hex');
  };
