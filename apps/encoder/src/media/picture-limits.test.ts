import { expect, test } from '@jest/globals';
import type { CellIndex } from '@longwave/hls-media';
import { checkPicture, checkPictureLength, maxEncodingMs } from './picture-limits.ts';

const rate = { frames: 30, seconds: 1 };
const stored = { codec: 'h264', width: 1920, height: 1080 };
const shown = (width: number, height: number, frameRate = rate) => ({ width, height, frameRate });
/** Sound of so many seconds, in one cell. */
const sound = (seconds: number): CellIndex => ({
  ...{ timescale: 48_000, init: 1, bytes: 2 },
  cells: [[1, 1, 0, seconds * 48_000]],
});

test.each([
  ['h264', 4096, 2304],
  ['prores', 2304, 4096],
  ['mjpeg', 64, 64],
])('%s of %d x %d pixels is taken', (codec, width, height) => {
  expect(() => checkPicture(shown(width, height), { codec, width, height })).not.toThrow();
  expect(() => checkPicture(shown(640, 360, { frames: 120, seconds: 1 }), stored)).not.toThrow();
});

test('a picture that is too large, shown or stored, too fast or of another codec is refused in words', () => {
  const beyond = (words: string) =>
    expect.objectContaining({ code: 'media_picture_beyond_limits', message: expect.stringContaining(words) });
  // 64 x 2000 with pixels of 2000:1.
  expect(() => checkPicture(shown(128_000, 2000), { codec: 'h264', width: 64, height: 2000 })).toThrow(
    beyond('128000 x 2000'),
  );
  expect(() => checkPicture(shown(64, 64), { codec: 'h264', width: 16_000, height: 64 })).toThrow(beyond('16000 x 64'));
  expect(() => checkPicture(shown(3000, 3000), stored)).toThrow(beyond('at most 4096 x 2304'));
  expect(() => checkPicture(shown(640, 360, { frames: 121, seconds: 1 }), stored)).toThrow(beyond('more than 120'));
  expect(() => checkPicture(shown(640, 360), { ...stored, codec: 'gif' })).toThrow(
    expect.objectContaining({ code: 'media_unsupported_codec' }),
  );
});

test('sound of at most four hours gets pictures, and each track twenty times its length and five minutes', () => {
  expect(() => checkPictureLength(sound(4 * 3600))).not.toThrow();
  expect(() => checkPictureLength(sound(4 * 3600 + 1))).toThrow(
    expect.objectContaining({ code: 'media_picture_beyond_limits', message: expect.stringContaining('4 hours') }),
  );
  expect(maxEncodingMs(sound(60))).toBe(25 * 60_000);
});
