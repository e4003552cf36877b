import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cutPieces } from './cut-pieces.ts';

async function collect(pieces: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

test('pieces are the same bytes, each full but the last, and none is empty', async () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)));
  await fc.assert(
    fc.asyncProperty(chunks, fc.integer({ min: 1, max: 12 }), async (source, pieceSizeBytes) => {
      const whole = Buffer.concat(source);
      const pieces = await collect(cutPieces(source, { pieceSizeBytes, sizeBytes: whole.length }));
      expect(Buffer.concat(pieces).equals(whole)).toBe(true);
      expect(pieces.slice(0, -1).every((piece) => piece.length === pieceSizeBytes)).toBe(true);
      expect(pieces.every((piece) => piece.length > 0 && piece.length <= pieceSizeBytes)).toBe(true);
    }),
  );
});

test.each([4, 6])('a source of 5 bytes is not %i bytes', async (sizeBytes) => {
  await expect(collect(cutPieces([Buffer.alloc(5)], { pieceSizeBytes: 2, sizeBytes }))).rejects.toThrow(RangeError);
});
