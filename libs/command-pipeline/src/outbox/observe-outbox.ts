import type { Pool } from '@longwave/postgres';
import { observeGauge } from '@longwave/service-kit';

/** The gauge `longwave.outbox.lag`. */
export const observeOutbox = (pool: Pool, topic: string): Disposable =>
  observeGauge(
    'longwave.outbox.lag',
    { unit: 's', description: 'Age of the oldest event that is not on the bus; 0 when there is none' },
    async () => {
      const { rows } = await pool.query<{ readonly seconds: number }>({
        name: 'outbox_lag',
        text: `select greatest(extract(epoch from now() - (payload->>'occurred_at')::timestamptz), 0)::float8 as seconds
               from outbox where published_at is null order by position limit 1`,
      });
      return [{ value: rows[0]?.seconds ?? 0, labels: { topic } }];
    },
  );
