import { BlockList, isIP } from 'node:net';
import { z } from 'zod';

export interface ListenAddress {
  /** An IPv6 address has no brackets. */
  readonly host: string;
  readonly port: number;
}

/** Parses "host:port", an IPv6 address in brackets: "[::1]:8080". Undefined for any other text. */
export function tryParseListenAddress(text: string): ListenAddress | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  const host = bracketed ?? plain;
  if (host === undefined || port > 65_535 || (bracketed !== undefined && isIP(bracketed) !== 6)) return undefined;
  return { host, port };
}

/** Throws `TypeError` for a text that `addressSchema` refuses. */
export function parseListenAddress(text: string): ListenAddress {
  const address = tryParseListenAddress(text);
  if (!address) throw new TypeError(`${text} is not host:port`);
  return address;
}

/** The text of an address; port 0 is any. */
export const renderListenAddress = ({ host, port }: ListenAddress): string =>
  isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;

export const addressSchema = z
  .string()
  .refine((text) => tryParseListenAddress(text) !== undefined, 'expected host:port')
  .meta({ kind: 'host:port' });

const privateAddresses = new BlockList();
for (const [network, prefix] of [
  ['127.0.0.0', 8],
  // RFC 1918.
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  // Link-local (RFC 3927), and shared between a carrier and its customers (RFC 6598): clusters and overlay networks number with it.
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const)
  privateAddresses.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  ['::1', 128],
  // RFC 4193, and link-local.
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  privateAddresses.addSubnet(network, prefix, 'ipv6');

const unspecified = new BlockList();
unspecified.addAddress('0.0.0.0', 'ipv4');
unspecified.addAddress('::', 'ipv6');

/** Who can reach a port that is bound to this host. A name counts as public: nobody can tell what it means tomorrow. */
export function reachOf(host: string): 'private' | 'all addresses' | 'public' {
  if (host === 'localhost') return 'private';
  const version = isIP(host);
  if (version === 0) return 'public';
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (unspecified.check(host, family)) return 'all addresses';
  return privateAddresses.check(host, family) ? 'private' : 'public';
}

/** Ports that only the installation itself and its orchestrator may reach. */
const privatePorts = ['GRPC_LISTEN', 'HEALTH_LISTEN'] as const;

function privateFaultOf(host: string, mayBeAll: boolean): string | undefined {
  const reach = reachOf(host);
  if (reach === 'private' || (reach === 'all addresses' && mayBeAll)) return undefined;
  return reach === 'public'
    ? 'this port is not for the public: name 127.0.0.1 or a private address of this machine (10.…, 172.16.… to 172.31.…, 192.168.…, 100.64.… to 100.127.…, fd…), not a public address or a name'
    : 'this port is not for the public, and this address is every address of the machine: name 127.0.0.1 or a private address, or set PRIVATE_PORTS_ON_ALL_ADDRESSES=true where a network policy keeps outsiders away (in a pod)';
}

/**
 * What is wrong with the addresses of private ports, by variable: each must be one that the internet does not reach, or, where
 * PRIVATE_PORTS_ON_ALL_ADDRESSES says that something else keeps outsiders away, 0.0.0.0 or [::].
 */
export function privatePortFaults(
  environment: Readonly<Record<string, string | undefined>>,
): readonly (readonly [variable: string, fault: string])[] {
  const mayBeAll = environment['PRIVATE_PORTS_ON_ALL_ADDRESSES'] === 'true';
  return privatePorts.flatMap((variable) => {
    const address = tryParseListenAddress(environment[variable] ?? '');
    const fault = address && privateFaultOf(address.host, mayBeAll);
    return fault === undefined ? [] : [[variable, fault] as const];
  });
}
