import { expect, test } from '@jest/globals';
import { parseServiceAddress, serviceAddressSchema } from './service-address.ts';

test.each([
  ['127.0.0.1:4101', [{ host: '127.0.0.1', port: 4101 }]],
  ['longwave-management-grpc:8443', [{ host: 'longwave-management-grpc', port: 8443 }]],
  [
    '10.0.0.1:1, [fd00::2]:2',
    [
      { host: '10.0.0.1', port: 1 },
      { host: 'fd00::2', port: 2 },
    ],
  ],
])('%s is where a service is found', (text, addresses) => {
  expect(serviceAddressSchema.parse(text)).toBe(text);
  expect(parseServiceAddress(text)).toEqual(addresses);
});

test.each(['', 'management', '127.0.0.1:1,', '127.0.0.1:1 127.0.0.1:2', 'http://management:1', 'management:0'])(
  '%j is refused as the address of a service',
  (text) => {
    expect(serviceAddressSchema.safeParse(text).success).toBe(false);
    expect(() => parseServiceAddress(text)).toThrow(TypeError);
  },
);
