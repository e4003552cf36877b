import { expect, test } from '@jest/globals';
import { isPublicAddress } from './public-address.ts';

test.each([
  ['this network', '0.0.0.0'],
  ['private', '10.1.2.3'],
  ['private', '172.31.255.255'],
  ['private', '192.168.0.1'],
  ['carrier-grade NAT', '100.64.0.1'],
  ['loopback', '127.8.9.1'],
  ['cloud metadata', '169.254.169.254'],
  ['cloud metadata', '168.63.129.16'],
  ['protocol assignments', '192.0.0.192'],
  ['documentation', '203.0.113.7'],
  ['benchmarks', '198.19.0.1'],
  ['multicast', '239.1.1.1'],
  ['reserved', '250.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['unspecified', '::'],
  ['loopback', '::1'],
  ['IPv4-mapped loopback', '::ffff:127.0.0.1'],
  ['IPv4-mapped public', '::ffff:8.8.8.8'],
  ['IPv4-mapped in hex', '::ffff:7f00:1'],
  ['IPv4-compatible', '::7f00:1'],
  ['NAT64', '64:ff9b::7f00:1'],
  ['local NAT64', '64:ff9b:1::1'],
  ['6to4', '2002:7f00:1::1'],
  ['Teredo', '2001:0:4136:e378::1'],
  ['documentation', '2001:db8::1'],
  ['documentation', '3fff::1'],
  ['unique local', 'fd00:ec2::254'],
  ['link-local', 'fe80::1'],
  ['link-local with a zone', 'fe80::1%eth0'],
  ['multicast', 'ff02::1'],
  ['no address at all', 'example.com'],
  ['no address at all', ''],
])('%s (%s) is not public', (_kind, address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '1.1.1.1', '2606:4700::1111', '2a00:1450:4001::1'])(
  '%s is public',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);
