import { expect, test } from '@jest/globals';
import { judgeRate } from './rate-limit.ts';

const at = (seconds: number) => new Date(Date.parse('2026-11-21T12:00:00.000Z') + seconds * 1000);
const endOfMinute = String(Date.parse('2026-11-21T12:01:00.000Z') / 1000);

test('the last allowed request has nothing remaining and is not throttled', () => {
  expect(judgeRate(60, 60, at(30))).toEqual({
    throttled: false,
    headers: { 'RateLimit-Limit': '60', 'RateLimit-Remaining': '0', 'RateLimit-Reset': endOfMinute },
  });
});

test.each([
  [0, '60'],
  [59, '1'],
  [59.999, '1'],
])('a throttled request %d s into the minute waits %s s', (seconds, wait) => {
  expect(judgeRate(61, 60, at(seconds))).toMatchObject({
    throttled: true,
    headers: { 'RateLimit-Remaining': '0', 'RateLimit-Reset': endOfMinute, 'Retry-After': wait },
  });
});
