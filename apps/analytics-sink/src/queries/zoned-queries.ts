import type { Window } from '@longwave/audience';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { BucketUnit } from './buckets.ts';
import { windowRows, type BucketCount, type DownloadScope, type HourRange } from './count-queries.ts';

/** PostgreSQL's error for an unknown zone: invalid_parameter_value. */
const isUnknownZone = (error: unknown) => error instanceof Error && 'code' in error && error.code === '22023';

const unknownZone = (name: string) =>
  new Problem('validation_failed', `"${name}" is not the name of an IANA time zone.`);

/**
 * An IANA zone as PostgreSQL understands it. Names without a slash become the zone that they stand for: PostgreSQL reads CET, EET, MET and WET as
 * abbreviations without summer time. Offsets such as +02:00 are no zones. Throws `validation_failed` for an unknown zone.
 */
export function resolveTimeZone(name: string): string {
  if (!/^[A-Za-z]/.test(name)) throw unknownZone(name);
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return name.includes('/') ? name : timeZone;
  } catch {
    throw unknownZone(name);
  }
}

/** The local time of the zone at both ends of a range, read as UTC. */
export async function wallClockRange(
  pool: Pool,
  { from, to }: HourRange,
  timeZone: string,
): Promise<{ readonly fromMs: number; readonly toMs: number }> {
  const { rows } = await pool
    .query<{ from: Date; to: Date }>(
      `select ($1::timestamptz at time zone $3) at time zone 'UTC' as from,
         ($2::timestamptz at time zone $3) at time zone 'UTC' as to`,
      [from, to, timeZone],
    )
    .catch((error: unknown) => {
      throw isUnknownZone(error) ? unknownZone(timeZone) : error;
    });
  return { fromMs: rows[0]!.from.getTime(), toMs: rows[0]!.to.getTime() };
}

/**
 * Downloads and distinct listeners per bucket that has any, counted from the downloads themselves, so zones of any offset are
 * exact. Days, weeks and months are those of the zone, each under 00:00 UTC of its first date; hours follow each other from the start of
 * the range on.
 */
export async function countZonedDownloads(
  pool: Pool,
  scope: DownloadScope,
  range: HourRange,
  unit: BucketUnit,
  timeZone: string,
  window: Window,
): Promise<BucketCount[]> {
  const bucket =
    unit === 'hour'
      ? `date_bin('1 hour', started_at, $4::timestamptz)`
      : `date_trunc($6, started_at at time zone $7) at time zone 'UTC'`;
  const { rows } = await pool.query<{ start: Date; downloads: string; listeners: string }>(
    `select ${bucket} as start, count(*) as downloads, count(distinct listener_key) as listeners
     from ${windowRows[window]}
     where workspace_id = $1 and podcast_id = $2 and ($3::text is null or episode_id = $3)
       and started_at >= $4 and started_at < $5
     group by 1`,
    [
      scope.workspaceId,
      scope.podcastId,
      scope.episodeId ?? null,
      range.from,
      range.to,
      ...(unit === 'hour' ? [] : [unit, timeZone]),
    ],
  );
  return rows.map((row) => ({
    startMs: row.start.getTime(),
    downloads: BigInt(row.downloads),
    listeners: BigInt(row.listeners),
  }));
}
