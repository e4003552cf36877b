import { userAgentDigest, type ServedBytes } from '@longwave/audience';
import { type Columns, readKeptFrom } from '@longwave/audience-store';
import type { Pool, Transaction } from '@longwave/postgres';
import { declaredUserAgents } from '../batches/row-facts.ts';
import { isDeclared } from './grown-probes.ts';

/**
 * Moves the time from which facts are kept to the start of the UTC day so many months before `now`; never back, and only when there is a
 * fact to remove. It waits for transactions that count old facts.
 */
export async function moveKeptFrom(pool: Pool, now: Date, months: number): Promise<void> {
  await pool.query(
    `with bound as (
       select (date_trunc('day', $1::timestamptz at time zone 'UTC') - make_interval(months => $2)) at time zone 'UTC' as at)
     insert into fact_retention (kept_from) select at from bound
     where exists (select from fact where at < bound.at and lists_version not like 'declared by %')
     on conflict (only_row) do update set kept_from = excluded.kept_from
     where fact_retention.kept_from < excluded.kept_from`,
    [now, months],
  );
}

/** Younger facts are always kept: `FACT_MONTHS` is at least 13. */
const alwaysKeptMs = 365 * 86_400_000;

/**
 * Leaves out our own facts that are older than the kept ones: counted without the removed facts, they would take back downloads that were
 * counted with them. Locks the time from which facts are kept until the transaction ends.
 */
export async function withoutRemovedTimes(
  tx: Transaction,
  facts: readonly ServedBytes[],
): Promise<readonly ServedBytes[]> {
  const bound = Date.now() - alwaysKeptMs;
  if (facts.every((fact) => isDeclared(fact) || Date.parse(fact.started_at) > bound)) return facts;
  const { rows } = await tx.query<Columns<'fact_retention', 'kept_from'>>(
    'select kept_from from fact_retention for share',
  );
  const keptFromMs = rows[0]?.kept_from.getTime() ?? -Infinity;
  return facts.filter((fact) => isDeclared(fact) || Date.parse(fact.started_at) >= keptFromMs);
}

/**
 * Runs a statement that removes at most $1 rows from before $2, the time from which facts are kept; answers how many it removed. The time
 * is a value, so that the planner sees how few rows are older: it does not look into a query for it.
 */
async function removeBefore(pool: Pool, statement: string, maxRows: number, ...more: unknown[]): Promise<number> {
  const keptFrom = await readKeptFrom(pool);
  return keptFrom ? ((await pool.query(statement, [maxRows, keptFrom, ...more])).rowCount ?? 0) : 0;
}

/**
 * Removes requests from before that time, at most `maxRows`; answers how many. A listener and episode with later requests keep all of them,
 * also under earlier keys: windows are counted from the beginning of an unbroken run. Requests that other parties reported stay, because
 * they may be of any time. The condition is spelt like that of the index `served_request_own_started_at_idx`.
 */
export const removeRequests = (pool: Pool, maxRows: number): Promise<number> =>
  removeBefore(
    pool,
    `delete from served_request where (listener_key, episode_id, request_id) in (
       select r.listener_key, r.episode_id, r.request_id from served_request r
       where r.started_at < $2::timestamptz - interval '1 day' and r.user_agent_digest <> $3
         and not exists (
           select from served_request later where later.listener_key = r.listener_key and later.episode_id = r.episode_id
             and later.started_at >= $2::timestamptz - interval '1 day')
         and not exists (
           select from listener_episode next join served_request later using (listener_key, episode_id)
           where next.previous_listener_key = r.listener_key and next.episode_id = r.episode_id)
       limit $1)`,
    maxRows,
    userAgentDigest(declaredUserAgents.ok),
  );

/** Removes waiting facts from before that time, at most `maxRows`; answers how many. */
export const removePendingFacts = (pool: Pool, maxRows: number): Promise<number> =>
  removeBefore(
    pool,
    `delete from pending_fact where fact_id in (
       select fact_id from pending_fact where started_at < $2 order by started_at limit $1 for update skip locked)`,
    maxRows,
  );

/**
 * Removes our own facts from before that time out of the partitions that hold facts of many months, at most `maxRows`; answers how many.
 * Facts of kept requests stay. The index of our own facts by time leads to the oldest, and to none that another party reported.
 */
export async function removeFacts(pool: Pool, maxRows: number): Promise<number> {
  let removed = 0;
  for (const partition of ['fact_before', 'fact_rest'])
    removed += await removeBefore(
      pool,
      `delete from ${partition} where fact_id in (
         select f.fact_id from ${partition} f
         where f.at < $2 and f.started_at < $2 and f.lists_version not like 'declared by %'
           and not exists (
             select from served_request r where r.listener_key = f.listener_key and r.episode_id = f.episode_id)
         order by f.at limit $1)`,
      maxRows - removed,
    );
  return removed;
}

/** Months that have a partition before they begin: as long may a sweep fail before facts go to `fact_rest`. */
const monthsAhead = 2;

/**
 * Makes the partitions of the months to come, and removes those whose months are over, with all their facts at once
 * (docs/adr/0066-partitions-by-what-the-key-contains.md); answers how many it removed. Call it when the requests of those months are
 * removed. Rejects while another transaction holds the table for more than two seconds.
 */
export async function turnFactPartitions(pool: Pool): Promise<number> {
  await pool.query('select add_fact_partitions($1)', [monthsAhead]);
  for (let removed = 0; ; removed += 1) {
    const { rows } = await pool.query<{ ended: string | null }>('select end_fact_partition() as ended');
    if ((rows[0]?.ended ?? null) === null) return removed;
  }
}
