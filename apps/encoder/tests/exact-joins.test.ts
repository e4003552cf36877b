import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bytesOfFrames, canonicalFormat, canonicalViolation, durationMsOfFrames, walkFrames } from '@longwave/audio';
import { encodeAudio } from '../src/media/encode-audio.ts';
import { decodedSeconds, decodePcm, makeSource, speech, temporaryFolder } from './_media.ts';

const { channels, frameMs, frameSamples } = canonicalFormat;
/** Bytes of one decoded frame. */
const pcmFrameBytes = frameSamples * channels * 2;

const tone = (seconds: number) => `sine=f=700:r=48000:d=${seconds}`;
const loud = "aevalsrc='1.6*sin(2*PI*220*t)+0.8*(random(0)-0.5)|1.6*sin(2*PI*331*t)':s=48000:d=4";
const silence = (seconds: number) => `anullsrc=r=44100:cl=mono,atrim=end=${seconds}`;

/** Sounds that are cut, and sounds that are joined in there. */
const contents = {
  'speech.flac': [speech(6), '-ar', '48000', '-ac', '2'],
  'mono 44100.mp3': [speech(5), '-ar', '44100', '-ac', '1'],
  'clipping.wav': [loud, '-c:a', 'pcm_f32le'],
  'silent.wav': [silence(2)],
} as const satisfies Record<string, readonly [string, ...string[]]>;
const ads = {
  'one frame.wav': [tone(1), '-af', `atrim=end_sample=${frameSamples}`],
  'tenth.wav': [tone(0.1)],
  'second 44100.mp3': [speech(1), '-ar', '44100', '-ac', '1'],
  'clipping ad.wav': [loud, '-t', '1', '-c:a', 'pcm_f32le'],
  'silent ad.wav': [silence(0.5)],
} as const satisfies Record<string, readonly [string, ...string[]]>;
type Name = keyof typeof contents | keyof typeof ads;

interface Segment {
  readonly bytes: Buffer;
  /** Interleaved 16-bit samples that ffmpeg decodes of the segment alone. */
  readonly pcm: Buffer;
  readonly frames: number;
}

let folder: string;
let remove: () => void;
const segments = new Map<string, Segment>();

beforeAll(async () => {
  const temporary = temporaryFolder();
  folder = temporary.path;
  remove = () => temporary[Symbol.dispose]();
  for (const [name, [sound, ...args]] of Object.entries<readonly [string, ...string[]]>({ ...contents, ...ads })) {
    const inputPath = makeSource(folder, name, sound, ...args);
    const outputPath = path.join(folder, `${name}.segment`);
    const { frames, durationMs } = await encodeAudio({ inputPath, outputPath, targetLufs: -16 });
    const bytes = readFileSync(outputPath);
    expect(bytes.length).toBe(bytesOfFrames(frames));
    expect(Math.abs(durationMs - decodedSeconds(inputPath) * 1000)).toBeLessThanOrEqual(frameMs);
    segments.set(name, { bytes, pcm: decodePcm(bytes), frames });
  }
}, 120_000);
afterAll(() => remove());

/** Frames [from, to) of a segment. */
interface Part {
  readonly of: Segment;
  readonly from: number;
  readonly to: number;
}

const bytesOf = ({ of, from, to }: Part) => of.bytes.subarray(bytesOfFrames(from), bytesOfFrames(to));

/** Content cut at `cuts` (shares of its length), each time with ads joined in. */
function arrange(content: Name, cuts: readonly { readonly at: number; readonly ads: readonly Name[] }[]): Part[] {
  const of = segments.get(content)!;
  const parts: Part[] = [];
  let from = 0;
  for (const cut of cuts.toSorted((a, b) => a.at - b.at)) {
    const to = Math.floor(cut.at * of.frames);
    if (to > from) parts.push({ of, from, to });
    for (const name of cut.ads) parts.push({ of: segments.get(name)!, from: 0, to: segments.get(name)!.frames });
    from = to;
  }
  if (of.frames > from) parts.push({ of, from, to: of.frames });
  return parts;
}

const breaks = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    ads: fc.array(fc.constantFrom(...(Object.keys(ads) as Name[])), { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 4 },
);

/**
 * A decoder carries two things from one frame to the next: the second half of the last granule's inverse MDCT, which is added to
 * the first granule (576 samples), and the last 15 vectors of 32 samples of the synthesis filterbank (ISO/IEC 11172-3 §2.4.3.4.10
 * and §2.4.3.2.2). After a join both belong to the sound before it, so 576 + 480 = 1056 samples of the first frame differ. Nothing
 * reaches further, because no frame needs main data of another.
 */
const joinedSamples = 576 + 15 * 32;

test.each(Object.keys(contents) as Name[])(
  '%s cut at any frames plays exactly after the first frame of every join, and so do the ads',
  (content) => {
    // One decoder plays several arrangements one after the other, each beginning with a join.
    const several = fc.array(breaks, { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(several, (arrangements) => {
        const parts = arrangements.flatMap((cuts) => arrange(content, cuts));
        const bytes = Buffer.concat(parts.map(bytesOf));

        const starts = new Set(
          parts.map((_, i) => parts.slice(0, i).reduce((sum, part) => sum + bytesOf(part).length, 0)),
        );
        const wrong: unknown[] = [];
        let end = 0;
        let frames = 0;
        for (const frame of walkFrames(bytes)) {
          const isJoined = !starts.delete(frame.offset) || frame.sideInfo.mainDataBegin === 0;
          const violation = canonicalViolation(frame);
          if (frame.offset !== end || violation !== undefined || !isJoined) wrong.push({ frame, end, violation });
          end += frame.bytes.length;
          frames++;
        }
        expect(wrong).toEqual([]);
        expect(starts).toEqual(new Set());
        expect(end).toBe(bytes.length);

        const pcm = decodePcm(bytes);
        expect(pcm.length).toBe(frames * pcmFrameBytes);
        expect((pcm.length / channels / 2 / canonicalFormat.sampleRate) * 1000).toBeCloseTo(
          durationMsOfFrames(frames),
          6,
        );

        let at = 0;
        for (const [index, { of, from, to }] of parts.entries()) {
          // The first part, and a part after a cut without an ad, follow no foreign sound.
          const before = parts[index - 1];
          const isWhole = from === 0 ? index === 0 : before?.of === of && before.to === from;
          const skipped = isWhole ? 0 : joinedSamples * channels * 2;
          const joined = pcm.subarray(at + skipped, at + (to - from) * pcmFrameBytes);
          const alone = of.pcm.subarray(from * pcmFrameBytes + skipped, to * pcmFrameBytes);
          expect(joined.equals(alone)).toBe(true);
          at += (to - from) * pcmFrameBytes;
        }
      }),
      { numRuns: 5 },
    );
  },
);

test('after a join only the first frame differs, and it does differ', () => {
  const content = segments.get('speech.flac')!;
  const half = Math.floor(content.frames / 2);
  const pcm = decodePcm(
    Buffer.concat([segments.get('clipping ad.wav')!.bytes, content.bytes.subarray(bytesOfFrames(half))]),
  );
  const first = pcm.length - (content.frames - half) * pcmFrameBytes;
  const firstFrame = pcm.subarray(first, first + pcmFrameBytes);
  expect(firstFrame.equals(content.pcm.subarray(half * pcmFrameBytes, (half + 1) * pcmFrameBytes))).toBe(false);
});
