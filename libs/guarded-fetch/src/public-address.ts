import { BlockList, isIP } from 'node:net';

/** IPv4 blocks that are not the public internet (IANA IPv4 Special-Purpose Address Registry, multicast, reserved, a cloud's metadata). */
const special4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;

/**
 * Blocks of global unicast IPv6 (2000::/3) that are not the public internet or that carry an IPv4 address inside (6to4, Teredo).
 * Everything outside 2000::/3 is refused: loopback, link-local, unique-local, multicast, IPv4-mapped, NAT64.
 */
const special6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const refused = new BlockList();
for (const [network, prefix] of special4) refused.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of special6) refused.addSubnet(network, prefix, 'ipv6');
const globalUnicast6 = new BlockList();
globalUnicast6.addSubnet('2000::', 3, 'ipv6');

/** True for an address of the public internet; false for any other text. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !refused.check(address, 'ipv4');
    case 6:
      return !address.includes('%') && globalUnicast6.check(address, 'ipv6') && !refused.check(address, 'ipv6');
    default:
      return false;
  }
}
