import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  byteOffsetAtTime,
  bytesOfFrames,
  canonicalFormat,
  canonicalViolation,
  checkCanonical,
  checkCanonicalChunks,
  durationMsOfBytes,
  framesOfBytes,
  framesOfSamples,
  nearestFrameBoundary,
  timeMsAtByte,
} from './canonical.ts';
import { tryParseFrameHeader } from './frame-header.ts';
import { walkFrames } from './walk-frames.ts';

/** A canonical frame without main data, filled up with `fill`. */
const frame = (fill = 0, modeExtension = 0) => {
  const bytes = Buffer.alloc(384, fill);
  bytes.writeUInt32BE((0xfffb9444 | (modeExtension << 4)) >>> 0);
  return bytes.fill(0, 4, 36);
};
const segment = (frames: number) => Buffer.concat(Array.from({ length: frames }, (_, i) => frame(i, i % 4)));

test('the canonical header says 128 kbit/s, 48 kHz, joint stereo, 384 bytes and 24 ms', () => {
  const header = tryParseFrameHeader(frame())!;
  expect(header).toMatchObject({
    version: '1',
    bitrate: canonicalFormat.bitrate,
    sampleRate: canonicalFormat.sampleRate,
    channels: canonicalFormat.channels,
    channelMode: 'joint_stereo',
    hasCrc: false,
    sizeBytes: canonicalFormat.frameSizeBytes,
    samples: canonicalFormat.frameSamples,
  });
  expect((header.samples * 1000) / header.sampleRate).toBe(canonicalFormat.frameMs);
  expect(canonicalFormat.name).toBe(`mp3/${header.bitrate}/${header.sampleRate}/${header.channels}`);
});

test('canonical segments joined at any frame are canonical, in one piece or in chunks of any size', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 2000 }),
      async (a, b, size) => {
        const joined = Buffer.concat([segment(a).subarray(0, bytesOfFrames(Math.ceil(a / 2))), segment(b)]);
        const frames = Math.ceil(a / 2) + b;
        const expected = { canonical: true, frames, sizeBytes: joined.length, durationMs: frames * 24 };
        expect(checkCanonical(joined)).toEqual(expected);
        const chunks = Array.from({ length: Math.ceil(joined.length / size) }, (_, i) =>
          joined.subarray(i * size, (i + 1) * size),
        );
        expect(await checkCanonicalChunks(chunks)).toEqual(expected);
      },
    ),
    { numRuns: 50 },
  );
});

test('content cut at any frames, with segments joined in there, walks without a gap and lasts as long as its parts', () => {
  const cuts = fc.uniqueArray(fc.nat(60), { maxLength: 6 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), cuts, fc.array(fc.integer({ min: 1, max: 9 })), (frames, at, ads) => {
      const edges = [0, ...at.filter((edge) => edge < frames).sort((a, b) => a - b), frames];
      const content = segment(frames);
      const parts = edges.slice(1).flatMap((to, i) => {
        const piece = content.subarray(bytesOfFrames(edges[i]!), bytesOfFrames(to));
        return ads[i] === undefined ? [piece] : [piece, segment(ads[i])];
      });
      let offset = 0;
      for (const each of walkFrames(Buffer.concat(parts))) {
        expect(each.offset).toBe(offset);
        expect(canonicalViolation(each)).toBeUndefined();
        offset += each.bytes.length;
      }
      expect(durationMsOfBytes(offset)).toBe(parts.reduce((sum, part) => sum + durationMsOfBytes(part.length), 0));
    }),
  );
});

test('a bit reservoir, main data without room, other parameters, a cut frame, tags and nothing are each refused with the offset', async () => {
  const reservoir = segment(3);
  reservoir[384 + 4] = 1;
  const tooLong = segment(3);
  // The first part2_3_length is bits 20 to 31 of the side information; 348 bytes have 2784 bits.
  tooLong.writeUInt16BE(2785, 384 + 6);
  const fits = segment(3);
  fits.writeUInt16BE(2784, 384 + 6);
  expect(checkCanonical(fits)).toMatchObject({ canonical: true });
  const otherRate = segment(3);
  otherRate.writeUInt32BE(0xfffba444, 384);
  const cases = [
    [reservoir, { canonical: false, violation: 'bit_reservoir_used', offset: 384 }],
    [tooLong, { canonical: false, violation: 'main_data_too_long', offset: 384 }],
    [otherRate, { canonical: false, violation: 'other_parameters', offset: 384 }],
    [segment(3).subarray(0, 1000), { canonical: false, violation: 'cut_frame', offset: 768 }],
    [
      Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\0\0'), segment(2)]),
      { canonical: false, violation: 'not_a_frame', offset: 0 },
    ],
    [Buffer.alloc(0), { canonical: false, violation: 'no_frames', offset: 0 }],
  ] as const;
  for (const [bytes, expected] of cases) {
    expect(checkCanonical(bytes)).toEqual(expected);
    expect(await checkCanonicalChunks([bytes.subarray(0, 100), bytes.subarray(100)])).toEqual(expected);
  }
});

test('time and bytes convert without drift', () => {
  fc.assert(
    fc.property(fc.nat(10_000_000), (frames) => {
      expect(durationMsOfBytes(bytesOfFrames(frames))).toBe(frames * 24);
      expect(framesOfBytes(bytesOfFrames(frames))).toBe(frames);
      expect(byteOffsetAtTime(frames * 24 + 23)).toBe(bytesOfFrames(frames));
      expect(timeMsAtByte(bytesOfFrames(frames) + 383)).toBe(frames * 24);
      expect(nearestFrameBoundary(frames * 24 + 11)).toBe(frames);
      expect(nearestFrameBoundary(frames * 24 + 12)).toBe(frames + 1);
      expect(framesOfSamples(frames * 1152)).toBe(frames);
      expect(framesOfSamples(frames * 1152 + 1)).toBe(frames + 1);
    }),
  );
  expect(() => framesOfBytes(385)).toThrow(RangeError);
});
