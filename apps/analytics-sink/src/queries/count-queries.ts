import type { Window } from '@longwave/audience';
import type { Columns } from '@longwave/audience-store';
import type { Pool } from '@longwave/postgres';
import type { BucketUnit } from './buckets.ts';

/** Half-open, whole UTC hours. */
export interface HourRange {
  readonly from: Date;
  readonly to: Date;
}

export interface BucketCount {
  readonly startMs: number;
  readonly downloads: bigint;
  readonly listeners: bigint;
}

/** A podcast, or one of its episodes. */
export interface DownloadScope {
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string | undefined;
}

/** The window in which downloads are counted, and the time at which they were known; undefined: now. */
export interface DownloadBasis {
  readonly window: Window;
  readonly knownAt: Date | undefined;
}

export const defaultBasis: DownloadBasis = { window: 'calendar_utc', knownAt: undefined };

/** Columns of the rollups and their ledger. */
export const windowColumns = {
  calendar_utc: 'downloads',
  first_touch_24h: 'first_touch_24h',
  last_touch_24h: 'last_touch_24h',
} as const satisfies Record<Window, string>;

/** The rows that are downloads of a window. */
export const windowRows = {
  calendar_utc: '(select * from session where counted) as download',
  first_touch_24h: '(select * from rolling_download where counted) as download',
  last_touch_24h: '(select * from rolling_download where counted and last_touch) as download',
} as const satisfies Record<Window, string>;

/** Rows to sum up: current totals, or the changes recorded up to the time that is the last parameter. */
const source = (totals: string, { knownAt }: DownloadBasis, parameter: string) =>
  knownAt === undefined ? totals : `(select * from download_change where recorded_at <= ${parameter}) as known`;
const known = ({ knownAt }: DownloadBasis) => (knownAt === undefined ? [] : [knownAt]);

/** Downloads and distinct listeners per bucket that has any. With `knownAt` there are no listeners: changes do not name them. */
export async function countDownloads(
  pool: Pool,
  scope: DownloadScope,
  range: HourRange,
  unit: BucketUnit,
  basis: DownloadBasis = defaultBasis,
): Promise<BucketCount[]> {
  const { rows } = await pool.query<{ start: Date; downloads: string; listeners: string }>(
    `with downloads as (
       select date_trunc($6, hour, 'UTC') as start, sum(${windowColumns[basis.window]}) as downloads
       from ${source('download_hour', basis, '$7')}
       where workspace_id = $1 and podcast_id = $2 and ($3::text is null or episode_id = $3) and hour >= $4 and hour < $5
       group by 1),
     listeners as (
       select date_trunc($6, started_at, 'UTC') as start, count(distinct listener_key) as listeners
       from ${windowRows[basis.window]}
       where workspace_id = $1 and podcast_id = $2 and ($3::text is null or episode_id = $3)
         and started_at >= $4 and started_at < $5 ${basis.knownAt === undefined ? '' : 'and false'}
       group by 1)
     select start, coalesce(downloads, 0) as downloads, coalesce(listeners, 0) as listeners
     from downloads full join listeners using (start)`,
    [scope.workspaceId, scope.podcastId, scope.episodeId ?? null, range.from, range.to, unit, ...known(basis)],
  );
  return rows.map((row) => ({
    startMs: row.start.getTime(),
    downloads: BigInt(row.downloads),
    listeners: BigInt(row.listeners),
  }));
}

/** Downloads per episode of a podcast, most first; episodes without any are absent. */
export async function countByEpisode(
  pool: Pool,
  scope: { readonly workspaceId: string; readonly podcastId: string },
  range: HourRange,
  basis: DownloadBasis = defaultBasis,
): Promise<{ readonly episodeId: string; readonly downloads: bigint }[]> {
  const downloads = `sum(${windowColumns[basis.window]})`;
  const { rows } = await pool.query<{ episode_id: string; downloads: string }>(
    `select episode_id, ${downloads} as downloads from ${source('download_hour', basis, '$5')}
     where workspace_id = $1 and podcast_id = $2 and hour >= $3 and hour < $4
     group by 1 having ${downloads} > 0 order by 2 desc, 1`,
    [scope.workspaceId, scope.podcastId, range.from, range.to, ...known(basis)],
  );
  return rows.map((row) => ({ episodeId: row.episode_id, downloads: BigInt(row.downloads) }));
}

/** Downloads per episode of several podcasts, most first; episodes without any are absent. */
export async function countEpisodes(
  pool: Pool,
  workspaceId: string,
  podcastIds: readonly string[],
  range: HourRange,
): Promise<{ readonly podcastId: string; readonly episodeId: string; readonly downloads: bigint }[]> {
  const { rows } = await pool.query<Columns<'download_hour', 'podcast_id' | 'episode_id'> & { downloads: string }>(
    `select podcast_id, episode_id, sum(downloads) as downloads from download_hour
     where workspace_id = $1 and podcast_id = any($2) and hour >= $3 and hour < $4
     group by 1, 2 having sum(downloads) > 0 order by 3 desc, 2`,
    [workspaceId, podcastIds, range.from, range.to],
  );
  return rows.map((row) => ({
    podcastId: row.podcast_id,
    episodeId: row.episode_id,
    downloads: BigInt(row.downloads),
  }));
}

/** An episode, and the hours in which its downloads are asked for. */
export interface EpisodeWindow {
  readonly episodeId: string;
  readonly range: HourRange;
}

/**
 * Downloads of each episode in its own range, in the order of `windows`; zero where nothing was counted.
 * @param podcastId counts nothing of an episode of another podcast; undefined: episodes of the whole workspace
 */
