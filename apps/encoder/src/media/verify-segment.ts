import type { Readable } from 'node:stream';
import {
  canonicalFormat,
  createSilenceFinder,
  createWaveform,
  readSamples,
  type Silence,
  type Waveform,
} from '@longwave/audio';
import type { Loudness } from './gain-plan.ts';
import { parseLoudness, resultMeter } from './loudness-meter.ts';
import { runFfmpeg, untrustedInput } from './run-ffmpeg.ts';

/** 50 ms per pixel. */
const samplesPerPixel = canonicalFormat.sampleRate / 20;

/** The sound of a segment as a listener hears it. */
export interface VerifiedSegment {
  readonly loudness: Loudness;
  readonly waveform: Waveform;
  readonly silences: readonly Silence[];
}

/** Decodes `segment`, its bytes, as a player does: loudness, true peak, waveform and silences in one pass. */
export async function verifySegment(
  segment: Readable,
  frames: number,
  onPosition: (positionMs: number) => void,
  signal: AbortSignal,
): Promise<VerifiedSegment> {
  const { channels, sampleRate, frameSamples } = canonicalFormat;
  const waveform = createWaveform(sampleRate, samplesPerPixel, channels);
  const silences = createSilenceFinder(sampleRate, channels);
  let samples = 0;
  const consume = async (stdout: Readable) => {
    for await (const part of readSamples(stdout as AsyncIterable<Buffer>)) {
      waveform.push(part);
      silences.push(part);
      samples += part.length;
    }
  };
  const args = [
    // Of very few frames ffmpeg could not guess the format.
    '-f',
    'mp3',
    ...untrustedInput('pipe:0'),
    '-map',
    '0:a:0',
    '-af',
    resultMeter,
    '-c:a',
    'pcm_s16le',
    '-f',
    's16le',
    'pipe:1',
  ];
  const stderr = await runFfmpeg('ffmpeg', args, { signal, feed: segment, consume, onPosition });
  const decodedFrames = samples / channels / frameSamples;
  if (decodedFrames !== frames) throw new Error(`the segment of ${frames} frames decodes to ${decodedFrames}`);
  return { loudness: parseLoudness(stderr), waveform: waveform.finish(), silences: silences.finish() };
}
