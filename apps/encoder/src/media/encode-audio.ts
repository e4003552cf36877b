import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  bytesOfFrames,
  canonicalFormat,
  canonicalViolation,
  createSilenceFinder,
  createWaveform,
  durationMsOfFrames,
  framesOfSamples,
  readSamples,
  walkFrameChunks,
  type Silence,
  type Waveform,
} from '@longwave/audio';
import { distanceFromTarget, isOnTarget, planGain, reviseGain, type GainPlan, type Loudness } from './gain-plan.ts';
import { checkDecodedDuration, inspectSource, type SourceInfo } from './inspect-source.ts';
import { MediaFault } from './media-fault.ts';
import { FfmpegExit, runFfmpeg, untrustedInput } from './run-ffmpeg.ts';

export type EncodeStage = 'measuring' | 'encoding' | 'verifying';

export interface EncodedAudio {
  readonly source: SourceInfo;
  /** Lower-case hex of the file at `outputPath`. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly frames: number;
  readonly durationMs: number;
  readonly inputLoudness: Loudness;
  /** Measured on the decoded result. */
  readonly outputLoudness: Loudness;
  readonly waveform: Waveform;
  /** Of the decoded result. */
  readonly silences: readonly Silence[];
}

/** 50 ms per pixel. */
const samplesPerPixel = canonicalFormat.sampleRate / 20;
/** ffmpeg, and so any player built on it, opens no MP3 of a single frame. */
const framesMin = 2;
const encodesMax = 5;
const durationMsMax = 24 * 3_600_000;

/**
 * LAME delays by 576 samples and the decoder by 529. With 47 more the sound starts exactly one frame late; that frame is dropped,
 * so sample n of the source is sample n of the decoded segment.
 */
const alignmentSamples = canonicalFormat.frameSamples - (576 + 529);

const toCanonicalPcm = `aresample=${canonicalFormat.sampleRate},aformat=sample_fmts=fltp:channel_layouts=stereo`;
/** LAME attenuates at this bit rate by 0.95; the inverse goes in front of it. */
const lameScaleDb = -20 * Math.log10(0.95);
const loudnessMeter = 'ebur128=peak=true:framelog=verbose';

/**
 * Encodes any supported source into one canonical segment at `outputPath`, at `targetLufs` (± 0.5 LU, true peak of the decoded
 * result at most −1 dBTP). The same input gives the same bytes (with the same ffmpeg). Leaves no file behind when it fails.
 * Throws `MediaFault` when the source is at fault, the signal's reason when aborted, anything else for trouble of ours.
 */
export async function encodeAudio(options: {
  readonly inputPath: string;
  readonly outputPath: string;
  readonly targetLufs: number;
  /** `fraction` of the stage, 0 … 1. */
  readonly onProgress?: (stage: EncodeStage, fraction: number) => void;
  readonly signal?: AbortSignal;
}): Promise<EncodedAudio> {
  const { inputPath, outputPath, targetLufs, onProgress, signal = new AbortController().signal } = options;
  const url = `file:${inputPath}`;
  const source = await inspectFile(inputPath, url, signal);
  const track = (stage: EncodeStage, totalMs: number) => (positionMs: number) =>
    onProgress?.(stage, totalMs > 0 ? Math.min(1, positionMs / totalMs) : 0);

  const measured = await measureSource(url, source, track('measuring', source.durationMs), signal);
  const frames = Math.max(framesMin, framesOfSamples(measured.samples));
  const durationMs = durationMsOfFrames(frames);
  const paths: string[] = [];
  const attempts: ({ readonly path: string; readonly sha256: string } & VerifiedSegment)[] = [];
  try {
    for (let plan = planGain(measured.loudness, targetLufs); attempts.length < encodesMax;) {
      const path = `${outputPath}.${paths.length + 1}`;
      paths.push(path);
      const sha256 = await encodeSegment(url, path, plan, frames, track('encoding', durationMs), signal);
      const verified = await verifySegment(path, frames, track('verifying', durationMs), signal);
      attempts.push({ path, sha256, ...verified });
      if (isOnTarget(verified.loudness, measured.loudness, targetLufs)) break;
      plan = reviseGain(plan, verified.loudness, measured.loudness, targetLufs);
    }
    const best = attempts.reduce((a, b) =>
      distanceFromTarget(b.loudness, targetLufs) < distanceFromTarget(a.loudness, targetLufs) ? b : a,
    );
    await rename(best.path, outputPath);
    return {
      source,
      sha256: best.sha256,
      sizeBytes: bytesOfFrames(frames),
      frames,
      durationMs,
      inputLoudness: measured.loudness,
      outputLoudness: best.loudness,
      waveform: best.waveform,
      silences: best.silences,
    };
  } finally {
    await Promise.all(paths.map((path) => rm(path, { force: true })));
  }
}