export async function countWindows(
  pool: Pool,
  workspaceId: string,
  windows: readonly EpisodeWindow[],
  podcastId?: string,
  basis: DownloadBasis = defaultBasis,
): Promise<bigint[]> {
  const { rows } = await pool.query<{ downloads: string }>(
    `select coalesce(sum(d.${windowColumns[basis.window]}), 0) as downloads
     from unnest($2::text[], $3::timestamptz[], $4::timestamptz[])
       with ordinality as asked (episode_id, from_hour, to_hour, place)
     left join (select * from ${source('download_hour', basis, '$6')}) d
       on d.workspace_id = $1 and ($5::text is null or d.podcast_id = $5)
         and d.episode_id = asked.episode_id and d.hour >= asked.from_hour and d.hour < asked.to_hour
     group by asked.place
     order by asked.place`,
    [
      workspaceId,
      windows.map(({ episodeId }) => episodeId),
      windows.map(({ range }) => range.from),
      windows.map(({ range }) => range.to),
      podcastId ?? null,
      ...known(basis),
    ],
  );
  return rows.map(({ downloads }) => BigInt(downloads));
}

/** The key of each dimension as SQL over the rollup. A region's code is unique within its country only. */
export const dimensionKeys = {
  country: 'country',
  region: `case when region = 'unknown' then region else country || '-' || region end`,
  app: 'app',
  device: 'device',
  platform: 'platform',
  operatingSystem: 'operating_system',
} as const;

export type Dimension = keyof typeof dimensionKeys;

/** Downloads of a podcast, or of one of its episodes, by one dimension; most downloaded first. */
export async function countByDimension(
  pool: Pool,
  scope: DownloadScope,
  range: HourRange,
  dimension: Dimension,
  basis: DownloadBasis = defaultBasis,
): Promise<{ readonly key: string; readonly downloads: bigint }[]> {
  const downloads = `sum(${windowColumns[basis.window]})`;
  const { rows } = await pool.query<{ key: string; downloads: string }>(
    `select (${dimensionKeys[dimension]}) collate "C" as key, ${downloads} as downloads
     from ${source('download_audience_hour', basis, '$6')}
     where workspace_id = $1 and podcast_id = $2 and ($3::text is null or episode_id = $3) and hour >= $4 and hour < $5
     group by 1 having ${downloads} > 0 order by 2 desc, 1`,
    [scope.workspaceId, scope.podcastId, scope.episodeId ?? null, range.from, range.to, ...known(basis)],
  );
  return rows.map((row) => ({ key: row.key, downloads: BigInt(row.downloads) }));
}

/** Downloads and distinct listeners of several podcasts, in the order of `podcastIds`; zero where nothing was counted. */
export async function countTotals(
  pool: Pool,
  workspaceId: string,
  podcastIds: readonly string[],
  range: HourRange,
): Promise<{ readonly podcastId: string; readonly downloads: bigint; readonly listeners: bigint }[]> {
  const { rows } = await pool.query<Columns<'session', 'podcast_id'> & { downloads: string; listeners: string }>(
    `select asked.podcast_id, count(s.listener_key) as downloads, count(distinct s.listener_key) as listeners
     from unnest($2::text[]) with ordinality as asked (podcast_id, place)
     left join session s on s.workspace_id = $1 and s.podcast_id = asked.podcast_id
       and s.started_at >= $3 and s.started_at < $4 and s.counted
     group by asked.podcast_id, asked.place order by asked.place`,
    [workspaceId, podcastIds, range.from, range.to],
  );
  return rows.map((row) => ({
    podcastId: row.podcast_id,
    downloads: BigInt(row.downloads),
    listeners: BigInt(row.listeners),
  }));
}

/** The UTC hour of the first counted download of each podcast; podcasts without any are absent. */
export async function findFirstDownloads(
  pool: Pool,
  workspaceId: string,
  podcastIds: readonly string[],
): Promise<{ readonly podcastId: string; readonly hourMs: bigint }[]> {
  const { rows } = await pool.query<Columns<'download_hour', 'podcast_id' | 'hour'>>(
    `select asked.podcast_id, first.hour from unnest($2::text[]) with ordinality as asked (podcast_id, place)
     cross join lateral (
       select hour from download_hour d
       where d.workspace_id = $1 and d.podcast_id = asked.podcast_id and d.downloads > 0 order by hour limit 1) as first
     order by asked.place`,
    [workspaceId, podcastIds],
  );
  return rows.map((row) => ({ podcastId: row.podcast_id, hourMs: BigInt(row.hour.getTime()) }));
}

export interface EpisodeDay {
  readonly dayMs: bigint;
  readonly episodeId: string;
  readonly downloads: bigint;
  readonly listeners: bigint;
}

/** Downloads and distinct listeners of every episode of a podcast on every UTC day that had any, oldest first. */
export async function countEpisodeDays(
  pool: Pool,
  scope: { readonly workspaceId: string; readonly podcastId: string },
  range: HourRange,
): Promise<EpisodeDay[]> {
  const { rows } = await pool.query<
    Columns<'session', 'episode_id'> & { day: Date; downloads: string; listeners: string }
  >(
    `select date_trunc('day', started_at, 'UTC') as day, episode_id, count(*) as downloads,
       count(distinct listener_key) as listeners
     from session where workspace_id = $1 and podcast_id = $2 and started_at >= $3 and started_at < $4 and counted
     group by 1, 2 order by 1, 2`,
    [scope.workspaceId, scope.podcastId, range.from, range.to],
  );
  return rows.map((row) => ({
    dayMs: BigInt(row.day.getTime()),
    episodeId: row.episode_id,
    downloads: BigInt(row.downloads),
    listeners: BigInt(row.listeners),
  }));
}
