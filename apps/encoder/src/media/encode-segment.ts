import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { bytesOfFrames, canonicalFormat, canonicalViolation, walkFrameChunks } from '@longwave/audio';
import { gainFilters } from './gain-filters.ts';
import type { GainPlan } from './gain-plan.ts';
import { runFfmpeg, untrustedInput } from './run-ffmpeg.ts';

/**
 * LAME delays by 576 samples and the decoder by 529. With 47 more the sound starts exactly one frame late; that frame is dropped,
 * so sample n of the source is sample n of the decoded segment.
 */
const alignmentSamples = canonicalFormat.frameSamples - (576 + 529);

/** LAME attenuates at this bit rate by 0.95; the inverse goes in front of it. */
const lameScaleDb = -20 * Math.log10(0.95);

function renderFilter(plan: GainPlan): string {
  const align = `adelay=${alignmentSamples}S|${alignmentSamples}S`;
  return [
    ...gainFilters(plan),
    `volume=${lameScaleDb.toFixed(4)}dB`,
    align,
    `apad=pad_len=${canonicalFormat.frameSamples}`,
  ].join(',');
}

/** Encodes into a file of exactly `frames` canonical frames, and into `copy` as they come; answers the SHA-256 of both. */
export async function encodeSegment(
  url: string,
  plan: GainPlan,
  frames: number,
  { path, copy }: { readonly path: string; readonly copy: Writable },
  onPosition: (positionMs: number) => void,
  signal: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256');
  const lame = ['-c:a', 'libmp3lame', '-b:a', '128k', '-reservoir', '0', '-joint_stereo', '1'];
  const bare = [
    '-map_metadata',
    '-1',
    '-map_chapters',
    '-1',
    '-write_xing',
    '0',
    '-id3v2_version',
    '0',
    '-write_id3v1',
    '0',
  ];
  const exact = ['-flags:a', '+bitexact', '-fflags', '+bitexact'];
  const args = [
    ...untrustedInput(url),
    '-map',
    '0:a:0',
    '-af',
    renderFilter(plan),
    ...lame,
    ...bare,
    ...exact,
    '-f',
    'mp3',
    'pipe:1',
  ];
  await using file = await open(path, 'w');
  async function* record(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      await file.writeFile(chunk);
      yield chunk;
    }
  }
  await runFfmpeg('ffmpeg', ['-loglevel', 'error', ...args], {
    signal,
    onPosition,
    consume: (stdout) => pipeline(alignedFrames(stdout, frames), record, copy, { signal }),
  });
  return hash.digest('hex');
}

/** The second to the (count + 1)th frame of an encoder's output, gathered into larger chunks; each is checked to be canonical. */
async function* alignedFrames(chunks: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  const gatheredFrames = 256;
  let gathered = Buffer.alloc(0);
  let filled = 0;
  let index = -1;
  for await (const frame of walkFrameChunks(chunks)) {
    const violation = canonicalViolation(frame);
    if (violation)
      throw new Error(`the encoder made a frame that is not canonical: ${violation} at byte ${frame.offset}`);
    if (index >= 0 && index < count) {
      if (filled === 0) gathered = Buffer.alloc(bytesOfFrames(gatheredFrames));
      gathered.set(frame.bytes, filled);
      filled += frame.bytes.length;
      if (filled === gathered.length) {
        yield gathered;
        filled = 0;
      }
    }
    index++;
  }
  if (filled) yield gathered.subarray(0, filled);
  if (index < count) throw new Error(`the encoder made ${index} frames of ${count}`);
}