async function inspectFile(path: string, url: string, signal: AbortSignal): Promise<SourceInfo> {
  await using file = await open(path);
  const { size } = await stat(path);
  const read = async (from: number, to: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.max(0, Math.min(to, size) - from)), {
      position: from,
    });
    return buffer.subarray(0, bytesRead);
  };
  return await inspectSource({ url, reader: { sizeBytes: size, read } }, signal);
}

/** Decodes the whole source: its loudness and its exact length in samples at 48 kHz. */
async function measureSource(
  url: string,
  source: SourceInfo,
  onPosition: (positionMs: number) => void,
  signal: AbortSignal,
): Promise<{ readonly samples: number; readonly loudness: Loudness }> {
  let samples = 0;
  const consume = async (stdout: Readable) => {
    // One line of framecrc per block of samples: stream, dts, pts, duration, size, checksum.
    for await (const line of createInterface({ input: stdout })) {
      if (line.startsWith('#')) continue;
      samples += Number(line.split(',')[3]);
      if (samples > (durationMsMax / 1000) * canonicalFormat.sampleRate)
        throw new MediaFault('encoder_failed', 'The file is longer than 24 hours. Upload a shorter one.');
    }
  };
  const filter = `${toCanonicalPcm},${loudnessMeter}`;
  const args = [
    ...untrustedInput(url),
    '-map',
    '0:a:0',
    '-af',
    filter,
    '-c:a',
    'pcm_s16le',
    '-f',
    'framecrc',
    'pipe:1',
  ];
  try {
    const said = await runFfmpeg('ffmpeg', args, { signal, consume, onPosition });
    checkDecodedDuration(source, (samples * 1000) / canonicalFormat.sampleRate);
    return { samples, loudness: parseLoudness(said) };
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

function renderFilter(plan: GainPlan): string {
  // The limiter works on four times the rate, where a sample peak is nearly a true peak; `latency` takes its look-ahead back.
  const limiter =
    plan.ceilingDb === undefined
      ? []
      : [
          'aresample=192000',
          `alimiter=limit=${10 ** (plan.ceilingDb / 20)}:attack=5:release=50:level=disabled:latency=1`,
          'aresample=48000',
        ];
  const align = `adelay=${alignmentSamples}S|${alignmentSamples}S`;
  return [
    toCanonicalPcm,
    `volume=${plan.gainDb}dB`,
    ...limiter,
    `volume=${lameScaleDb.toFixed(4)}dB`,
    align,
    `apad=pad_len=${canonicalFormat.frameSamples}`,
  ].join(',');
}

/** Encodes into a file of exactly `frames` canonical frames and answers its SHA-256. */
async function encodeSegment(
  url: string,
  path: string,
  plan: GainPlan,
  frames: number,
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
  await runFfmpeg('ffmpeg', ['-loglevel', 'error', ...args], {
    signal,
    onPosition,
    consume: (stdout) =>
      pipeline(
        Readable.from(alignedFrames(stdout, frames), { objectMode: false }),
        async function* (chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            hash.update(chunk);
            yield chunk;
          }
        },
        createWriteStream(path),
        { signal },
      ),
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

interface VerifiedSegment {
  readonly loudness: Loudness;
  readonly waveform: Waveform;
  readonly silences: readonly Silence[];
}

/** Decodes the result as a player does: loudness, true peak, waveform and silences in one pass. */
async function verifySegment(
  path: string,
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
    // So few frames may be too little for the demuxer to be guessed.
    '-f',
    'mp3',
    ...untrustedInput(`file:${path}`),
    '-map',
    '0:a:0',
    '-af',
    loudnessMeter,
    '-c:a',
    'pcm_s16le',
    '-f',
    's16le',
    'pipe:1',
  ];
  const said = await runFfmpeg('ffmpeg', args, { signal, consume, onPosition });
  const decodedFrames = samples / channels / frameSamples;
  if (decodedFrames !== frames) throw new Error(`the segment of ${frames} frames decodes to ${decodedFrames}`);
  return { loudness: parseLoudness(said), waveform: waveform.finish(), silences: silences.finish() };
}

/** The summary that ffmpeg's ebur128 filter prints at its end; −70 LUFS is the absolute gate of R128: nothing was louder. */
function parseLoudness(said: string): Loudness {
  const summary = said.slice(said.lastIndexOf('Summary:'));
  const lufs = /Integrated loudness:\s+I:\s+(-?[\d.]+) LUFS/.exec(summary)?.[1];
  const peak = /True peak:\s+Peak:\s+(-?[\d.]+|-inf|-?nan) dBFS/.exec(summary)?.[1];
  if (lufs === undefined || peak === undefined) throw new Error('ffmpeg printed no loudness summary');
  return {
    lufs: Number(lufs) <= -70 ? null : Number(lufs),
    truePeakDbtp: Number.isFinite(Number(peak)) ? Number(peak) : null,
  };
}
