import { newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';
import { tallyEnded, type TrackerProblem } from './tracker-call-table.ts';

/** A call that is being made, under a lease. */
export type ClaimedCall = Readonly<
  Columns<
    'tracker_call',
    | 'id'
    | 'workspace_id'
    | 'owner_id'
    | 'serving_id'
    | 'host'
    | 'counted_at'
    | 'playhead_ms'
    | 'attempts'
    | 'lease_id'
    | 'url_template'
    | 'break_position'
    | 'ad_type',
    {
      lease_id: string;
      url_template: string;
      break_position: 'pre' | 'mid' | 'post' | null;
      ad_type: 'audio' | 'video' | 'hybrid' | null;
    }
  >
>;

/**
 * Calls that are made at a time: of one workspace, so that no other waits for its hosts; of one workspace to a host that fails there, so that
 * hosts that are away hold few connections; and to one host from all workspaces.
 */
const maxInFlight = { workspace: 16, failing: 1, host: 16 };
/** Hosts of one workspace, in alphabetical order, among which a call is looked for: what a workspace with more costs the others is bounded. */
const maxHosts = 500;

/**
 * The first due call of the workspace with the fewest calls in flight, and there of the host with the fewest. Workspaces and hosts with waiting
 * calls are read by steps through indexes, so that the backlog of one costs nothing to the others. Calls in flight are waiting calls too.
 */
const nextDue = `with recursive waiting as (
    (select workspace_id, next_attempt_at as oldest from tracker_call where state = 'pending' order by workspace_id, next_attempt_at limit 1)
    union all
    select further.* from waiting w cross join lateral (
      select c.workspace_id, c.next_attempt_at from tracker_call c where c.state = 'pending' and c.workspace_id > w.workspace_id
      order by c.workspace_id, c.next_attempt_at limit 1) further
  ), load as (
    select w.workspace_id, w.oldest,
      (select count(*) from tracker_call b where b.state = 'pending' and b.workspace_id = w.workspace_id and b.lease_until > $1) as busy
    from waiting w where w.oldest <= $1
  )
  select due.id from load cross join lateral (
    with recursive hosts as (
      (select c.host from tracker_call c where c.state = 'pending' and c.workspace_id = load.workspace_id order by c.host limit 1)
      union all
      select further.host from hosts h cross join lateral (
        select c.host from tracker_call c where c.state = 'pending' and c.workspace_id = load.workspace_id and c.host > h.host
        order by c.host limit 1) further
    ), own as (
      select h.host, case when f.host is null then ${maxInFlight.workspace} else ${maxInFlight.failing} end as most,
        (select count(*) from tracker_call b
         where b.state = 'pending' and b.workspace_id = load.workspace_id and b.host = h.host and b.lease_until > $1) as busy
      from (select host from hosts limit ${maxHosts}) h
      left join failing_tracker_host f on f.workspace_id = load.workspace_id and f.host = h.host
    )
    select first.id from own cross join lateral (
      select c.id, c.next_attempt_at from tracker_call c
      where c.state = 'pending' and c.workspace_id = load.workspace_id and c.host = own.host and c.next_attempt_at <= $1
      order by c.next_attempt_at limit 1) first
    where own.busy < own.most
      and (select count(*) from tracker_call b where b.state = 'pending' and b.host = own.host and b.lease_until > $1) < ${maxInFlight.host}
    order by own.busy, first.next_attempt_at limit 1) due
  where load.busy < ${maxInFlight.workspace} order by load.busy, load.oldest limit 1`;

/** Claims the next due call; undefined when there is none, or every workspace or host with one has enough in flight. */
export async function claimCall(pool: Pool, now: Date, leaseMs: number): Promise<ClaimedCall | undefined> {
  for (;;) {
    const { rows: due } = await pool.query<{ id: string }>({
      name: 'next_due_tracker_call',
      text: nextDue,
      values: [now],
    });
    if (!due[0]) return undefined;
    const { rows } = await pool.query<ClaimedCall>({
      name: 'claim_tracker_call',
      text: `update tracker_call set lease_id = $2, lease_until = $3, next_attempt_at = $3
             where id = $1 and state = 'pending' and next_attempt_at <= $4
             returning id, workspace_id, owner_id, serving_id, host, counted_at, playhead_ms, attempts, lease_id, url_template, break_position, ad_type`,
      values: [due[0].id, newId('lse'), new Date(now.getTime() + leaseMs), now],
    });
    // Otherwise another process was faster.
    if (rows[0]) return rows[0];
  }
}

/** Extends a lease; `held` is false when it was lost. */
export async function renewCallLease(
  pool: Pool,
  { id, lease_id }: ClaimedCall,
  until: Date,
): Promise<{ readonly held: boolean; readonly stop: boolean }> {
  const { rowCount } = await pool.query({
    name: 'renew_tracker_lease',
    text: `update tracker_call set lease_until = $3, next_attempt_at = $3 where id = $1 and lease_id = $2`,
    values: [id, lease_id, until],
  });
  return { held: rowCount === 1, stop: false };
}

/** Gives a call back that was not made. */
export async function releaseCall(pool: Pool, { id, lease_id }: ClaimedCall, now: Date): Promise<void> {
  await pool.query({
    name: 'release_tracker_call',
    text: `update tracker_call set lease_id = null, lease_until = null, next_attempt_at = $3 where id = $1 and lease_id = $2`,
    values: [id, lease_id, now],
  });
}

/** What an attempt led to, or why there was none. */
export interface TrackerAttempt {
  /** Undefined: it succeeded. */
  readonly problem: TrackerProblem | undefined;
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
}

type TrackerState = 'pending' | 'delivered' | 'failed' | 'given_up';

/** Saves what an attempt led to. Does nothing when another worker has the call meanwhile. */
async function saveOutcome(
  pool: Pool,
  { id, lease_id }: ClaimedCall,
  { problem, status, attempts }: TrackerAttempt & { readonly attempts: number },
  next: { readonly state: TrackerState; readonly nextAt?: Date | undefined },
  now: Date,
): Promise<void> {
  await pool.query({
    name: 'record_tracker_call',
    text: `with tried as (
             update tracker_call set state = $3, problem = $4, status = $5, attempts = attempts + $8,
               next_attempt_at = coalesce($6, next_attempt_at), ended_at = case when $3 <> 'pending' then $7::timestamptz end,
               url_template = case when $3 = 'pending' then url_template end, lease_id = null, lease_until = null
             where id = $1 and lease_id = $2 returning owner_id, state, problem, status
           ), ended as (
             select * from tried where state <> 'pending'
           ), tallied as (${tallyEnded('$7::timestamptz')})
           select count(*) from tried`,
    values: [id, lease_id, next.state, problem ?? null, status ?? null, next.nextAt ?? null, now, attempts],
  });
}

/** Gives up a call that is not made. */
export const recordUnmade = (
  pool: Pool,
  call: ClaimedCall,
  problem: 'endpoint_disabled' | 'too_late',
  now: Date,
): Promise<void> => saveOutcome(pool, call, { problem, status: undefined, attempts: 0 }, { state: 'given_up' }, now);

/**
 * Records an attempt and what follows from it, and whether the host of the address is away for its workspace, whoever it leads on to.
 * @param next `nextAt` of a call that stays pending
 */
export async function recordCall(
  pool: Pool,
  call: ClaimedCall,
  { problem, status }: TrackerAttempt,
  next: { readonly state: TrackerState; readonly nextAt?: Date | undefined },
  now: Date,
): Promise<void> {
  await saveOutcome(pool, call, { problem, status, attempts: 1 }, next, now);
  // A host that answers with a refusal is not away.
  const isAway = problem !== undefined && (status === undefined || status >= 500);
  const { workspace_id: workspaceId, host } = call;
  if (isAway)
    await pool.query({
      name: 'note_failing_host',
      text: `insert into failing_tracker_host (workspace_id, host, failing_since) values ($1, $2, $3) on conflict do nothing`,
      values: [workspaceId, host, now],
    });
  else
    await pool.query({
      name: 'forget_failing_host',
      text: `delete from failing_tracker_host where workspace_id = $1 and host = $2`,
      values: [workspaceId, host],
    });
}

/** Forgets hosts that have failed since before a time and for which no call waits, at most `maxRows`; answers how many. */
export async function forgetHosts(pool: Pool, before: Date, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query({
    name: 'forget_failing_hosts',
    text: `delete from failing_tracker_host where (workspace_id, host) in (
             select f.workspace_id, f.host from failing_tracker_host f where f.failing_since < $1 and not exists (
               select from tracker_call c where c.state = 'pending' and c.workspace_id = f.workspace_id and c.host = f.host)
             limit $2)`,
    values: [before, maxRows],
  });
  return rowCount ?? 0;
}
