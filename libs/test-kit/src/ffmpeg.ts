import { execFileSync } from 'node:child_process';
import path from 'node:path';

/** Runs ffmpeg, which replaces files that are there, and answers its standard output. Throws with its own message. */
export const ffmpeg = (...args: string[]): Buffer =>
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args], {
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** Noise with the rhythm of speech, in the format of the file's name; the same bytes in every run. Answers the file. */
export function makeAudio(file: string, seconds: number): string {
  const source = `anoisesrc=color=pink:sample_rate=48000:duration=${seconds}:seed=7,tremolo=f=4:d=0.8`;
  ffmpeg('-f', 'lavfi', '-i', source, '-ac', '2', file);
  return file;
}

/** A file so many times as long as `file`, which it repeats: made without encoding, where only the length counts. Answers the file. */
export function repeatAudio(file: string, times: number, ...args: string[]): string {
  const repeated = path.join(path.dirname(file), `${times} times ${path.basename(file)}`);
  ffmpeg('-stream_loop', String(times - 1), '-i', file, '-c', 'copy', ...args, repeated);
  return repeated;
}
