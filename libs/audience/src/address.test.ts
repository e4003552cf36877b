import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addressKeyBytes, renderAddress, tryParseAddress } from './address.ts';
import { createAddressSet } from './address-set.ts';
import { clientAddress } from './client-address.ts';

test('an IPv4 address keeps all its bytes, plain or IPv4-mapped, and an IPv6 address only its first 64 bits', () => {
  expect(addressKeyBytes('203.0.113.9').toString('hex')).toBe('cb007109');
  expect(addressKeyBytes('::ffff:203.0.113.9').toString('hex')).toBe('cb007109');
  expect(addressKeyBytes('::FFFF:cb00:7109').toString('hex')).toBe('cb007109');
  expect(addressKeyBytes('2001:db8:1:2:3:4:5:6').toString('hex')).toBe('20010db8000100020000000000000000');
  expect(addressKeyBytes('fe80::1%eth0').toString('hex')).toBe('fe800000000000000000000000000000');
  expect(() => addressKeyBytes('nonsense')).toThrow(RangeError);
});

test('any address survives the way to text and back', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const value = tryParseAddress(text)!;
      expect(tryParseAddress(renderAddress(value))).toBe(value);
    }),
  );
});

test('a set of ranges holds exactly the addresses of its ranges', () => {
  const set = createAddressSet([
    '10.0.0.0/8',
    '192.0.2.4,192.0.2.6',
    '192.0.2.5,192.0.2.9',
    '2001:db8::/32',
    '198.51.100.1',
  ]);
  for (const inside of [
    '10.0.0.0',
    '10.255.255.255',
    '192.0.2.4',
    '192.0.2.9',
    '2001:db8:ffff::1',
    '198.51.100.1',
    '::ffff:10.1.2.3',
  ])
    expect([inside, set.has(inside)]).toEqual([inside, true]);
  for (const outside of ['9.255.255.255', '11.0.0.0', '192.0.2.3', '192.0.2.10', '2001:db9::', '198.51.100.2', 'x'])
    expect([outside, set.has(outside)]).toEqual([outside, false]);
  expect(() => createAddressSet(['10.0.0.0/33'])).toThrow(RangeError);
  expect(() => createAddressSet(['10.0.0.9,10.0.0.1'])).toThrow(RangeError);
});

test('a set of ranges answers like a walk over all ranges', () => {
  const ip = fc.integer({ min: 0, max: 400 }).map((n) => `10.0.${n >> 8}.${n & 255}`);
  fc.assert(
    fc.property(fc.array(fc.tuple(ip, ip)), ip, (pairs, probe) => {
      const number = (text: string) => tryParseAddress(text)!;
      const ranges = pairs.map(([a, b]) => (number(a) <= number(b) ? `${a},${b}` : `${b},${a}`));
      const walked = ranges.some(
        (r) => number(r.split(',')[0]!) <= number(probe) && number(probe) <= number(r.split(',')[1]!),
      );
      expect(createAddressSet(ranges).has(probe)).toBe(walked);
    }),
  );
});

test('only a trusted proxy may say who the client is, and the right-most stranger is the client', () => {
  const trusted = createAddressSet(['127.0.0.1', '10.0.0.0/8']);
  expect(clientAddress('198.51.100.7', '1.1.1.1', trusted)).toBe('198.51.100.7');
  expect(clientAddress('::ffff:127.0.0.1', '6.6.6.6, 203.0.113.9, 10.1.1.1', trusted)).toBe('203.0.113.9');
  expect(clientAddress('10.0.0.1', ['6.6.6.6', '203.0.113.9:4711'], trusted)).toBe('203.0.113.9');
  expect(clientAddress('10.0.0.1', '[2001:db8::1]:443', trusted)).toBe('2001:db8:0:0:0:0:0:1');
  expect(clientAddress('10.0.0.1', undefined, trusted)).toBe('10.0.0.1');
  expect(clientAddress('10.0.0.1', '203.0.113.9, unknown, 10.0.0.2', trusted)).toBe('10.0.0.2');
});
