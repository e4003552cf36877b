import { wholeTracks, type Track } from '@longwave/audience';
import { columns, type Columns, type JsonRows } from '@longwave/audience-store';
import type { TrackDescribed } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';

/** Stores parts of descriptions that are new: a track is named by its content, so what was stored first stays. */
export async function insertTrackParts(tx: Transaction, described: readonly TrackDescribed[]): Promise<void> {
  const rows = described.map(({ track, part, parts, media, timescale, cells }): JsonRows['track_part'] => ({
    ...{ digest: track, part, parts, media, timescale, cells },
  }));
  await tx.query(
    `insert into track_part (${columns.track_part})
     select ${columns.track_part} from json_populate_recordset(null::track_part, $1)
     order by digest, part on conflict do nothing`,
    [JSON.stringify(rows)],
  );
}

/** SQL: whether all parts are stored that describe the track of this digest. */
export const isTrackWhole = (digest: string): string =>
  `exists (select from track_part t where t.digest = ${digest} having count(*) = min(t.parts))`;

/** The tracks of these digests all of whose parts are stored. */
export async function findTracks(tx: Transaction, digests: readonly string[]): Promise<Map<string, Track>> {
  const { rows } = await tx.query<
    Columns<
      'track_part',
      'digest' | 'part' | 'parts' | 'media' | 'timescale' | 'cells',
      { media: Track['media']; cells: Track['cells'] }
    >
  >(`select ${columns.track_part} from track_part where digest = any($1)`, [digests]);
  return wholeTracks(rows.map(({ digest, ...part }) => ({ track: digest, ...part })));
}
