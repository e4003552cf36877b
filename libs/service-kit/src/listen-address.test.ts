import { expect, test } from '@jest/globals';
import { privatePortFaults, reachOf, renderListenAddress, tryParseListenAddress } from './listen-address.ts';

test.each([
  ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
  ['localhost:0', { host: 'localhost', port: 0 }],
  ['[::1]:8080', { host: '::1', port: 8080 }],
  ['[::]:65535', { host: '::', port: 65_535 }],
])('%s is an address to listen on, and is written the same way', (text, address) => {
  expect(tryParseListenAddress(text)).toEqual(address);
  expect(renderListenAddress(address)).toBe(text);
});

test.each(['8080', ':8080', '127.0.0.1:', '127.0.0.1:65536', '::1:8080', '[localhost]:8080', '[::1]', 'a b:1'])(
  '%j is no address to listen on',
  (text) => expect(tryParseListenAddress(text)).toBeUndefined(),
);

test.each([
  ['private', ['localhost', '127.0.0.1', '127.8.9.1', '::1']],
  ['private', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fd00::1', 'fc00::1']],
  ['private', ['169.254.1.1', 'fe80::1', '100.64.0.1', '100.127.255.255']],
  ['all addresses', ['0.0.0.0', '::']],
  ['public', ['8.8.8.8', '172.32.0.1', '100.128.0.1', '192.169.0.1', '2001:db8::1', '2606:4700::1111']],
  ['public', ['internal-serving', 'localhost.example', '::ffff:8.8.8.8']],
])('%s are the addresses %j', (reach, hosts) => {
  expect(hosts.map(reachOf)).toEqual(hosts.map(() => reach));
});

test('ports of the installation itself are refused at a public address and at a name, each by its variable', () => {
  const faults = privatePortFaults({ GRPC_LISTEN: '8.8.8.8:1', HEALTH_LISTEN: 'serving:2', HTTP_LISTEN: '8.8.8.8:3' });
  expect(faults.map(([variable]) => variable)).toEqual(['GRPC_LISTEN', 'HEALTH_LISTEN']);
  expect(faults.map(([, fault]) => fault).join()).not.toContain('8.8.8.8');
  expect(privatePortFaults({ GRPC_LISTEN: '10.1.2.3:1', HEALTH_LISTEN: '[fd00::1]:2' })).toEqual([]);
});

test('every address of the machine is refused for them, except where something else keeps outsiders away', () => {
  const everywhere = { GRPC_LISTEN: '0.0.0.0:1', HEALTH_LISTEN: '[::]:2' };
  expect(privatePortFaults(everywhere)).toHaveLength(2);
  expect(privatePortFaults({ ...everywhere, PRIVATE_PORTS_ON_ALL_ADDRESSES: 'false' })).toHaveLength(2);
  expect(privatePortFaults({ ...everywhere, PRIVATE_PORTS_ON_ALL_ADDRESSES: 'true' })).toEqual([]);
  const isPublic = { GRPC_LISTEN: '8.8.8.8:1', PRIVATE_PORTS_ON_ALL_ADDRESSES: 'true' };
  expect(privatePortFaults(isPublic)).toHaveLength(1);
});
