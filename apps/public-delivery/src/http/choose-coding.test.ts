import { expect, test } from '@jest/globals';
import { chooseCoding } from './choose-coding.ts';

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
