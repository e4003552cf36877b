import { z } from 'zod';
import { tryParseListenAddress, type ListenAddress } from './listen-address.ts';

/** Parses "host:port", or several separated by commas: the replicas of one service. Undefined for any other text. */
function tryParseServiceAddress(text: string): readonly ListenAddress[] | undefined {
  const addresses = text.split(',').map((part) => tryParseListenAddress(part.trim()));
  return addresses.every((address) => address !== undefined && address.port > 0)
    ? (addresses as ListenAddress[])
    : undefined;
}

/** The addresses of a service's replicas. Throws `TypeError` for a text that `serviceAddressSchema` refuses. */
export function parseServiceAddress(text: string): readonly ListenAddress[] {
  const addresses = tryParseServiceAddress(text);
  if (!addresses) throw new TypeError(`${text} is not host:port, nor several separated by commas`);
  return addresses;
}

/** The address of a service. A name stands for all addresses that it has. */
export const serviceAddressSchema = z
  .string()
  .refine(
    (text) => tryParseServiceAddress(text) !== undefined,
    'expected host:port, or the host:port of every replica, separated by commas',
  )
  .meta({ kind: 'host:port, or several separated by commas' });
