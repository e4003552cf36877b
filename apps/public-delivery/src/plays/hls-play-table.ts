import type { ScheduledBreak } from '@longwave/hls-media';
import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import { columns, type Columns, type Rows } from '../generated/rows.ts';

/** A play that began by HLS: whose it is, and where its breaks stand. Which ads it has is in its binding. */
export interface HlsPlay {
  readonly listenerKey: string;
  readonly episodeId: string;
  /** That of its binding. */
  readonly sequence: number;
  readonly playId: string;
  /** SHA-256 of the presentation. */
  readonly presentation: string;
  readonly schedule: readonly ScheduledBreak[];
  readonly openedAt: Date;
  readonly addressKey: string;
  /** Of the episode. */
  readonly publishedAt: Date;
}

const scheduleSchema = z.array(
  z.strictObject({ key: z.string(), position: z.enum(['pre', 'mid', 'post']), startMs: z.int().min(0) }),
);

type HlsPlayRow = Columns<'hls_play', keyof Rows['hls_play']>;

const toHlsPlay = (row: HlsPlayRow): HlsPlay => ({
  listenerKey: row.listener_key,
  episodeId: row.episode_id,
  sequence: row.sequence,
  playId: row.play_id,
  presentation: row.presentation,
  schedule: scheduleSchema.parse(row.schedule),
  openedAt: row.opened_at,
  addressKey: row.address_key,
  publishedAt: row.published_at,
});

export async function findHlsPlay(pool: Pick<Pool, 'query'>, playId: string): Promise<HlsPlay | undefined> {
  const { rows } = await pool.query<HlsPlayRow>({
    name: 'hls_play',
    text: `select ${columns.hls_play} from hls_play where play_id = $1`,
    values: [playId],
  });
  return rows[0] && toHlsPlay(rows[0]);
}

/** The newest one of an episode under any of the keys of a listener. */
export async function findLatestHlsPlay(
  pool: Pick<Pool, 'query'>,
  listenerKeys: readonly string[],
  episodeId: string,
): Promise<HlsPlay | undefined> {
  const { rows } = await pool.query<HlsPlayRow>({
    name: 'latest_hls_play',
    text: `select ${columns.hls_play} from hls_play where listener_key = any($1) and episode_id = $2
           order by opened_at desc, sequence desc limit 1`,
    values: [listenerKeys, episodeId],
  });
  return rows[0] && toHlsPlay(rows[0]);
}

/** Stores a play; answers the stored one, which is that of a concurrent request if it came first. */
export async function saveHlsPlay(pool: Pick<Pool, 'query'>, play: HlsPlay): Promise<HlsPlay> {
  const { listenerKey, episodeId, sequence, playId, presentation, schedule } = play;
  const { openedAt, addressKey, publishedAt } = play;
  const { rowCount } = await pool.query({
    name: 'save_hls_play',
    text: `insert into hls_play (${columns.hls_play}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
    values: [
      ...[listenerKey, episodeId, sequence, playId, presentation, JSON.stringify(schedule)],
      ...[openedAt, addressKey, publishedAt],
    ],
  });
  if (rowCount) return play;
  const stored = await findLatestHlsPlay(pool, [listenerKey], episodeId);
  if (!stored) throw new Error(`the play ${playId} was not stored, and there is no other`);
  return stored;
}

/**
 * Removes plays that were opened before a time, at most so many; answers how many. Bindings without ads that began before `cleanBefore` go
 * with the last play of their listener and episode.
 */
export async function removeHlsPlays(
  pool: Pick<Pool, 'query'>,
  before: Date,
  cleanBefore: Date,
  maxRows: number,
): Promise<number> {
  const { rows } = await pool.query<{ readonly removed: number }>({
    name: 'remove_hls_plays',
    text: `with gone as (
             delete from hls_play where play_id in (
               select play_id from hls_play where opened_at < $1 order by opened_at limit $3 for update skip locked)
             returning listener_key, episode_id),
           bindings as (
             delete from binding b using (select distinct listener_key, episode_id from gone) as play
             where b.listener_key = play.listener_key and b.episode_id = play.episode_id and b.ads = '{}' and b.started_at < $2
               and not exists (select from hls_play p
                               where p.listener_key = b.listener_key and p.episode_id = b.episode_id and p.opened_at >= $1))
           select count(*)::int as removed from gone`,
    values: [before, cleanBefore, maxRows],
  });
  return rows[0]!.removed;
}
