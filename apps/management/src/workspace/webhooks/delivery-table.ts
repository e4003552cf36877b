import type { WebhookDelivery, WebhookMessage } from '@longwave/command-catalog';
import { newId } from '@longwave/ids';
import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';

/** Why the last attempt at a delivery failed, or why there was none. */
export type DeliveryProblem = NonNullable<WebhookDelivery['problem']>;

/** An endpoint as the follower needs it. */
export type Subscription = Readonly<Columns<'resource', 'id' | 'workspace_id' | 'created_at'>> & {
  readonly lifecycle_state: 'active' | 'disabled';
  readonly events: readonly string[];
};

/** The endpoints of workspaces that are not deleted. */
export async function listSubscriptions(pool: Pool, workspaceIds: readonly string[]): Promise<Subscription[]> {
  const { rows } = await pool.query<Subscription>({
    name: 'list_webhook_subscriptions',
    text: `select id, workspace_id, lifecycle_state, created_at, attributes -> 'events' as events from resource
           where workspace_id = any($1) and resource_type = 'webhook_endpoints' and lifecycle_state in ('active', 'disabled')`,
    values: [workspaceIds],
  });
  return rows;
}

export async function countEndpoints(tx: Transaction, workspaceId: string): Promise<number> {
  const { rows } = await tx.query<{ n: number }>({
    name: 'count_webhook_endpoints',
    text: `select count(*)::int as n from resource
           where workspace_id = $1 and resource_type = 'webhook_endpoints' and lifecycle_state <> 'deleted'`,
    values: [workspaceId],
  });
  return rows[0]!.n;
}

export interface NewDelivery {
  readonly endpointId: string;
  readonly message: WebhookMessage;
  /** The endpoint takes nothing now: the delivery fails at once, and can be replayed. */
  readonly problem?: DeliveryProblem;
}

/** Queues messages; one that an endpoint has already stays as it is. */
export async function insertDeliveries(
  db: Pool | Transaction,
  deliveries: readonly NewDelivery[],
  now: Date,
): Promise<void> {
  if (deliveries.length === 0) return;
  const column = <T>(of: (delivery: NewDelivery) => T) => deliveries.map(of);
  await db.query({
    name: 'insert_webhook_deliveries',
    text: `insert into webhook_delivery (id, workspace_id, endpoint_id, message_id, message_type, occurred_at, body, problem,
             state, queued_at, next_attempt_at, created_at, ended_at)
           select d.id, d.workspace_id, d.endpoint_id, d.message_id, d.message_type, d.occurred_at, d.body, d.problem,
             case when d.problem is null then 'pending' else 'failed' end, $9::timestamptz, $9, $9, case when d.problem is not null then $9 end
           from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::text[])
             as d (id, workspace_id, endpoint_id, message_id, message_type, occurred_at, body, problem)
           on conflict (endpoint_id, message_id) do nothing`,
    values: [
      column(() => newId('whd')),
      column(({ message }) => message.workspace_id),
      column(({ endpointId }) => endpointId),
      column(({ message }) => message.id),
      column(({ message }) => message.type),
      column(({ message }) => message.timestamp),
      column(({ message }) => JSON.stringify(message)),
      column(({ problem = null }) => problem),
      now,
    ],
  });
}

/** Ends the waiting deliveries of an endpoint that takes nothing any more; those that are being sent end by themselves. */
export async function failWaiting(
  tx: Transaction,
  endpointId: string,
  problem: DeliveryProblem,
  now: Date,
): Promise<void> {
  await tx.query({
    name: 'fail_waiting_deliveries',
    text: `update webhook_delivery set state = 'failed', problem = $2, ended_at = $3
           where endpoint_id = $1 and state = 'pending' and lease_id is null`,
    values: [endpointId, problem, now],
  });
}

/**
 * Queues one delivery of an endpoint again, or its failed ones of events since a time: the oldest ones, at most `maxDeliveries`.
 * @returns how many
 */
export async function requeueDeliveries(
  tx: Transaction,
  endpointId: string,
  chosen: { readonly deliveryId: string } | { readonly since: string; readonly maxDeliveries: number },
  now: Date,
): Promise<number> {
  const queue = `update webhook_delivery set state = 'pending', problem = null, queued_at = $2, next_attempt_at = $2,
                   attempts_since_queued = 0, ended_at = null
                 where endpoint_id = $1 and lease_id is null`;
  const { rowCount } = await ('deliveryId' in chosen
    ? tx.query({
        name: 'requeue_delivery',
        text: `${queue} and id = $3`,
        values: [endpointId, now, chosen.deliveryId],
      })
    : tx.query({
        name: 'requeue_deliveries',
        text: `${queue} and id in (
                 select id from webhook_delivery where endpoint_id = $1 and lease_id is null and state = 'failed' and occurred_at >= $3
                 order by occurred_at, id limit $4)`,
        values: [endpointId, now, chosen.since, chosen.maxDeliveries],
      }));
  return rowCount ?? 0;
}

/** Whether the endpoint has this delivery. */
export async function hasDelivery(tx: Transaction, endpointId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'has_webhook_delivery',
    text: 'select from webhook_delivery where endpoint_id = $1 and id = $2',
    values: [endpointId, id],
  });
  return rowCount === 1;
}

/** Forgets the failures of an endpoint, which may now be another address. */
export async function clearHealth(tx: Transaction, endpointId: string): Promise<void> {
  await tx.query({
    name: 'clear_webhook_health',
    text: 'delete from webhook_health where endpoint_id = $1',
    values: [endpointId],
  });
}

/**
 * Removes ended deliveries, with their attempts, that were made before a time; at most `maxRows`.
 * @returns how many
 */
export async function removeDeliveries(pool: Pool, before: Date, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query({
    name: 'remove_webhook_deliveries',
    text: `delete from webhook_delivery where id in
             (select id from webhook_delivery where created_at < $1 and state <> 'pending' order by created_at limit $2)`,
    values: [before, maxRows],
  });
  return rowCount ?? 0;
}
