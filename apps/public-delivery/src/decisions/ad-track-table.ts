import { adTrackSchema, type AdTrack } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { FilledBreak } from '../arrangements/arranged-breaks.ts';
import type { Columns } from '../generated/rows.ts';

/** The tracks of HLS of ads, by the SHA-256 of their MP3s. */
export type AdTracks = ReadonlyMap<string, AdTrack>;

/**
 * Part of one statement: inserts the tracks of its parameter $4, `adTracksValue`. The first track of an ad stays. The rows are sorted, so
 * that two processes that store the same ones wait for each other and never deadlock.
 */
export const insertAdTracks = `
  tracked as (insert into ad_track (digest, track)
    select digest, track from json_to_recordset($4) as given (digest text, track jsonb)
    order by digest on conflict do nothing)`;

/** The tracks that a decision answered. */
export const adTracksOf = (breaks: readonly FilledBreak[]): AdTracks =>
  new Map(breaks.flatMap(({ ads }) => ads.flatMap(({ digest, hls }) => (hls ? [[digest, hls] as const] : []))));

export const adTracksValue = (tracks: AdTracks): string =>
  JSON.stringify([...tracks].map(([digest, track]) => ({ digest, track })));

/** The tracks of the ads that have one. @param digests SHA-256 of their MP3s, the blobs of an arrangement's ads */
export async function findAdTracks(pool: Pick<Pool, 'query'>, digests: readonly string[]): Promise<AdTracks> {
  const { rows } = await pool.query<Columns<'ad_track', 'digest' | 'track'>>({
    name: 'ad_tracks',
    text: 'select digest, track from ad_track where digest = any($1)',
    values: [digests],
  });
  return new Map(rows.map(({ digest, track }) => [digest, adTrackSchema.parse(track)]));
}
