import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ffmpeg } from '@longwave/test-kit';

/** A folder that goes away with the test file. */
export function temporaryFolder(): { readonly path: string; [Symbol.dispose](): void } {
  const folder = mkdtempSync(path.join(tmpdir(), 'longwave-encoder-test-'));
  return { path: folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Speech-like sound: noise in syllables, over a tone. */
export const speech = (seconds: number) =>
  `aevalsrc='(0.25*sin(2*PI*180*t)+0.2*(random(0)-0.5))*abs(sin(2*PI*2.3*t))':s=44100:d=${seconds}`;

/** Writes `source` in the container and codec of the file's ending. */
export function makeSource(folder: string, name: string, source: string, ...args: string[]): string {
  const file = path.join(folder, name);
  ffmpeg('-f', 'lavfi', '-i', source, ...args, file);
  return file;
}

/** The first `share` of a file. */
export function cutFile(file: string, share: number): string {
  const bytes = readFileSync(file);
  const cut = `${file}.cut`;
  writeFileSync(cut, bytes.subarray(0, Math.floor(bytes.length * share)));
  return cut;
}

/** Left-channel samples of an MP3 as a raw decoder gives them. */
export function decodeLeft(file: string): Float32Array {
  const pcm = ffmpeg('-i', file, '-af', 'pan=mono|c0=c0', '-f', 'f32le', 'pipe:1');
  return new Float32Array(new Uint8Array(pcm).buffer);
}

/** Interleaved 16-bit samples that a decoder makes of the bytes of an MP3. */
export const decodePcm = (mp3: Buffer): Buffer =>
  execFileSync('ffmpeg', ['-v', 'error', '-f', 'mp3', '-i', 'pipe:0', '-c:a', 'pcm_s16le', '-f', 's16le', 'pipe:1'], {
    input: mp3,
    maxBuffer: 1 << 28,
  });

/** Seconds that a decoder makes of the sound of a file. */
export const decodedSeconds = (file: string): number =>
  ffmpeg('-i', file, '-map', '0:a:0', '-ac', '1', '-ar', '48000', '-f', 's16le', 'pipe:1').length / 2 / 48_000;

/** `makeSource` by a writer that cannot seek back: through a pipe. */
export function makeStreamed(folder: string, name: string, source: string, ...args: string[]): string {
  const file = path.join(folder, name);
  writeFileSync(file, ffmpeg('-f', 'lavfi', '-i', source, ...args, 'pipe:1'));
  return file;
}

/** The loudness that ffmpeg measures of finished files, all of them in one run. */
export function measureLoudness(files: readonly string[]): { readonly lufs: number; readonly truePeakDbtp: number }[] {
  const inputs = files.flatMap((file) => ['-i', file]);
  const meters = files.flatMap((_file, index) => [
    ...['-map', `${index}:a`, '-af', `ebur128@${index}=peak=true:framelog=verbose`, '-f', 'null', '-'],
  ]);
  const said = spawnSync('ffmpeg', ['-nostats', ...inputs, ...meters], { encoding: 'utf8' }).stderr;
  return files.map((_file, index) => {
    const summary = new RegExp(`\\[ebur128@${index} [^]*?Summary:[^]*?I: +(\\S+) LUFS[^]*?Peak: +(\\S+) dBFS`);
    const [, lufs, peak] = summary.exec(said)!;
    return { lufs: Number(lufs), truePeakDbtp: Number(peak) };
  });
}
