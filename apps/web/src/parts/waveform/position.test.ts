import { expect, test } from '@jest/globals';
import { parsePosition, positionText } from './position.ts';

test('a position has minutes and tenths of a second, and hours where there are some', () => {
  expect([0, 1_002_300, 59_949, 59_951, 3_800_500].map(positionText)).toEqual([
    '0:00.0',
    '16:42.3',
    '0:59.9',
    '1:00.0',
    '1:03:20.5',
  ]);
});

test('what is shown can be typed again', () => {
  for (let ms = 0; ms < 8_000_000; ms += 12_300) expect(parsePosition(positionText(ms))).toBe(ms);
});

test('times are typed as people write them, and nothing else is one', () => {
  expect(['90', '16:42', '1:03:20,5', ' 0:01.25 '].map(parsePosition)).toEqual([90_000, 1_002_000, 3_800_500, 1250]);
  for (const wrong of ['', 'soon', '1:75', '1:75:00', '1:2:3:4', '-1', '1.'])
    expect(parsePosition(wrong)).toBeUndefined();
});
