import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { aacArguments, aacFrameRate, aacFramesOfSamples, cellGrid, firstFrames, muxAac } from '@longwave/hls-media';
import { sha256 } from '@longwave/test-kit';
import type { HlsTrack } from '../src/projection/projected.ts';
import type { Bench } from './_support.ts';

const run = promisify(execFile);
const sampleRate = 48_000;

export interface TestTrack {
  readonly track: HlsTrack;
  readonly bytes: Buffer;
  readonly frames: number;
}

/** A tone as a track of HLS in the store, with cells as the encoder makes them; `cutsMs` are places for ads. */
export async function storeTone(
  { store }: Pick<Bench, 'store'>,
  seconds: number,
  hertz: number,
  cutsMs: readonly number[] = [],
): Promise<TestTrack> {
  const samples = Math.round(seconds * sampleRate);
  const tone = `sine=frequency=${hertz}:sample_rate=${sampleRate}:duration=${seconds}`;
  const filters = ['aformat=sample_fmts=fltp:channel_layouts=stereo', 'volume=0.5'];
  const { stdout: adts } = await run('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', tone, ...aacArguments(filters)], {
    maxBuffer: 1 << 28,
    encoding: 'buffer',
  });
  const frames = aacFramesOfSamples(samples);
  const pieces: Buffer[] = [];
  const starts = firstFrames(cellGrid(samples, cutsMs, []), aacFrameRate);
  const index = await muxAac([adts], starts, frames, (bytes) => void pieces.push(Buffer.from(bytes)));
  const bytes = Buffer.concat(pieces);
  const indexBytes = Buffer.from(JSON.stringify(index));
  await store.put(`media/${sha256(bytes)}`, bytes, { contentType: 'audio/mp4' });
  await store.put(`media/${sha256(indexBytes)}`, indexBytes, { contentType: 'application/json' });
  const stored = (each: Buffer) => ({
    storage_key: `media/${sha256(each)}`,
    sha256: sha256(each),
    size_bytes: each.length,
  });
  const track = {
    codec: 'mp4a.40.2',
    ...stored(bytes),
    duration_ms: Math.round((frames * 1024 * 1000) / sampleRate),
    index: stored(indexBytes),
  };
  return { track, bytes, frames };
}
