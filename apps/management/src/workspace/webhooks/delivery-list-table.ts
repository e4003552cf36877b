import type { WebhookDelivery } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';
import type { DeliveryProblem } from './delivery-table.ts';

type ListedRow = Readonly<
  Columns<
    'webhook_delivery',
    | 'id'
    | 'message_id'
    | 'message_type'
    | 'occurred_at'
    | 'state'
    | 'problem'
    | 'next_attempt_at'
    | 'created_at'
    | 'ended_at',
    { state: WebhookDelivery['state']; problem: DeliveryProblem | null }
  >
>;
type AttemptRow = Readonly<
  Columns<
    'webhook_attempt',
    'delivery_id' | 'number' | 'started_at' | 'duration_ms' | 'status' | 'problem' | 'answer',
    { problem: DeliveryProblem | null }
  >
>;

/** A part of the deliveries to an endpoint. */
interface DeliveryQuestion {
  readonly endpointId: string;
  /** Absent: any. */
  readonly states?: readonly WebhookDelivery['state'][] | undefined;
  /** Only deliveries older than this one. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Attempts that a list shows of a delivery; one that was replayed often has more. */
const maxAttemptsShown = 20;

async function listAttempts(
  pool: Pool,
  deliveryIds: readonly string[],
): Promise<ReadonlyMap<string, readonly AttemptRow[]>> {
  const { rows } = await pool.query<AttemptRow>({
    name: 'list_webhook_attempts',
    text: `select a.delivery_id, a.number, a.started_at, a.duration_ms, a.status, a.problem, a.answer
           from unnest($1::text[]) d(id) cross join lateral (
             select * from webhook_attempt where delivery_id = d.id order by number desc limit $2
           ) a order by a.delivery_id, a.number`,
    values: [deliveryIds, maxAttemptsShown],
  });
  return Map.groupBy(rows, (row) => row.delivery_id);
}

const showAttempt = ({ number, started_at, duration_ms, status, problem, answer }: AttemptRow) => ({
  ...{ number, started_at: started_at.toISOString(), duration_ms },
  ...(status !== null && { status }),
  ...(problem !== null && { problem }),
  ...(answer !== null && { answer }),
});

const showDelivery = (row: ListedRow, attempts: readonly AttemptRow[]): WebhookDelivery => ({
  ...{ id: row.id, message_id: row.message_id, type: row.message_type, state: row.state },
  ...(row.problem !== null && { problem: row.problem }),
  ...{ occurred_at: row.occurred_at.toISOString(), created_at: row.created_at.toISOString() },
  ...(row.state === 'pending' && { next_attempt_at: row.next_attempt_at.toISOString() }),
  ...(row.ended_at !== null && { ended_at: row.ended_at.toISOString() }),
  attempts: attempts.map(showAttempt),
});

/** Deliveries to an endpoint, the newest first, each with its last attempts. */
export type ListDeliveries = (question: DeliveryQuestion) => Promise<WebhookDelivery[]>;

export const createListDeliveries =
  (pool: Pool): ListDeliveries =>
  async ({ endpointId, states, after, limit }) => {
    const { rows } = await pool.query<ListedRow>({
      name: 'list_webhook_deliveries',
      text: `select id, message_id, message_type, occurred_at, state, problem, next_attempt_at, created_at, ended_at
           from webhook_delivery
           where endpoint_id = $1 and ($2::text is null or id < $2) and ($3::text[] is null or state = any($3))
           order by id desc limit $4`,
      values: [endpointId, after ?? null, states ?? null, limit],
    });
    const attempts = await listAttempts(
      pool,
      rows.map(({ id }) => id),
    );
    return rows.map((row) => showDelivery(row, attempts.get(row.id) ?? []));
  };
