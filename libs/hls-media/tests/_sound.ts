import { execFileSync } from 'node:child_process';
import { aacArguments, muxAac, type CellIndex } from '../src/index.ts';

/** A sound whose samples are known, and what the encoder made of it. */
export interface Sound {
  /** Left and right in turn, −1 … 1. */
  readonly samples: Float32Array;
  readonly adts: Buffer;
}

const run = (args: readonly string[], input?: Buffer) =>
  execFileSync('ffmpeg', ['-v', 'error', ...args], { input, maxBuffer: 1 << 28 });

const floats = (pcm: Buffer) => new Float32Array(Uint8Array.from(pcm).buffer);
const raw = ['-f', 'f32le', '-ar', '48000', '-ac', '2'];

/** Encodes samples as the encoder does. */
export const encodeAac = (pcm: Buffer): Buffer =>
  run(
    [...raw, '-i', 'pipe:0', ...aacArguments(['aresample=48000', 'aformat=sample_fmts=fltp:channel_layouts=stereo'])],
    pcm,
  );

/** A sound by two expressions of ffmpeg's `aevalsrc`, one for each channel. */
export function makeSound(left: string, right: string, seconds: number): Sound {
  const pcm = run(['-f', 'lavfi', '-i', `aevalsrc='${left}|${right}':s=48000:d=${seconds}`, '-f', 'f32le', 'pipe:1']);
  return { samples: floats(pcm), adts: encodeAac(pcm) };
}

/** `muxAac` into memory. */
export async function muxed(
  adts: Buffer,
  starts: readonly number[],
  frames: number,
): Promise<{ readonly index: CellIndex; readonly bytes: Buffer }> {
  const written: Buffer[] = [];
  const index = await muxAac([adts], starts, frames, (bytes) => void written.push(bytes));
  return { index, bytes: Buffer.concat(written) };
}

/** Samples that a decoder makes of a file of MP4, which must have nothing to complain about. */
export function decode(file: string): Float32Array {
  return floats(run(['-xerror', '-i', file, '-f', 'f32le', 'pipe:1']));
}
