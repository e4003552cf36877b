import path from 'node:path';
import type { ChangesInput } from '@longwave/command-catalog';
import type { ObjectStore } from '@longwave/object-store';
import { encodeLadder } from '../media/encode-audio.ts';
import { encodeTrack } from '../media/encode-track.ts';
import { MediaFault } from '../media/media-fault.ts';
import { countSamples } from '../media/measure-source.ts';
import type { JobInput } from './job-input.ts';
import type { ProgressReporter } from './progress.ts';
import { storeTrack, type StoredTrack } from './stored-blobs.ts';

type Sound = Pick<Parameters<typeof encodeTrack>[0], 'source' | 'plan' | 'silences' | 'markersMs'>;

/** Where a job works, and where it stores. */
export interface Workplace {
  readonly store: ObjectStore;
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly progress: Pick<ProgressReporter, 'report'>;
}

/** Encodes a sound as a track of HLS and stores it. Throws as `encodeTrack`. */
export async function makeTrack(
  { source, plan, silences, markersMs }: Sound,
  { store, folder, signal, progress }: Workplace,
): Promise<StoredTrack> {
  const outputPath = path.join(folder, 'track.mp4');
  const onFraction = (fraction: number) => progress.report('encoding', fraction);
  const track = await encodeTrack({ source, plan, silences, markersMs, outputPath, onFraction, signal });
  progress.report('storing', 0);
  return storeTrack(store, track, signal);
}

/** Throws `MediaFault` unless the source is still the file that the MP3 was made of. */
export function requireSameSource(
  input: { readonly source_sha256?: string | undefined },
  source: { readonly sha256: string },
): void {
  if (input.source_sha256 !== undefined && input.source_sha256 !== source.sha256)
    throw new MediaFault(
      'media_checksum_mismatch',
      'The file is no longer the one that this audio was made of. Encode the episode again.',
    );
}

/**
 * The track of a production whose MP3 was made before. Throws `MediaFault` unless the source is still the file that the MP3 was made of;
 * otherwise as `encodeTrack`.
 */
export async function makeLaterTrack(
  input: Extract<JobInput, { kind: 'encode_hls_audio' }>,
  source: { readonly path: string; readonly sha256: string },
  workplace: Workplace,
): Promise<StoredTrack> {
  requireSameSource(input, source);
  const { gain_db: gainDb, ceiling_db: ceilingDb } = input.gain;
  const sound: Sound = {
    source: await countSamples(source.path, workplace.signal),
    plan: { gainDb, ...(ceilingDb !== undefined && { ceilingDb }) },
    silences: input.silences,
    markersMs: input.markers_ms,
  };
  return makeTrack(sound, workplace);
}

/** Allowed distance of a track from the stream that it belongs to, LU. */
const loudnessTolerance = 0.15;

const soundAlike = (a: number | null, b: number | null): boolean =>
  a === null || b === null ? a === b : Math.abs(a - b) <= loudnessTolerance;

/**
 * The tracks of an ad whose MP3s were made before. All loudnesses are made again: this encoder gives the same MP3s, and another one
 * such that sound alike. Throws `MediaFault` where an MP3 has no like; otherwise as `encodeLadder`.
 */
export async function makeAdTracks(
  { streams, loudness_targets_lufs: targetsLufs }: Extract<JobInput, { kind: 'encode_creative_tracks' }>,
  inputPath: string,
  { store, folder, signal }: Workplace,
): Promise<ChangesInput<'creative.record_tracks'>['tracks']> {
  const steps = await encodeLadder({ inputPath, folder, targetsLufs, signal });
  const tracks: ChangesInput<'creative.record_tracks'>['tracks'] = [];
  for (const { sha256: stream, loudness_lufs: lufs } of streams) {
    const step =
      steps.find(({ sha256 }) => sha256 === stream) ?? steps.find(({ loudness }) => soundAlike(loudness.lufs, lufs));
    if (!step)
      throw new MediaFault('encoder_failed', 'The ad was made at another loudness. Make another creative of its file.');
    tracks.push({ stream, hls: await storeTrack(store, step.track, signal) });
  }
  return tracks;
}
