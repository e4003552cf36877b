import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { tryParseFrameHeader } from './frame-header.ts';

const header = (word: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(word >>> 0);
  return tryParseFrameHeader(bytes);
};

test.each([
  [
    0xfffb9064,
    { version: '1', bitrate: 128000, sampleRate: 44100, sizeBytes: 417, samples: 1152, channelMode: 'joint_stereo' },
  ],
  [0xfffb9264, { version: '1', bitrate: 128000, sampleRate: 44100, sizeBytes: 418 }],
  [0xfffbe4c4, { version: '1', bitrate: 320000, sampleRate: 48000, sizeBytes: 960, channelMode: 'mono', channels: 1 }],
  [0xfffa9000, { hasCrc: true, channelMode: 'stereo' }],
  [0xfff384c4, { version: '2', bitrate: 64000, sampleRate: 24000, sizeBytes: 192, samples: 576 }],
  [0xffe318c4, { version: '2.5', bitrate: 8000, sampleRate: 8000, sizeBytes: 72, samples: 576 }],
])('golden header %#', (word, expected) => {
  expect(header(word)).toMatchObject(expected);
});

test.each([
  ['layer II', 0xfffd9064],
  ['reserved version', 0xffeb9064],
  ['free format', 0xfffb0064],
  ['bad bit rate', 0xfffbf064],
  ['reserved sample rate', 0xfffb9c64],
  ['reserved emphasis', 0xfffb9066],
  ['no sync', 0x7ffb9064],
])('%s is no header', (_, word) => {
  expect(header(word)).toBeUndefined();
});

test('any four bytes either are no header or give a frame of sane size', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffff_ffff }), (word) => {
      const parsed = header(word);
      if (!parsed) return;
      expect(parsed.sizeBytes).toBeGreaterThanOrEqual(24);
      expect(parsed.sizeBytes).toBeLessThanOrEqual(1441);
    }),
    { numRuns: 2000 },
  );
});
