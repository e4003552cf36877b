import type { Pool } from '@longwave/postgres';
import type { Columns, Rows } from '../generated/rows.ts';
import { playedProduction } from './content-table.ts';

/** The plays of an episode that were ended for everybody. */
export interface PlaysEnd {
  /** Plays that began before are over; undefined while that never happened. */
  readonly before: Date | undefined;
  /** The audio that the episode plays now; undefined while it is hidden. */
  readonly digest: string | undefined;
}

/** Whether an episode is public now, hidden, or archived, and which of its plays were ended. */
export interface Visibility {
  readonly kind: 'public' | 'hidden' | 'ended';
  readonly playsEnd: PlaysEnd;
}

type PlaysEndRow = Columns<'episode', 'plays_end_before' | 'state'> &
  Columns<'production', 'rendition_digest'> & { readonly podcast_state: Rows['podcast']['state'] | null };

const toVisibility = (row: PlaysEndRow | undefined): Visibility => {
  const states = [row?.state, row?.podcast_state];
  const isPublic = states.every((state) => state === 'published');
  const kind = states.includes('archived') ? 'ended' : isPublic ? 'public' : 'hidden';
  const digest = (isPublic && row?.rendition_digest) || undefined;
  return { kind, playsEnd: { before: row?.plays_end_before ?? undefined, digest } };
};

const playsEndRow = `select e.id, e.state, p.state as podcast_state, e.plays_end_before, r.rendition_digest
  from episode e left join podcast p on p.id = e.podcast_id ${playedProduction}`;

export async function getVisibility(pool: Pool, episodeId: string): Promise<Visibility> {
  const { rows } = await pool.query<PlaysEndRow>({
    name: 'visibility',
    text: `${playsEndRow} where e.id = $1`,
    values: [episodeId],
  });
  return toVisibility(rows[0]);
}

/** Of episodes whose plays were ended for everybody since a time. */
export async function listPlaysEnds(
  pool: Pool,
  since: Date,
): Promise<readonly (PlaysEnd & { readonly episodeId: string })[]> {
  const { rows } = await pool.query<PlaysEndRow & { readonly id: string }>({
    name: 'plays_ends',
    text: `${playsEndRow} where e.plays_end_before > $1`,
    values: [since],
  });
  return rows.map((row) => ({ episodeId: row.id, ...toVisibility(row).playsEnd }));
}
