import type { Pool } from '@longwave/postgres';

/**
 * The time of the newest fact of our own, not later than now; no row while there is none. What other parties report comes by another
 * way and says nothing of how far the bus was read. The words are those of the index `fact_own_at_idx`.
 */
export const newestOwnFact = `
  select least(max(at), now()) as latest from fact where lists_version not like 'declared by %' having max(at) is not null`;

/** A fact may come this long after its time; see docs/counting.md on `complete_until`. */
const settlingMs = 30_000;
/** `complete_until` waits so long for the text of a user agent, and for a producer that fell silent without a word. */
const waitingMs = 24 * 3_600_000;

/**
 * Up to which time every producer has published its facts and all of them were read: the earliest mark among producers that run or
 * crashed, or, when all have ended, the latest mark. Null where no producer has sent one.
 */
const publishedUntil = `
  select least(coalesce(min(until) filter (where not ended and until > newest - $1 * interval '1 ms'), max(until) filter (where ended)), now())
  from (
    select min(until) as until, bool_and(ended) as ended, max(max(until)) over () as newest
    from producer_mark group by producer) as producer having count(*) > 0`;

/**
 * Answers the time up to which our own facts are counted, milliseconds since the epoch, 0 when there is none: the marks of producers, or the
 * newest fact where there are no marks, less the settling time; or the start of the oldest fact that waits for its user agent when that
 * is earlier.
 */
export async function completeUntilMs(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ latest: Date; waiting: Date | null }>(
    `select latest, (select min(started_at) from pending_fact where started_at > latest - $1 * interval '1 ms') as waiting
     from (select coalesce((${publishedUntil}), (${newestOwnFact})) as latest) as known where latest is not null`,
    [waitingMs],
  );
  const row = rows[0];
  return row ? Math.min(row.latest.getTime() - settlingMs, row.waiting?.getTime() ?? Infinity) : 0;
}
