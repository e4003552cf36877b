import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { bytesOfFrames, checkCanonical } from './canonical.ts';
import { fadeFrames } from './fade.ts';
import { stripTags } from './tags.ts';

const run = (input: Buffer | undefined, ...args: string[]) =>
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', ...args], { input, maxBuffer: 1 << 28 });
const lame = ['-c:a', 'libmp3lame', '-b:a', '128k', '-reservoir', '0', '-joint_stereo', '1', '-write_xing', '0'];
const tone = ['-f', 'lavfi', '-i', 'sine=f=440:r=48000:d=3', '-ac', '2'];
const sound = Buffer.from(stripTags(run(undefined, ...tone, ...lame, '-f', 'mp3', 'pipe:1')));

/** Loudest sample of each 24 ms. */
function levels(mp3: Buffer): number[] {
  const pcm = run(mp3, '-f', 'mp3', '-i', 'pipe:0', '-ac', '1', '-f', 's16le', 'pipe:1');
  return Array.from({ length: Math.floor(pcm.length / 2304) }, (_, frame) => {
    let loudest = 0;
    for (let i = 0; i < 1152; i++) loudest = Math.max(loudest, Math.abs(pcm.readInt16LE(frame * 2304 + i * 2)));
    return loudest;
  });
}

test('faded frames are canonical, of the same size, and fall to silence or rise from it; frames beside them stay', () => {
  const [from, to] = [50, 60].map(bytesOfFrames) as [number, number];
  for (const direction of ['out', 'in'] as const) {
    const faded = fadeFrames(sound.subarray(from, to), direction);
    expect(checkCanonical(faded)).toMatchObject({ canonical: true, frames: 10 });
    const [before, after] = [
      levels(sound),
      levels(Buffer.concat([sound.subarray(0, from), faded, sound.subarray(to)])),
    ];
    expect(after.slice(0, 49)).toEqual(before.slice(0, 49));
    expect(after.slice(63)).toEqual(before.slice(63));
    const shares = after.slice(51, 60).map((level, i) => level / before[51 + i]!);
    const rising = direction === 'in' ? shares : shares.toReversed();
    for (const [i, share] of rising.entries()) if (i > 1) expect(share).toBeGreaterThanOrEqual(rising[i - 1]! - 0.02);
    expect(Math.min(...shares)).toBeLessThan(0.25);
    expect(Math.max(...shares)).toBeGreaterThan(0.75);
  }
});
