import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { bucketStarts, type BucketUnit } from './buckets.ts';
import {
  countDownloads,
  defaultBasis,
  type BucketCount,
  type DownloadBasis,
  type DownloadScope,
  type HourRange,
} from './count-queries.ts';
import { countZonedDownloads, wallClockRange } from './zoned-queries.ts';

const maxBuckets = 20_000;

const tooManyBuckets = () =>
  new Problem('validation_failed', `The range has more than ${maxBuckets} buckets; use a coarser granularity.`);

/** Starts of every bucket of a series in UTC, milliseconds since the epoch. Throws `validation_failed` when there are too many. */
export function seriesBuckets({ from, to }: HourRange, unit: BucketUnit): number[] {
  const starts = bucketStarts(from.getTime(), to.getTime(), unit, maxBuckets);
  if (starts === undefined) throw tooManyBuckets();
  return starts;
}

/** Starts of every bucket of a series. Hours of a zone follow each other from the start of the range on. */
async function seriesStarts(
  pool: Pool,
  { from, to }: HourRange,
  unit: BucketUnit,
  timeZone: string | undefined,
): Promise<number[] | undefined> {
  const [fromMs, toMs] = [from.getTime(), to.getTime()];
  if (timeZone === undefined) return bucketStarts(fromMs, toMs, unit, maxBuckets);
  if (unit === 'hour') return bucketStarts(0, toMs - fromMs, unit, maxBuckets)?.map((at) => fromMs + at);
  const wall = await wallClockRange(pool, { from, to }, timeZone);
  return bucketStarts(wall.fromMs, wall.toMs, unit, maxBuckets);
}

/**
 * Downloads and distinct listeners in every bucket that overlaps the range, zero-filled, oldest first.
 * @param range whole UTC hours, or exact instants where a zone is named
 * @param timeZone as PostgreSQL knows it; undefined: UTC
 * Throws `validation_failed` when there are too many buckets, or when both a zone and `knownAt` are given: changes are kept by whole hours
 * of UTC.
 */
export async function countSeries(
  pool: Pool,
  scope: DownloadScope,
  range: HourRange,
  unit: BucketUnit,
  timeZone: string | undefined,
  basis: DownloadBasis = defaultBasis,
): Promise<BucketCount[]> {
  if (timeZone !== undefined && basis.knownAt !== undefined)
    throw new Problem('validation_failed', 'Numbers as known at an earlier time are in UTC: leave out the time zone.');
  const starts = await seriesStarts(pool, range, unit, timeZone);
  if (starts === undefined) throw tooManyBuckets();
  const counts = await (timeZone === undefined
    ? countDownloads(pool, scope, range, unit, basis)
    : countZonedDownloads(pool, scope, range, unit, timeZone, basis.window));
  const byStart = new Map(counts.map((count) => [count.startMs, count]));
  return starts.map((startMs) => byStart.get(startMs) ?? { startMs, downloads: 0n, listeners: 0n });
}
