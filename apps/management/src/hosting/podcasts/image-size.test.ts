import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { imageSize } from './image-size.ts';

const png = (width: number, height: number) => {
  const bytes = Buffer.alloc(24);
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};
const jpeg = (width: number, height: number, frame: number, before: number) => {
  const segment = Buffer.alloc(4 + before, 0xc0);
  segment.writeUInt16BE(0xffe1, 0);
  segment.writeUInt16BE(before + 2, 2);
  const start = Buffer.from([0xff, 0xff, frame, 0, 17, 8, 0, 0, 0, 0]);
  start.writeUInt16BE(height, 6);
  start.writeUInt16BE(width, 8);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), segment, start]);
};

test('the size of a PNG and of a JPEG is found, whatever precedes the frame', () => {
  expect(imageSize(png(3000, 1400))).toEqual({ format: 'png', width: 3000, height: 1400 });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 65_535 }),
      fc.integer({ min: 1, max: 65_535 }),
      fc.constantFrom(0xc0, 0xc1, 0xc2, 0xcf),
      fc.integer({ min: 0, max: 65_000 }),
      (width, height, frame, before) =>
        expect(imageSize(jpeg(width, height, frame, before))).toEqual({ format: 'jpeg', width, height }),
    ),
  );
});

test('any other bytes have no size and cause no error', () => {
  expect(imageSize(Buffer.from('GIF89a'))).toBeUndefined();
  expect(imageSize(jpeg(1400, 1400, 0xc4, 0))).toBeUndefined();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      imageSize(Buffer.concat([Buffer.from([0xff, 0xd8]), bytes]));
      imageSize(Buffer.from(bytes));
    }),
  );
});
