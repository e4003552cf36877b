import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { addressKeyBytes } from './address.ts';
import {
  dailyAddressKey,
  keyMonths,
  listenerKey,
  normaliseUserAgent,
  periodSecret,
  userAgentDigest,
} from './listener-key.ts';

const master = Buffer.alloc(32, 7);

test('the same address, agent and month give the same listener; any difference gives another', () => {
  const key = (month: string, address: string, agent: string) =>
    listenerKey(periodSecret(master, month), addressKeyBytes(address), agent);
  expect(key('2026-11', '203.0.113.9', 'A/1')).toMatch(/^[0-9a-f]{64}$/);
  expect(key('2026-11', '2001:db8::1', 'A/1')).toBe(key('2026-11', '2001:db8::ffff', 'A/1'));
  const keys = [
    key('2026-11', '203.0.113.9', 'A/1'),
    key('2026-12', '203.0.113.9', 'A/1'),
    key('2026-11', '203.0.113.8', 'A/1'),
    key('2026-11', '203.0.113.9', 'a/1'),
  ];
  expect(new Set(keys).size).toBe(4);
  expect(() => periodSecret(master, '2026-13')).toThrow(RangeError);
});

test('the key of the previous month is valid during the first 48 hours and not after', () => {
  expect(keyMonths(new Date('2026-12-02T23:59:59.999Z'))).toEqual({ current: '2026-12', previous: '2026-11' });
  expect(keyMonths(new Date('2026-12-03T00:00:00Z'))).toEqual({ current: '2026-12' });
  expect(keyMonths(new Date('2027-01-01T00:00:00Z'))).toEqual({ current: '2027-01', previous: '2026-12' });
});

test('a user agent loses line breaks and outer space and keeps its case', () => {
  expect(normaliseUserAgent(' Foo/1\r\n (X) ')).toBe('Foo/1 (X)');
  expect(normaliseUserAgent(undefined)).toBe('');
  expect(userAgentDigest('')).toBeNull();
  expect(userAgentDigest('Foo')).not.toBe(userAgentDigest('foo'));
});

test('a user agent is cut to 512 bytes of whole characters', () => {
  const byteLengthOf = (text: string) => Buffer.byteLength(normaliseUserAgent(text));
  expect(normaliseUserAgent('x'.repeat(600))).toBe('x'.repeat(512));
  expect(normaliseUserAgent(`${'x'.repeat(511)} y`)).toBe('x'.repeat(511));
  expect(byteLengthOf('é'.repeat(256))).toBe(512);
  expect(normaliseUserAgent(`x${'é'.repeat(300)}`)).toBe(`x${'é'.repeat(255)}`);
  expect(normaliseUserAgent(`xy${'😀'.repeat(200)}`)).toBe(`xy${'😀'.repeat(127)}`);
});

test('the cut part of a long user agent is not kept in memory', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: 1_000 }, (_, n) =>
    normaliseUserAgent(Buffer.from(`${n} ${'x'.repeat(15_000)}`).toString('latin1')),
  );
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000);
  expect(kept).toHaveLength(1_000);
});

test('an address has another key on another day', () => {
  const secret = periodSecret(master, '2026-11');
  const address = addressKeyBytes('203.0.113.9');
  expect(dailyAddressKey(secret, address, '2026-11-01')).not.toBe(dailyAddressKey(secret, address, '2026-11-02'));
});
