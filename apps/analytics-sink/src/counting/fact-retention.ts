import { userAgentDigest } from '@longwave/audience';
import type { Columns } from '@longwave/audience-store';
import type { ByteRangeServed } from '@longwave/events';
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
  facts: readonly ByteRangeServed[],
): Promise<readonly ByteRangeServed[]> {
  const bound = Date.now() - alwaysKeptMs;
  if (facts.every((fact) => isDeclared(fact) || Date.parse(fact.started_at) > bound)) return facts;
  const { rows } = await tx.query<Columns<'fact_retention', 'kept_from'>>(
    'select kept_from from fact_retention for share',
  );
  const keptFromMs = rows[0]?.kept_from.getTime() ?? -Infinity;
  return facts.filter((fact) => isDeclared(fact) || Date.parse(fact.started_at) >= keptFromMs);
}

const keptFrom = '(select kept_from from fact_retention)';

/**
 * Removes requests from before that time, at most `maxRows`; answers how many. A listener and episode with later requests keep all of them,
 * also under earlier keys: windows are counted from the beginning of an unbroken run. Requests that other parties reported stay, because
 * they may be of any time.
 */
export async function removeRequests(pool: Pool, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from served_request where (listener_key, episode_id, request_id) in (
       select r.listener_key, r.episode_id, r.request_id from served_request r
       where r.started_at < ${keptFrom} - interval '1 day' and r.user_agent_digest <> $2
         and not exists (
           select from served_request later where later.listener_key = r.listener_key and later.episode_id = r.episode_id
             and later.started_at >= ${keptFrom} - interval '1 day')
         and not exists (
           select from listener_episode next join served_request later using (listener_key, episode_id)
           where next.previous_listener_key = r.listener_key and next.episode_id = r.episode_id)
       limit $1)`,
    [maxRows, userAgentDigest(declaredUserAgents.ok)],
  );
  return rowCount ?? 0;
}

/** Removes waiting facts from before that time, at most `maxRows`; answers how many. */
export async function removePendingFacts(pool: Pool, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from pending_fact where fact_id in (
       select fact_id from pending_fact where started_at < ${keptFrom} order by started_at limit $1 for update skip locked)`,
    [maxRows],
  );
  return rowCount ?? 0;
}

/** Removes our own facts from before that time, at most `maxRows`; answers how many. Facts of kept requests stay. */
export async function removeFacts(pool: Pool, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from fact where fact_id in (
       select f.fact_id from fact f
       where f.at < ${keptFrom} and f.started_at < ${keptFrom} and f.lists_version not like 'declared by %'
         and not exists (
           select from served_request r where r.listener_key = f.listener_key and r.episode_id = f.episode_id)
       order by f.at limit $1)`,
    [maxRows],
  );
  return rowCount ?? 0;
}
