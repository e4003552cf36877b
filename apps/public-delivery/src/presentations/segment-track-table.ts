import type { HlsTrack } from '../projection/projected.ts';
import type { Transaction } from '@longwave/postgres';

/** An MP3 segment and the same sound as a track of HLS. */
export interface SegmentTrack {
  /** SHA-256 of the MP3. */
  readonly segmentDigest: string;
  readonly track: HlsTrack;
}

/**
 * Stores tracks of a workspace; a newer one of the same segment takes the place of an older one. Answers whether one was not known. Another
 * workspace may have other tracks for equal MP3s.
 */
export async function saveSegmentTracks(
  tx: Pick<Transaction, 'query'>,
  workspaceId: string,
  tracks: readonly SegmentTrack[],
): Promise<boolean> {
  if (tracks.length === 0) return false;
  const rows = [...new Map(tracks.map((each) => [each.segmentDigest, each])).values()];
  const { rowCount } = await tx.query({
    name: 'save_segment_tracks',
    text: `insert into segment_track (workspace_id, segment_digest, track)
           select $1, segment_digest, track from json_to_recordset($2) as given (segment_digest text, track jsonb)
           order by segment_digest
           on conflict (workspace_id, segment_digest) do update set track = excluded.track
             where segment_track.track <> excluded.track`,
    values: [
      workspaceId,
      JSON.stringify(rows.map(({ segmentDigest, track }) => ({ segment_digest: segmentDigest, track }))),
    ],
  });
  return (rowCount ?? 0) > 0;
}
