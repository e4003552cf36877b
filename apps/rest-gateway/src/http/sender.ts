import type { IncomingMessage } from 'node:http';
import { addressKeyBytes, clientAddress, type AddressSet } from '@longwave/audience';

/** The sender of a request by its address: an IPv4 address, or the /64 network of an IPv6 address. */
export type SenderOf = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string;

/** The address that trusted proxies forward; X-Forwarded-For of any other peer is ignored. */
export const createSenderOf =
  (trustedProxies: AddressSet): SenderOf =>
  ({ headers, socket }) => {
    // A connection that has ended has no address.
    if (!socket.remoteAddress) return '';
    const address = clientAddress(socket.remoteAddress, headers['x-forwarded-for'], trustedProxies);
    return addressKeyBytes(address).toString('hex');
  };
