import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { bytesOfFrames } from '@longwave/audio';
import { encodeSegment } from './encode-segment.ts';
import { encodeTrack, type EncodedTrack } from './encode-track.ts';
import {
  distanceFromTarget,
  isOnTarget,
  planGain,
  reviseGain,
  type GainPlan,
  type LoudnessTarget,
  type SourceLoudness,
} from './gain-plan.ts';
import type { SourceInfo } from './inspect-source.ts';
import type { MediaWarning } from './media-warning.ts';
import { measureSource, type MeasuredSource } from './measure-source.ts';
import { verifySegment, type VerifiedSegment } from './verify-segment.ts';

type EncodeStage = 'measuring' | 'encoding' | 'verifying';
/** `fraction` of the stage, 0 … 1. */
type OnProgress = (stage: EncodeStage, fraction: number) => void;

/** One canonical segment in a file. */
export interface EncodedSegment extends VerifiedSegment {
  readonly path: string;
  /** Lower-case hex of the file. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly frames: number;
  readonly durationMs: number;
  /** Length of its source at 48 kHz, per channel. */
  readonly samples: number;
  /** The gain and limiter that brought it to its loudness. */
  readonly plan: GainPlan;
}

export interface EncodedAudio extends EncodedSegment {
  readonly source: SourceInfo;
  readonly inputLoudness: SourceLoudness;
  /** Defects of the source. */
  readonly warnings: readonly MediaWarning[];
}

/** One loudness of an ad: its segment, and the same sound as a track of HLS. */
export interface EncodedStep extends EncodedSegment {
  readonly track: EncodedTrack;
}

const maxEncodes = 5;
/** Allowed distance of content from its target, LU. */
const contentTolerance = 0.5;
/** Steps of a ladder are exactly 2 LU apart: each must meet its target to the tenth that the meter prints. */
const ladderTolerance = 0.05;
/** Allowed distance from the second try on: the gating of the meter varies by a tenth. */
const meterTolerance = 0.15;

/**
 * Encodes any supported source into one canonical segment at `outputPath`, at `targetLufs` (± 0.5 LU, true peak of the decoded
 * result at most −1 dBTP). The same input gives the same bytes (with the same ffmpeg). Leaves no file behind when it fails.
 * Throws `MediaFault` when the source is at fault, the signal's reason when aborted, anything else for a failure of ours.
 */
export async function encodeAudio(options: {
  readonly inputPath: string;
  readonly outputPath: string;
  readonly targetLufs: number;
  readonly onProgress?: OnProgress;
  readonly signal?: AbortSignal;
}): Promise<EncodedAudio> {
  const { inputPath, outputPath, targetLufs, onProgress = () => undefined } = options;
  const { signal = new AbortController().signal } = options;
  const measured = await measureSource(inputPath, (fraction) => onProgress('measuring', fraction), signal);
  const target = { lufs: targetLufs, toleranceLu: contentTolerance };
  const first = planGain(measured.loudness, targetLufs);
  const best = await encodeToTarget(measured, target, first, outputPath, onProgress, signal);
  await rename(best.path, outputPath);
  const { info, loudness, warnings } = measured;
  return { ...segmentOf(measured, best, outputPath), source: info, inputLoudness: loudness, warnings };
}

/**
 * Encodes a source once for each of `targetsLufs`, as `encodeAudio` does but to a tenth of a LU where its peaks allow it, into files
 * of `folder`: the quietest first, all of the same length, equal ones once, each with the track of its gain. Leaves none behind when it
 * fails; throws the same.
 */
