import type { EncodingJobInput } from '@longwave/events';
import { expectedEncodingMs, expectedPictureMs, type Workload } from '../../background/job-order.ts';
import type { Episode } from '../episodes/episode.ts';
import type { SourceLocation } from './production-source.ts';
import type { Production } from './production.ts';

type HlsTrack = NonNullable<NonNullable<NonNullable<Production['tracks']>['a192']>['file']>;

/**
 * What brought the MP3 of a production to its loudness. An encoder of an earlier release did not say it: then the difference of the
 * measured loudnesses is the gain, and the limiter holds the samples where every encoding holds them at first, −2.2 dBFS (gain-plan.ts
 * of the encoder). An MP3 without a limiter has no samples above −1.8 dBFS, so it would limit 0.4 dB of such peaks at most.
 */
export function gainOf({ gain, loudness }: Pick<Production, 'gain' | 'loudness'>): NonNullable<Production['gain']> {
  if (gain) return gain;
  const { input_lufs: input = null, output_lufs: output = null } = loudness ?? {};
  const gainDb = input === null || output === null ? 0 : Math.round((output - input) * 100) / 100;
  return { gain_db: gainDb, ceiling_db: -2.2 };
}

/** What the encoder needs to find the file that the MP3 of a production was made of. */
function sourceOf(production: Production, location: SourceLocation) {
  const encoded = production.files.find(({ role }) => role === 'source');
  return {
    ...(location.kind === 'outside'
      ? { source_url: location.url }
      : { storage_key: location.found.upload.storage_key, source_etag: location.found.etag }),
    ...(encoded && { source_sha256: encoded.sha256 }),
  };
}

/**
 * The encoder's input for the AAC track of an encoded production, and its place in the queue: behind the MP3 of every episode that a person
 * waits for.
 */
export const trackJob = (
  productionId: string,
  production: Production,
  location: SourceLocation,
  episode: Pick<Episode, 'markers'>,
): { readonly input: EncodingJobInput<'encode_hls_audio'>; readonly work: Workload } => ({
  input: {
    production_id: productionId,
    ...sourceOf(production, location),
    gain: gainOf(production),
    silences: production.silences ?? [],
    markers_ms: (episode.markers ?? []).filter(({ kind }) => kind === 'mid').map(({ position_ms: ms }) => ms),
  },
  work: {
    workClass: 'bulk',
    expectedMs: expectedEncodingMs({ durationMs: production.audio_duration_ms ?? 0 }),
  },
});

/** Processor seconds for a second of pictures, with the decoding of a source of 1080p (docs/hls.md#what-pictures-cost). */
const pictureCosts = { v360: 0.3, v480: 0.35, v720: 0.55, v1080: 0.9, iframe: 0.2 } as const;

/**
 * The encoder's input for one track of the pictures of an encoded production, and its place in the queue.
 * @param sound the track of the sound, whose cells the pictures get
 */
export const pictureJob = (
  productionId: string,
  production: Production,
  location: SourceLocation,
  { name, sound }: { readonly name: keyof typeof pictureCosts; readonly sound: HlsTrack },
): { readonly input: EncodingJobInput<'encode_hls_video'>; readonly work: Workload } => ({
  input: {
    production_id: productionId,
    ...sourceOf(production, location),
    track: name,
    sound_index: { storage_key: sound.index.storage_key, sha256: sound.index.sha256 },
  },
  work: {
    workClass: 'bulk',
    expectedMs: expectedPictureMs(production.audio_duration_ms ?? 0, pictureCosts[name]),
  },
});
