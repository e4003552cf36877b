import { newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';
import type { DeliveryProblem } from './delivery-table.ts';

/** A delivery that is being sent, under a lease. */
export type ClaimedDelivery = Readonly<
  Columns<
    'webhook_delivery',
    | 'id'
    | 'workspace_id'
    | 'endpoint_id'
    | 'message_id'
    | 'body'
    | 'attempts'
    | 'attempts_since_queued'
    | 'queued_at'
    | 'created_at'
  >
> & { readonly lease_id: string };

/** Messages to one endpoint that are sent at a time; one while it fails, so that endpoints that are away hold few connections. */
const maxInFlight = { healthy: 4, failing: 1 };
/** Messages to one host that are sent at a time, from all endpoints of all workspaces: a quarter of the attempts of a process. */
const maxInFlightOfHost = 12;

/**
 * The first due delivery of the endpoint with the fewest messages in flight. The list of endpoints with waiting deliveries is read by steps
 * through the index, so that the backlog of one costs nothing to the others. Messages in flight are waiting deliveries too.
 */
const nextDue = `with recursive waiting as (
    (select endpoint_id from webhook_delivery where state = 'pending' order by endpoint_id limit 1)
    union all
    select (select d.endpoint_id from webhook_delivery d
            where d.state = 'pending' and d.endpoint_id > w.endpoint_id order by d.endpoint_id limit 1)
    from waiting w where w.endpoint_id is not null
  ), load as (
    select w.endpoint_id, coalesce(rtrim(split_part(r.attributes ->> 'url', '/', 3), '.'), w.endpoint_id) as host,
      case when h.failing_since is null then ${maxInFlight.healthy} else ${maxInFlight.failing} end as most,
      (select count(*) from webhook_delivery b where b.endpoint_id = w.endpoint_id and b.lease_until > $1) as busy
    from waiting w left join webhook_health h on h.endpoint_id = w.endpoint_id left join resource r on r.id = w.endpoint_id
    where w.endpoint_id is not null
  ), of_host as (
    select load.*, sum(busy) over (partition by host) as busy_of_host from load
  )
  select due.id from of_host load cross join lateral (
    select d.id, d.next_attempt_at from webhook_delivery d
    where d.state = 'pending' and d.endpoint_id = load.endpoint_id and d.next_attempt_at <= $1
    order by d.next_attempt_at limit 1) due
  where load.busy < load.most and load.busy_of_host < ${maxInFlightOfHost} order by load.busy, due.next_attempt_at limit 1`;

/** Claims the next due delivery; undefined when there is none, or every endpoint or its host has enough in flight. */
export async function claimDelivery(pool: Pool, now: Date, leaseMs: number): Promise<ClaimedDelivery | undefined> {
  for (;;) {
    const { rows: due } = await pool.query<Columns<'webhook_delivery', 'id'>>({
      name: 'next_due_webhook',
      text: nextDue,
      values: [now],
    });
    if (!due[0]) return undefined;
    const { rows } = await pool.query<ClaimedDelivery>({
      name: 'claim_webhook_delivery',
      text: `update webhook_delivery set lease_id = $2, lease_until = $3, next_attempt_at = $3
             where id = $1 and state = 'pending' and next_attempt_at <= $4
             returning id, lease_id, workspace_id, endpoint_id, message_id, body, attempts, attempts_since_queued, queued_at, created_at`,
      values: [due[0].id, newId('lse'), new Date(now.getTime() + leaseMs), now],
    });
    // Otherwise another process was faster.
    if (rows[0]) return rows[0];
  }
}

/** Extends a lease; `held` is false when it was lost. */
export async function renewDeliveryLease(
  pool: Pool,
  { id, lease_id }: ClaimedDelivery,
  until: Date,
): Promise<{ readonly held: boolean; readonly stop: boolean }> {
  const { rowCount } = await pool.query({
    name: 'renew_webhook_lease',
    text: `update webhook_delivery set lease_until = $3, next_attempt_at = $3 where id = $1 and lease_id = $2`,
    values: [id, lease_id, until],
  });
  return { held: rowCount === 1, stop: false };
}

/** Gives a delivery back that was not sent. */
export async function releaseDelivery(pool: Pool, { id, lease_id }: ClaimedDelivery, now: Date): Promise<void> {
  await pool.query({
    name: 'release_webhook_delivery',
    text: `update webhook_delivery set lease_id = null, lease_until = null, next_attempt_at = $3 where id = $1 and lease_id = $2`,
    values: [id, lease_id, now],
  });
}

/** Ends a delivery without an attempt. */
export async function failUnsent(
  pool: Pool,
  { id, lease_id }: ClaimedDelivery,
  problem: DeliveryProblem,
  now: Date,
): Promise<void> {
  await pool.query({
    name: 'fail_unsent_webhook',
    text: `update webhook_delivery set state = 'failed', problem = $3, ended_at = $4, lease_id = null, lease_until = null
           where id = $1 and lease_id = $2`,
    values: [id, lease_id, problem, now],
  });
}

/** One attempt at a delivery. */
export interface Attempt {
  readonly startedAt: Date;
  readonly durationMs: number;
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  /** Undefined: it succeeded. */
  readonly problem: DeliveryProblem | undefined;
  /** The beginning of the answer to a failed attempt. */
  readonly answer: string | undefined;
}

/**
 * Records an attempt and what follows from it. Does nothing when another worker has the delivery meanwhile.
 * @param nextAt the next attempt; undefined: there is none, the delivery has ended
 */
export async function recordAttempt(
  pool: Pool,
  { id, lease_id, endpoint_id }: ClaimedDelivery,
  { startedAt, durationMs, status, problem, answer }: Attempt,
  nextAt: Date | undefined,
  now: Date,
): Promise<void> {
  const state = problem === undefined ? 'delivered' : nextAt === undefined ? 'failed' : 'pending';
  await pool.query({
    name: 'record_webhook_attempt',
    text: `with tried as (
             update webhook_delivery set state = $3, problem = $4, attempts = attempts + 1,
               attempts_since_queued = attempts_since_queued + 1, next_attempt_at = coalesce($5, next_attempt_at), ended_at = $6,
               lease_id = null, lease_until = null
             where id = $1 and lease_id = $2 returning attempts
           ), logged as (
             insert into webhook_attempt (delivery_id, number, started_at, duration_ms, status, problem, answer)
             select $1, attempts, $7, $8, $9, $4, $10 from tried
           )
           insert into webhook_health as h (endpoint_id, failing_since, last_delivered_at)
           select $11, case when $4::text is not null then $7::timestamptz end, case when $4::text is null then $7::timestamptz end from tried
           on conflict (endpoint_id) do update set
             failing_since = case when $4::text is not null then coalesce(h.failing_since, $7::timestamptz) end,
             last_delivered_at = coalesce(excluded.last_delivered_at, h.last_delivered_at)`,
    values: [
      id,
      lease_id,
      state,
      problem ?? null,
      nextAt ?? null,
      state === 'pending' ? null : now,
      startedAt,
      durationMs,
      status ?? null,
      answer ?? null,
      endpoint_id,
    ],
  });
}

/** Whether an endpoint has taken anything since a time. */
export async function hasDeliveredSince(pool: Pool, endpointId: string, since: Date): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'has_delivered_webhook_since',
    text: 'select from webhook_health where endpoint_id = $1 and last_delivered_at >= $2',
    values: [endpointId, since],
  });
  return rowCount === 1;
}
