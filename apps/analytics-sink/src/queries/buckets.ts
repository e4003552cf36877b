import type { Granularity } from '@longwave/rpc/audience';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Units of `date_trunc` that the API offers. */
export type BucketUnit = 'hour' | 'day' | 'week' | 'month';

/** The unit of a granularity, or undefined when none was named. */
export function bucketUnit(granularity: Granularity): BucketUnit | undefined {
  const unit = /^GRANULARITY_(HOUR|DAY|WEEK|MONTH)$/.exec(granularity)?.[1];
  return unit?.toLowerCase() as BucketUnit | undefined;
}

/** Start of the bucket that holds a time, milliseconds since the epoch, UTC. Weeks begin on Monday (ISO 8601). */
export function bucketStartMs(atMs: number, unit: BucketUnit): number {
  if (unit === 'month') {
    const at = new Date(atMs);
    return Date.UTC(at.getUTCFullYear(), at.getUTCMonth());
  }
  if (unit === 'hour') return Math.floor(atMs / hourMs) * hourMs;
  const day = Math.floor(atMs / dayMs);
  // 1970-01-01 was a Thursday, three days after its week began.
  return (unit === 'day' ? day : day - ((((day + 3) % 7) + 7) % 7)) * dayMs;
}

function nextBucketMs(startMs: number, unit: BucketUnit): number {
  if (unit === 'month') {
    const at = new Date(startMs);
    return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1);
  }
  return startMs + { hour: hourMs, day: dayMs, week: 7 * dayMs }[unit];
}

/** Starts of all buckets that overlap [fromMs, toMs), at most `max`; undefined when there are more. */
export function bucketStarts(fromMs: number, toMs: number, unit: BucketUnit, max: number): number[] | undefined {
  const starts: number[] = [];
  for (let at = bucketStartMs(fromMs, unit); at < toMs; at = nextBucketMs(at, unit)) {
    if (starts.length === max) return undefined;
    starts.push(at);
  }
  return starts;
}
