import type { Pool, Transaction } from '@longwave/postgres';

/**
 * The time of the newest fact of our own, not later than now; no row without such a fact. Reports of other parties do not come over the
 * bus, so they do not show how far it was read. The condition is spelt like that of the index `fact_own_at_idx`: PostgreSQL uses it.
 */
export const newestOwnFact = `
  select least(max(at), now()) as latest from fact where lists_version not like 'declared by %' having max(at) is not null`;

/** How long after its time a fact may arrive (docs/counting.md#definitions, `complete_until`). */
export const settlingMs = 30_000;
/** How long `complete_until` waits for the text of a user agent, and for a producer that crashed. */
const waitingMs = 24 * 3_600_000;

/**
 * The time up to which every producer's facts were published and read: the earliest mark of producers that run or crashed, or, when all
 * have ended, the latest mark. Null when there are no marks.
 */
const publishedUntil = `
  select least(coalesce(min(until) filter (where not ended and until > newest - $1 * interval '1 ms'), max(until) filter (where ended)), now())
  from (
    select min(until) as until, bool_and(ended) as ended, max(max(until)) over () as newest
    from producer_mark group by producer) as producer having count(*) > 0`;

/** How far our own facts are known, milliseconds since the epoch; 0 without facts. */
export interface Watermarks {
  /**
   * Facts up to this time were published and read: the time of the producers' marks, or of the newest fact when there are no marks, less the
   * settling time. It does not go back.
   */
  readonly readUntilMs: number;
  /** Facts up to this time are counted: the same, or the start of the oldest waiting fact when that is earlier. */
  readonly completeUntilMs: number;
}

export async function readWatermarks(pool: Pool | Transaction): Promise<Watermarks> {
  const { rows } = await pool.query<{ latest: Date; waiting: Date | null }>(
    `select latest, (select min(started_at) from pending_fact where started_at > latest - $1 * interval '1 ms') as waiting
     from (select coalesce((${publishedUntil}), (${newestOwnFact})) as latest) as known where latest is not null`,
    [waitingMs],
  );
  const row = rows[0];
  const readUntilMs = row ? row.latest.getTime() - settlingMs : 0;
  return { readUntilMs, completeUntilMs: Math.min(readUntilMs, row?.waiting?.getTime() ?? Infinity) };
}

/** The time up to which our own facts are counted, milliseconds since the epoch; 0 without facts. */
export const completeUntilMs = async (pool: Pool | Transaction): Promise<number> =>
  (await readWatermarks(pool)).completeUntilMs;
