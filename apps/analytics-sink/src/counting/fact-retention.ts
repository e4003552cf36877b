import { userAgentDigest } from '@longwave/audience';
import type { Columns } from '@longwave/audience-store';
import type { ByteRangeServed } from '@longwave/events';
import type { Pool, Transaction } from '@longwave/postgres';
import { declaredUserAgents } from '../batches/row-facts.ts';
import { isDeclared } from './grown-probes.ts';

/**
 * Moves the time from which on facts are kept to the start of the UTC day so many months before `now`, never back, and only when there is a fact to
 * remove. Who counts old facts at this moment is waited for.
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

/** No fact that is younger can be older than what is kept: 13 months are the least. */
const alwaysKeptMs = 365 * 86_400_000;

/**
 * Leaves out our own facts of a time whose facts are removed: counted without the others of their time, they would take back what was
 * counted with them. What is kept does not change until the transaction ends.
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
 * Removes requests from before that time, at most so many; answers how many. A listener and episode with later requests keep all theirs,
 * and so do keys that later ones are linked to: windows are counted from the beginning of an unbroken run. Requests that other parties
 * reported stay, because they may be of any time.
 */
export async function removeRequests(pool: Pool, rowsMax: number): Promise<number> {
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
    [rowsMax, userAgentDigest(declaredUserAgents.ok)],
  );
  return rowCount ?? 0;
}

/** Removes facts from before that time that wait for a user agent; at most so many, answers how many. */
export async function removePendingFacts(pool: Pool, rowsMax: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from pending_fact where fact_id in (
       select fact_id from pending_fact where started_at < ${keptFrom} order by started_at limit $1 for update skip locked)`,
    [rowsMax],
  );
  return rowCount ?? 0;
}

/** Removes our own facts from before that time, at most so many; answers how many. Those of requests that stay are kept with them. */
export async function removeFacts(pool: Pool, rowsMax: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from fact where fact_id in (
       select f.fact_id from fact f
       where f.at < ${keptFrom} and f.started_at < ${keptFrom} and f.lists_version not like 'declared by %'
         and not exists (
           select from served_request r where r.listener_key = f.listener_key and r.episode_id = f.episode_id)
       order by f.at limit $1)`,
    [rowsMax],
  );
  return rowCount ?? 0;
}
