import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { Columns } from '../../generated/rows.ts';

/** Messages that an endpoint is sent on request in an hour: replays and tests. */
const maxPerHour = 1_000;
const hourMs = 3_600_000;

/**
 * How many deliveries of an endpoint may still be asked for in its present hour. Throws `rate_limited` when there are none left. The caller
 * has locked the endpoint.
 */
export async function remainingReplays(tx: Transaction, endpointId: string, now: Date): Promise<number> {
  const { rows } = await tx.query<Columns<'webhook_replay', 'started_at' | 'deliveries'>>({
    name: 'find_webhook_replays',
    text: 'select started_at, deliveries from webhook_replay where endpoint_id = $1',
    values: [endpointId],
  });
  const [hour] = rows;
  const endsMs = hour ? hour.started_at.getTime() + hourMs : 0;
  if (!hour || endsMs <= now.getTime()) return maxPerHour;
  if (hour.deliveries < maxPerHour) return maxPerHour - hour.deliveries;
  throw new Problem(
    'rate_limited',
    `An endpoint is sent at most ${maxPerHour} replays and tests an hour. Wait as long as Retry-After says.`,
    { retryAfterSeconds: Math.ceil((endsMs - now.getTime()) / 1000) },
  );
}

/** Counts deliveries that were asked for; the first one after an hour begins the next hour. */
export async function countReplays(tx: Transaction, endpointId: string, deliveries: number, now: Date): Promise<void> {
  await tx.query({
    name: 'count_webhook_replays',
    text: `insert into webhook_replay as w (endpoint_id, started_at, deliveries) values ($1, $3, $2)
           on conflict (endpoint_id) do update set
             started_at = case when w.started_at <= $4 then $3 else w.started_at end,
             deliveries = case when w.started_at <= $4 then 0 else w.deliveries end + $2`,
    values: [endpointId, deliveries, now, new Date(now.getTime() - hourMs)],
  });
}
