import { expect, test } from '@jest/globals';
import { isIssuedAhead } from './issued-at.ts';

test('a message may be issued five minutes after the receiver’s clock, and not later', () => {
  const now = Date.parse('2026-11-22T10:00:00Z');
  expect(isIssuedAhead('2026-11-22T11:05:00+01:00', now)).toBe(false);
  expect(isIssuedAhead('2026-11-22T10:05:00.001Z', now)).toBe(true);
  expect(isIssuedAhead('1970-01-01T00:00:00Z', now)).toBe(false);
});
