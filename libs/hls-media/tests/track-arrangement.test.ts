import { hash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  composeTrack,
  createTrackReader,
  durationTicks,
  trackArrangementSchema,
  trackDigest,
  trackIndex,
  type CellIndex,
  type TrackSlice,
} from '../src/index.ts';
import { adtsOf, payloads } from './_adts.ts';
import { muxed } from './_sound.ts';

const part = fc.record({
  frames: fc.integer({ min: 1, max: 30 }),
  inside: fc.array(fc.nat(29), { maxLength: 6 }),
  seed: fc.nat(200),
});

interface Blob {
  readonly digest: string;
  readonly index: CellIndex;
  readonly bytes: Buffer;
  readonly sound: readonly Uint8Array[];
}

async function makeBlob({ frames, inside, seed }: { frames: number; inside: number[]; seed: number }): Promise<Blob> {
  const starts = [...new Set([0, ...inside.filter((start) => start < frames)])].sort((a, b) => a - b);
  const made = payloads(frames + 1, seed);
  const { index, bytes } = await muxed(adtsOf(made), starts, frames);
  return { digest: hash('sha256', bytes), index, bytes, sound: made.slice(1) };
}

const parts = fc.array(part, { minLength: 1, maxLength: 4 });

/** The file written out whole: the sound of all parts, muxed at once into the cells of all parts. */
async function writtenOut(blobs: readonly Blob[]) {
  let frames = 0;
  const starts: number[] = [];
  for (const { index } of blobs) {
    const before = frames;
    starts.push(...index.cells.map(([, , start]) => before + start / 1024));
    frames += durationTicks(index) / 1024;
  }
  return muxed(adtsOf([new Uint8Array(9), ...blobs.flatMap(({ sound }) => sound)]), starts, frames);
}

const bytesOf = (slices: readonly TrackSlice[], files: ReadonlyMap<string, Buffer>) =>
  slices.map((slice) => ('bytes' in slice ? slice.bytes : files.get(slice.blob)!.subarray(slice.from, slice.to)));

test('any range of a track, also one that begins in a changed field, equals that range of the file muxed at once', async () => {
  await fc.assert(
    fc.asyncProperty(
      parts,
      fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 40, maxLength: 40 }),
      async (all, some) => {
        const blobs = await Promise.all(all.map(makeBlob));
        const [first, ...others] = blobs;
        const track = composeTrack('mp4a.40.2', [first!, ...others]);
        expect(trackArrangementSchema.parse(JSON.parse(JSON.stringify(track)))).toEqual(track);
        const indexes = blobs.map(({ index }) => index);
        const reader = createTrackReader(track, indexes);
        const whole = await writtenOut(blobs);
        expect(reader.index).toEqual(whole.index);
        expect(trackIndex(track, indexes)).toEqual(whole.index);

        const files = new Map(blobs.map(({ digest, bytes }) => [digest, bytes]));
        // All single bytes of the changed fields, and other ranges.
        const fields = whole.index.cells.flatMap(([offset]) =>
          [19, 20, 23, 24, 59, 60, 64, 67, 68].map((at) => [offset + at, offset + at + 1] as const),
        );
        const ranges = some.map(([a, b]) => [a % (whole.bytes.length + 1), b % (whole.bytes.length + 1)] as const);
        for (const [a, b] of [...fields, ...ranges, [0, whole.bytes.length] as const]) {
          const [from, to] = a < b ? [a, b] : [b, a];
          const pieces = bytesOf(reader.slices(from, to), files);
          expect(Buffer.concat(pieces).equals(whole.bytes.subarray(from, to))).toBe(true);
          expect(pieces.every(({ length }) => length > 0)).toBe(true);
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('a track of one blob is that blob, byte for byte, from one stored range', async () => {
  const blob = await makeBlob({ frames: 20, inside: [7], seed: 3 });
  const reader = createTrackReader(composeTrack('mp4a.40.2', [blob]), [blob.index]);
  expect(reader.slices(10, 700)).toEqual([
    { blob: blob.digest, from: 10, to: 605 },
    { blob: blob.digest, from: 605, to: 700 },
  ]);
});

test('the name of a track is the digest of its contents, whatever the order of its fields', async () => {
  const [one, other] = await Promise.all([3, 4].map((seed) => makeBlob({ frames: 20, inside: [7], seed })));
  const track = composeTrack('mp4a.40.2', [one!, other!]);
  expect(trackDigest(Object.fromEntries(Object.entries(track).reverse()) as typeof track)).toBe(trackDigest(track));
  expect(trackDigest(composeTrack('mp4a.40.2', [other!, one!]))).not.toBe(trackDigest(track));
  const canonical =
    `{"codec":"mp4a.40.2","init":{"blob":"${one!.digest}","length":605},"kind":"track","parts":[` +
    `{"blob":"${one!.digest}","from":605,"length":${one!.bytes.length - 605},"rebase":0},` +
    `{"blob":"${other!.digest}","from":605,"length":${other!.bytes.length - 605},"rebase":20480}],"timescale":48000,"v":3}`;
  expect(trackDigest(track)).toBe(hash('sha256', canonical));
});

test('pictures are not joined, and neither are blobs with other initialization sections', async () => {
  const blob = await makeBlob({ frames: 5, inside: [], seed: 1 });
  expect(() => composeTrack('avc1.64001f', [blob, blob])).toThrow(RangeError);
  for (const change of [{ timescale: 44_100 }, { init: 606 }])
    expect(() => composeTrack('mp4a.40.2', [blob, { ...blob, index: { ...blob.index, ...change } }])).toThrow(
      RangeError,
    );
});
