import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { ffmpeg } from '@longwave/test-kit';
import fc from 'fast-check';
import { bytesOfFrames, canonicalFormat, checkCanonical } from './canonical.ts';
import { tryParseFrameHeader } from './frame-header.ts';
import { renderInfoFrame } from './info-frame.ts';
import { tryParseVbrHeader } from './tags.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'longwave-info-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const parse = (frame: Buffer) => tryParseVbrHeader(frame, 0, tryParseFrameHeader(frame)!);
const contentsOf = (frame: Buffer) => [...frame.subarray(52, 152)];

test('it is one canonical frame that says how many frames follow and how many bytes all of them have', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000_000 }), (frames) => {
      const frame = renderInfoFrame(frames);
      expect(checkCanonical(frame)).toMatchObject({ canonical: true, frames: 1 });
      expect(parse(frame)).toEqual({ kind: 'Info', frames, sizeBytes: bytesOfFrames(frames + 1) });
    }),
  );
});

test('each of its hundredths begins at most 1/256 of the file before the sound of that time', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), (frames) => {
      const size = bytesOfFrames(frames + 1);
      contentsOf(renderInfoFrame(frames)).forEach((entry, hundredth) => {
        const atBytes = bytesOfFrames(1 + Math.floor((frames * hundredth) / 100));
        expect((entry * size) / 256).toBeLessThanOrEqual(atBytes);
        expect(((entry + 1) * size) / 256).toBeGreaterThan(Math.min(atBytes, (size * 255) / 256));
      });
    }),
  );
});

test('a player reads the exact length from it, decodes the same samples as without it, and seeks to the sample', () => {
  const lame = ['-c:a', 'libmp3lame', '-b:a', '128k', '-reservoir', '0', '-write_xing', '0', '-id3v2_version', '0'];
  const sound = ffmpeg('-f', 'lavfi', '-i', 'anoisesrc=r=48000:d=40', '-ac', '2', ...lame, '-f', 'mp3', 'pipe:1');
  const frames = sound.length / canonicalFormat.frameSizeBytes;
  const [bare, told] = [path.join(folder, 'bare.mp3'), path.join(folder, 'told.mp3')];
  writeFileSync(bare, sound);
  writeFileSync(told, Buffer.concat([renderInfoFrame(frames), sound]));
  const duration = execFileSync('ffprobe', ['-v', 'error', '-show_entries', 'format=duration', '-of', 'csv=p=0', told]);
  expect(Number(duration)).toBeCloseTo(frames * 0.024, 6);
  const decode = (file: string, ...seek: string[]) => ffmpeg(...seek, '-i', file, '-f', 's16le', 'pipe:1');
  const whole = decode(bare);
  expect(decode(told).equals(whole)).toBe(true);
  // From the second frame behind the place on: an MP3 frame sounds on into the next one.
  const from = 30 * 48_000 * 4;
  const later = decode(told, '-ss', '30');
  expect(later.length).toBe(whole.length - from);
  expect(later.subarray(9216).equals(whole.subarray(from + 9216))).toBe(true);
});
