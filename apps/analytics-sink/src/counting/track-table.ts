import type { Track } from '@longwave/audience';
import { columns, type Columns, type JsonRows } from '@longwave/audience-store';
import type { TrackDescribed } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';

/** Stores tracks that are new: a track is named by its content, so its first description stays. */
export async function insertTracks(tx: Transaction, described: readonly TrackDescribed[]): Promise<void> {
  const rows = described.map(({ track, media, timescale, cells }): JsonRows['track'] => ({
    digest: track,
    media,
    timescale,
    cells,
  }));
  await tx.query(
    `insert into track (${columns.track}) select ${columns.track} from json_populate_recordset(null::track, $1)
     order by digest on conflict do nothing`,
    [JSON.stringify(rows)],
  );
}

/** The tracks of these digests that are described. */
export async function findTracks(tx: Transaction, digests: readonly string[]): Promise<Map<string, Track>> {
  const { rows } = await tx.query<
    Columns<'track', 'digest' | 'media' | 'timescale' | 'cells', { media: Track['media']; cells: Track['cells'] }>
  >('select digest, media, timescale, cells from track where digest = any($1)', [digests]);
  return new Map(rows.map(({ digest, ...track }) => [digest, track]));
}
