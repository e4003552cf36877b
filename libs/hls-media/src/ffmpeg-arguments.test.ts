import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { pictureRate } from './index.ts';

const whole = fc.integer({ min: 1, max: 2 ** 31 - 1 });

test('a rate is the half, the quarter … of the source, the first of at most 30 pictures a second', () => {
  fc.assert(
    fc.property(whole, whole, (frames, seconds) => {
      const rate = pictureRate({ frames, seconds });
      expect([rate.frames, rate.seconds].every(Number.isSafeInteger)).toBe(true);
      expect(rate.frames).toBeLessThanOrEqual(30 * rate.seconds);
      const halvings = Math.max(0, Math.ceil(Math.log2(frames / seconds / 30)));
      expect(rate.frames / rate.seconds).toBe(frames / seconds / 2 ** halvings);
    }),
  );
  expect(pictureRate({ frames: 120, seconds: 1 })).toEqual({ frames: 30, seconds: 1 });
  expect(pictureRate({ frames: 90_000, seconds: 1 })).toEqual({ frames: 5625, seconds: 256 });
});

test.each([
  [0, 0],
  [1, 0],
  [0, 1],
  [NaN, 1],
  [Infinity, 1],
])('%d/%d is refused: it is no rate', (frames, seconds) => {
  expect(() => pictureRate({ frames, seconds })).toThrow(RangeError);
});
