import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { arrangementDocumentSchema, arrangementId, composeArrangement, slicesOf } from './arrangement.ts';

const format = { codec: 'mp3', bitrate: 128_000, channels: 2, sampleRate: 48_000 };
const blobs = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 12 });
const arrange = (contents: readonly Uint8Array[]) =>
  composeArrangement(
    'ep_1',
    format,
    contents.map((bytes, i) => ({
      digest: String(i).padStart(64, '0'),
      sizeBytes: bytes.length,
      durationMs: bytes.length,
      kind: 'content',
    })),
  );

test('the bytes of any range, composed of its slices, equal the slice of the whole', () => {
  fc.assert(
    fc.property(blobs, fc.nat(600), fc.nat(600), (contents, a, b) => {
      const whole = Buffer.concat(contents);
      const from = Math.min(a, whole.length);
      const to = Math.min(Math.max(a, b), whole.length);
      const composed = slicesOf(arrange(contents), from, to).map((slice) =>
        contents[slice.part]!.subarray(slice.from, slice.to),
      );
      expect(Buffer.concat(composed)).toEqual(whole.subarray(from, to));
      expect(composed.every((bytes) => bytes.length > 0)).toBe(true);
    }),
  );
});

test('an arrangement is a document of its schema whose parts and times follow each other without gap', () => {
  fc.assert(
    fc.property(blobs, (contents) => {
      const document = arrange(contents);
      expect(arrangementDocumentSchema.parse(document)).toEqual(document);
      document.parts.forEach((part, i) =>
        expect(part.offset).toBe(contents.slice(0, i).reduce((sum, bytes) => sum + bytes.length, 0)),
      );
      expect(document.total_bytes).toBe(Buffer.concat(contents).length);
    }),
  );
});

test('the id depends on the contents alone, not on the order of keys', () => {
  const document = arrange([Buffer.alloc(3), Buffer.alloc(5)]);
  const shuffled = Object.fromEntries(Object.entries(document).reverse()) as typeof document;
  expect(arrangementId(shuffled)).toBe(arrangementId(document));
  expect(arrangementId({ ...document, episode_id: 'ep_2' })).not.toBe(arrangementId(document));
});
