import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

const ffmpeg = (...args: string[]) =>
  execFileSync('ffmpeg', ['-v', 'error', ...args, 'pipe:1'], { maxBuffer: 1 << 28 });

/** A source of ffmpeg encoded as a canonical segment: constant bit rate, no reservoir, no tags. */
const canonical = (source: string): Buffer =>
  ffmpeg(
    ...['-f', 'lavfi', '-i', source, '-ac', '2', '-c:a', 'libmp3lame', '-b:a', '128k', '-reservoir', '0'],
    ...['-write_xing', '0', '-id3v2_version', '0', '-f', 'mp3'],
  );

export const tone = (seconds: number, hertz: number): Buffer =>
  canonical(`sine=frequency=${hertz}:sample_rate=48000:duration=${seconds}`);

/** No two frames of it are alike; silent in [from, to) seconds. */
export const noise = (seconds: number, seed: number, [from, to]: readonly [number, number] = [0, 0]): Buffer =>
  canonical(
    `anoisesrc=color=pink:seed=${seed}:sample_rate=48000:duration=${seconds},volume=0:enable='between(t,${from},${to})*gt(${to},${from})'`,
  );

/** Samples of both channels, interleaved, as ffmpeg decodes them. */
export function decode(folder: string, bytes: Buffer): Float32Array {
  const file = path.join(folder, 'decoded.mp3');
  writeFileSync(file, bytes);
  const pcm = ffmpeg('-i', file, '-map', '0:a', '-f', 'f32le', '-ac', '2');
  return new Float32Array(pcm.buffer, pcm.byteOffset, pcm.length / 4);
}

/** A square JPEG. */
export const jpeg = (pixels: number): Buffer =>
  ffmpeg('-f', 'lavfi', '-i', `testsrc=size=${pixels}x${pixels}`, '-frames:v', '1', '-f', 'mjpeg');

interface Probe {
  readonly format: { readonly duration: string; readonly tags: Readonly<Record<string, string>> };
  readonly streams: readonly { readonly codec_name: string; readonly width?: number }[];
  readonly chapters: readonly {
    readonly start_time: string;
    readonly end_time: string;
    readonly tags: { readonly title: string };
  }[];
}

/** A file as ffprobe reads it. */
export function probe(folder: string, bytes: Buffer): Probe {
  const file = path.join(folder, 'probed.mp3');
  writeFileSync(file, bytes);
  const args = ['-v', 'error', '-of', 'json', '-show_format', '-show_streams', '-show_chapters', file];
  return JSON.parse(execFileSync('ffprobe', args, { encoding: 'utf8' })) as Probe;
}
