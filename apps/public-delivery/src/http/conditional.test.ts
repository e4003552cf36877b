import { expect, test } from '@jest/globals';
import { chooseCoding, ifRangeHolds, noneMatchHolds, notModifiedSince } from './conditional.ts';

test.each([
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ['*', true],
  ['"ab"', false],
  ['a', false],
  [undefined, false],
])('If-None-Match %p against "a" holds: %p', (header, holds) => {
  expect(noneMatchHolds(header, '"a"')).toBe(holds);
});

test.each([
  [undefined, true],
  ['"a"', true],
  ['W/"a"', false],
  ['"b"', false],
  ['Sat, 21 Nov 2026 09:00:00 GMT', false],
])('If-Range %p lets the range of "a" be sent: %p', (header, holds) => {
  expect(ifRangeHolds(header, '"a"')).toBe(holds);
});

test.each([
  ['Sat, 21 Nov 2026 09:00:00 GMT', true],
  ['Sat, 21 Nov 2026 08:59:59 GMT', false],
  ['nonsense', false],
  [undefined, false],
])('a change at 09:00:00.500 is not newer than %p: %p', (header, fresh) => {
  expect(notModifiedSince(header, new Date('2026-11-21T09:00:00.500Z'))).toBe(fresh);
});

test.each([
  ['gzip', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['*', 'br'],
  ['br;q=0, *;q=0.1', 'gzip'],
  ['gzip;q=0', 'identity'],
  ['*, gzip;q=0, br;q=0', 'identity'],
  ['identity', 'identity'],
  ['gzip;q=0.5, identity', 'identity'],
  ['gzip;q=nonsense', 'identity'],
  [undefined, 'identity'],
])('Accept-Encoding %p gets %p', (header, coding) => {
  expect(chooseCoding(header)).toBe(coding);
});
