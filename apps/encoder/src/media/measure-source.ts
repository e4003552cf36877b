import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { canonicalFormat, durationMsOfFrames, framesOfSamples } from '@longwave/audio';
import type { SourceLoudness } from './gain-plan.ts';
import { checkDecodedDuration, inspectSource, type SourceInfo } from './inspect-source.ts';
import { parseSourceLoudness, sourceMeter } from './loudness-meter.ts';
import { MediaFault } from './media-fault.ts';
import { findWarnings, type MediaWarning } from './media-warning.ts';
import { FfmpegExit, runFfmpeg, untrustedInput } from './run-ffmpeg.ts';
import type { ByteReader } from './source-structure.ts';

/** A local source that was decoded once. */
export interface MeasuredSource {
  /** The file that ffmpeg opens. */
  readonly url: string;
  readonly info: SourceInfo;
  readonly loudness: SourceLoudness;
  /** Its length at 48 kHz, per channel. */
  readonly samples: number;
  /** Canonical frames that it fills. */
  readonly frames: number;
  readonly durationMs: number;
  readonly warnings: readonly MediaWarning[];
}

/** Filter that converts any sound to the input of the canonical encoder. */
export const toCanonicalPcm = `aresample=${canonicalFormat.sampleRate},aformat=sample_fmts=fltp:channel_layouts=stereo`;

/** ffmpeg, and so any player built on it, opens no MP3 of a single frame. */
const framesMin = 2;
const maxDurationMs = 24 * 3_600_000;

/**
 * Inspects and decodes a whole local file: its loudness and its exact length.
 * @param onFraction receives the decoded part, 0 … 1
 * Throws `MediaFault` when the source is at fault, the signal's reason when aborted.
 */
export async function measureSource(
  path: string,
  onFraction: (fraction: number) => void,
  signal: AbortSignal,
): Promise<MeasuredSource> {
  const url = `file:${path}`;
  await using source = await openSource(path);
  const info = await inspectSource({ url, reader: source.reader }, signal);
  const onPosition = (positionMs: number) =>
    onFraction(info.durationMs > 0 ? Math.min(1, positionMs / info.durationMs) : 0);
  const { samples, stderr, errors } = await decodeSource(url, [toCanonicalPcm, sourceMeter], onPosition, signal);
  checkDecodedDuration(info, (samples * 1000) / canonicalFormat.sampleRate);
  const loudness = parseSourceLoudness(stderr);
  const warnings = await findWarnings(source.reader, info, errors, signal);
  const frames = Math.max(framesMin, framesOfSamples(samples));
  return { url, info, loudness, samples, frames, durationMs: durationMsOfFrames(frames), warnings };
}

/** The length of a local source as `measureSource` counts it. Throws as it does, but inspects nothing. */
export async function countSamples(
  path: string,
  signal: AbortSignal,
): Promise<Pick<MeasuredSource, 'url' | 'samples'>> {
  const url = `file:${path}`;
  const { samples } = await decodeSource(url, [toCanonicalPcm], () => undefined, signal);
  return { url, samples };
}

async function openSource(path: string): Promise<AsyncDisposable & { readonly reader: ByteReader }> {
  const file = await open(path);
  const { size } = await file.stat();
  const read = async (from: number, to: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.max(0, Math.min(to, size) - from)), {
      position: from,
    });
    return buffer.subarray(0, bytesRead);
  };
  return { reader: { sizeBytes: size, read }, [Symbol.asyncDispose]: () => file.close() };
}

/** ffmpeg's message for a packet that it could not decode; it goes on with the next one. */
const decodeError = /\[error\] Error (while decoding|submitting packet)/;

/** Length in samples at 48 kHz, how many packets could not be decoded, and what ffmpeg said. */
async function decodeSource(
  url: string,
  filters: readonly string[],
  onPosition: (positionMs: number) => void,
  signal: AbortSignal,
): Promise<{ readonly samples: number; readonly errors: number; readonly stderr: string }> {
  let [samples, errors] = [0, 0];
  const consume = async (stdout: Readable) => {
    // One line of framecrc per block of samples: stream, dts, pts, duration, size, checksum.
    for await (const line of createInterface({ input: stdout })) {
      if (line.startsWith('#')) continue;
      samples += Number(line.split(',')[3]);
      if (samples > (maxDurationMs / 1000) * canonicalFormat.sampleRate)
        throw new MediaFault('encoder_failed', 'The file is longer than 24 hours. Upload a shorter one.');
    }
  };
  const args = [
    '-loglevel',
    'repeat+level+info',
    ...untrustedInput(url),
    '-map',
    '0:a:0',
    '-af',
    filters.join(','),
    '-c:a',
    'pcm_s16le',
    '-f',
    'framecrc',
    'pipe:1',
  ];
  try {
    const onLine = (line: string) => {
      if (decodeError.test(line)) errors++;
    };
    const stderr = await runFfmpeg('ffmpeg', args, { signal, consume, onLine, onPosition });
    return { samples, errors, stderr };
  } catch (error) {
    if (!(error instanceof FfmpegExit)) throw error;
    if (samples === 0)
      throw new MediaFault(
        'media_not_audio',
        'The file cannot be decoded. Upload MP3, M4A, WAV, FLAC, Ogg, Opus, AAC, MP4 or MOV.',
      );
    throw new MediaFault('media_truncated', 'The file is damaged and cannot be decoded to its end. Upload it again.');
  }
}