export async function encodeLadder(options: {
  readonly inputPath: string;
  readonly folder: string;
  readonly targetsLufs: readonly number[];
  readonly signal?: AbortSignal;
}): Promise<readonly EncodedStep[]> {
  const { inputPath, folder, targetsLufs, signal = new AbortController().signal } = options;
  const silent = () => undefined;
  const measured = await measureSource(inputPath, silent, signal);
  const made = new Map<string, EncodedStep>();
  const paths: string[] = [];
  try {
    /** Loudness of the encoded source at a gain of 0: coding changes the loudness by the same amount at every gain. */
    let { lufs } = measured.loudness;
    for (const targetLufs of targetsLufs.toSorted((a, b) => a - b)) {
      const target = { lufs: targetLufs, toleranceLu: ladderTolerance };
      const first = planGain({ ...measured.loudness, lufs }, targetLufs);
      const best = await encodeToTarget(measured, target, first, join(folder, 'step'), silent, signal);
      const path = join(folder, `${best.sha256}.mp3`);
      await rename(best.path, path);
      paths.push(path);
      if (!made.has(best.sha256)) {
        const outputPath = join(folder, `${best.sha256}.mp4`);
        const { plan, silences } = best;
        const track = await encodeTrack({ source: measured, plan, markersMs: [], silences, outputPath, signal });
        paths.push(track.path, track.index.path);
        made.set(best.sha256, { ...segmentOf(measured, best, path), track });
      }
      if (best.plan.ceilingDb === undefined && best.loudness.lufs !== null)
        lufs = best.loudness.lufs - best.plan.gainDb;
    }
    return [...made.values()];
  } catch (error) {
    await Promise.all(paths.map((path) => rm(path, { force: true })));
    throw error;
  }
}

interface Attempt extends VerifiedSegment {
  readonly path: string;
  readonly sha256: string;
  readonly plan: GainPlan;
}

/** The best of at most five encodes, in a file of its own beside `outputPath`; the others are removed. */
async function encodeToTarget(
  measured: MeasuredSource,
  target: LoudnessTarget,
  first: GainPlan,
  outputPath: string,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<Attempt> {
  const { loudness } = measured;
  const better = (a: Attempt, b: Attempt) =>
    distanceFromTarget(b.loudness, target.lufs) < distanceFromTarget(a.loudness, target.lufs) ? b : a;
  let best: Attempt | undefined;
  const paths: string[] = [];
  try {
    for (let plan = first; paths.length < maxEncodes;) {
      const path = `${outputPath}.${paths.length + 1}`;
      paths.push(path);
      const attempt = await makeAttempt(measured, plan, path, onProgress, signal);
      best = best ? better(best, attempt) : attempt;
      const toleranceLu = paths.length === 1 ? target.toleranceLu : Math.max(target.toleranceLu, meterTolerance);
      if (isOnTarget(best.loudness, loudness, { ...target, toleranceLu })) break;
      plan = reviseGain(plan, attempt.loudness, loudness, target);
    }
    return best!;
  } catch (error) {
    best = undefined;
    throw error;
  } finally {
    await Promise.all(paths.filter((path) => path !== best?.path).map((path) => rm(path, { force: true })));
  }
}

/** Encodes once into a file at `path`. What is encoded is decoded and measured beside it; when one of the two fails, the other ends. */
async function makeAttempt(
  { url, frames, durationMs }: MeasuredSource,
  plan: GainPlan,
  path: string,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<Attempt> {
  const failure = new AbortController();
  const either = AbortSignal.any([signal, failure.signal]);
  const copy = new PassThrough();
  let stage: EncodeStage = 'encoding';
  const track = (of: EncodeStage) => (positionMs: number) => {
    if (of === stage) onProgress(stage, Math.min(1, positionMs / durationMs));
  };
  const encoding = encodeSegment(url, plan, frames, { path, copy }, track('encoding'), either).finally(
    () => (stage = 'verifying'),
  );
  const verifying = verifySegment(copy, frames, track('verifying'), either);
  for (const run of [encoding, verifying]) run.catch((error: unknown) => failure.abort(error));
  await Promise.allSettled([encoding, verifying]);
  either.throwIfAborted();
  return { path, sha256: await encoding, plan, ...(await verifying) };
}

const segmentOf = (
  { frames, durationMs, samples }: MeasuredSource,
  attempt: Attempt,
  path: string,
): EncodedSegment => ({
  path,
  sha256: attempt.sha256,
  sizeBytes: bytesOfFrames(frames),
  frames,
  durationMs,
  samples,
  plan: attempt.plan,
  loudness: attempt.loudness,
  waveform: attempt.waveform,
  silences: attempt.silences,
});
