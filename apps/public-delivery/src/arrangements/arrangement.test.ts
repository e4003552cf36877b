import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { slicesOf } from '@longwave/audio';
import fc from 'fast-check';
import { arrangementDocumentSchema, arrangementId, composeArrangement, partsOf } from './arrangement.ts';

const format = { codec: 'mp3', bitrate: 128_000, channels: 2, sampleRate: 48_000 };
/** Blobs, each with the piece of it that is arranged. */
const pieces = fc.array(
  fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.nat(39), fc.nat(39))
    .map(([bytes, a, b]) => ({ bytes, from: Math.min(a, b) % bytes.length, cut: Math.max(a, b) }))
    .map(({ bytes, from, cut }) => ({ bytes, from, to: Math.min(bytes.length, Math.max(from + 1, cut)) })),
  { minLength: 1, maxLength: 12 },
);
type Piece = { readonly bytes: Uint8Array; readonly from: number; readonly to: number };

const arrange = (contents: readonly Piece[]) =>
  composeArrangement(
    'ep_1',
    format,
    contents.map(({ bytes, from, to }, i) => ({
      digest: String(i).padStart(64, '0'),
      sizeBytes: bytes.length,
      durationMs: to - from,
      kind: 'content',
      piece: { from, to, contentMs: 0 },
    })),
  );
const soundOf = ({ bytes, from, to }: Piece) => bytes.subarray(from, to);

test('the bytes of any range, composed of its slices, equal the slice of the whole', () => {
  fc.assert(
    fc.property(pieces, fc.nat(600), fc.nat(600), (contents, a, b) => {
      const whole = Buffer.concat(contents.map(soundOf));
      const from = Math.min(a, whole.length);
      const to = Math.min(Math.max(a, b), whole.length);
      const parts = partsOf(arrange(contents));
      const composed = slicesOf(parts, from, to).map((slice) =>
        contents[slice.part]!.bytes.subarray(parts[slice.part]!.from + slice.from, parts[slice.part]!.from + slice.to),
      );
      expect(Buffer.concat(composed)).toEqual(whole.subarray(from, to));
      expect(composed.every((bytes) => bytes.length > 0)).toBe(true);
    }),
  );
});

test('an arrangement is a document of its schema whose parts and times follow each other without gap', () => {
  fc.assert(
    fc.property(pieces, (contents) => {
      const document = arrange(contents);
      expect(arrangementDocumentSchema.parse(document)).toEqual(document);
      document.parts.forEach((part, i) =>
        expect(part.offset).toBe(contents.slice(0, i).reduce((sum, { from, to }) => sum + to - from, 0)),
      );
      expect(document.total_bytes).toBe(Buffer.concat(contents.map(soundOf)).length);
    }),
  );
});

test('the id depends on the contents alone, not on the order of keys', () => {
  const document = arrange([3, 5].map((length) => ({ bytes: Buffer.alloc(length), from: 0, to: length })));
  const shuffled = Object.fromEntries(Object.entries(document).reverse()) as typeof document;
  expect(arrangementId(shuffled)).toBe(arrangementId(document));
  expect(arrangementId({ ...document, episode_id: 'ep_2' })).not.toBe(arrangementId(document));
});

test('an arrangement of version 1 keeps its id, its bytes and its times', () => {
  const stored = JSON.parse(readFileSync(new URL('../../cases/arrangement-v1.json', import.meta.url), 'utf8')) as {
    id: string;
    document: unknown;
  };
  const document = arrangementDocumentSchema.parse(stored.document);
  expect(arrangementId(document)).toBe(stored.id);
  const parts = partsOf(document);
  expect(parts.map(({ blob_bytes: bytes, from, length }) => [bytes, from, length])).toEqual(
    document.parts.map(({ length }) => [length, 0, length]),
  );
  // Ad, intro, content, outro: only the content is the episode's own audio.
  expect(parts.slice(3).map(({ content_ms: ms }) => ms)).toEqual([undefined, undefined, 0, undefined]);
});
