import type { EncodingJobInput } from '@longwave/events';
import { expectedEncodingMs, type Workload } from '../../background/job-order.ts';
import type { Episode } from '../episodes/episode.ts';
import type { SourceLocation } from './production-source.ts';
import type { Production } from './production.ts';

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

/**
 * The encoder's input for the AAC track of an encoded production, and its place in the queue: behind the MP3 of every episode that a person
 * waits for.
 */
export function trackJob(
  productionId: string,
  production: Production,
  location: SourceLocation,
  episode: Pick<Episode, 'markers'>,
): { readonly input: EncodingJobInput<'encode_hls_audio'>; readonly work: Workload } {
  const source =
    location.kind === 'outside'
      ? { source_url: location.url }
      : { storage_key: location.found.upload.storage_key, source_etag: location.found.etag };
  const encoded = production.files.find(({ role }) => role === 'source');
  return {
    input: {
      production_id: productionId,
      ...source,
      ...(encoded && { source_sha256: encoded.sha256 }),
      gain: gainOf(production),
      silences: production.silences ?? [],
      markers_ms: (episode.markers ?? []).filter(({ kind }) => kind === 'mid').map(({ position_ms: ms }) => ms),
    },
    work: {
      workClass: 'bulk',
      expectedMs: expectedEncodingMs({ durationMs: production.audio_duration_ms ?? 0 }),
    },
  };
}
