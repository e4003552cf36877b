import { execFileSync } from 'node:child_process';

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
