import { newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';
import { tallyEnded, type TrackerProblem } from './tracker-call-table.ts';

/** A call that is being made, under a lease. */
export type ClaimedCall = Readonly<
  Columns<
    'tracker_call',
    | 'id'
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

/** Calls to one host that are made at a time, from all workspaces; one while it fails, so that hosts that are away hold few connections. */
const maxInFlight = { healthy: 16, failing: 1 };

/**
 * The first due call of the host with the fewest calls in flight. The list of hosts with waiting calls is read by steps through the index,
 * so that the backlog of one costs nothing to the others. Calls in flight are waiting calls too.
 */
const nextDue = `with recursive waiting as (
    (select host from tracker_call where state = 'pending' order by host limit 1)
    union all
    select (select c.host from tracker_call c where c.state = 'pending' and c.host > w.host order by c.host limit 1)
    from waiting w where w.host is not null
  ), load as (
    select w.host, case when h.failing_since is null then ${maxInFlight.healthy} else ${maxInFlight.failing} end as most,
      (select count(*) from tracker_call b where b.state = 'pending' and b.host = w.host and b.lease_until > $1) as busy
    from waiting w left join tracker_host h on h.host = w.host where w.host is not null
  )
  select due.id from load cross join lateral (
    select c.id, c.next_attempt_at from tracker_call c
    where c.state = 'pending' and c.host = load.host and c.next_attempt_at <= $1 order by c.next_attempt_at limit 1) due
  where load.busy < load.most order by load.busy, due.next_attempt_at limit 1`;

/** Claims the next due call; undefined when there is none, or every host with one has enough in flight. */
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
             returning id, owner_id, serving_id, host, counted_at, playhead_ms, attempts, lease_id, url_template, break_position, ad_type`,
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
 * Records an attempt and what follows from it, and whether the host is away.
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
  await pool.query({
    name: 'note_tracker_host',
    text: `insert into tracker_host as h (host, failing_since) values ($1, $2)
           on conflict (host) do update set failing_since = excluded.failing_since
           where (h.failing_since is null) <> (excluded.failing_since is null)`,
    values: [call.host, isAway ? now : null],
  });
}
