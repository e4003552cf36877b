import { setTimeout as wait } from 'node:timers/promises';
import type { BusMessage } from '@longwave/event-bus';
import type { Pool } from '@longwave/postgres';

export interface OutboxRelay extends AsyncDisposable {
  /** Looks now instead of at the next poll. */
  wake(): void;
}

export interface RelayOptions {
  readonly pool: Pool;
  readonly topic: string;
  readonly publish: (messages: readonly BusMessage[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
  readonly pollMs?: number;
  readonly batchSize?: number;
}

/** Any constant; one relay per schema works at a time, others wait for its session to end. */
const relayLock = 7_241_563;

/**
 * Moves the outbox to the event bus: per subject in order, at least once. Rows are found by their missing published mark,
 * never by a cursor, so a row that commits late is not lost.
 */
export function startOutboxRelay(options: RelayOptions): OutboxRelay {
  const { pool, topic, batchSize = 500, pollMs = 100 } = options;
  let stopped = false;
  const stopping = new AbortController();
  let wakeUp: () => void = () => undefined;
  let woken = false;

  const idle = (ms: number) =>
    new Promise<void>((resolve) => {
      if (woken || stopped) return resolve();
      const timer = setTimeout(resolve, ms);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    }).then(() => {
      woken = false;
    });

  async function work(): Promise<void> {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      const { rows } = await client.query<{ held: boolean }>(
        'select pg_try_advisory_lock($1, hashtext(current_schema())) as held',
        [relayLock],
      );
      if (!rows[0]!.held) return await idle(1000);
      while (!stopped) {
        const batch = await client.query<{
          position: string;
          key: string;
          event_id: string;
          type: string;
          payload: unknown;
        }>({
          name: 'read_outbox',
          text: 'select position, key, event_id, type, payload from outbox where published_at is null order by position limit $1',
          values: [batchSize],
        });
        if (batch.rows.length === 0) {
          await idle(pollMs);
          continue;
        }
        await options.publish(
          batch.rows.map((row) => ({ topic, key: row.key, id: row.event_id, type: row.type, payload: row.payload })),
        );
        await client.query({
          name: 'mark_published',
          text: 'update outbox set published_at = now() where position = any($1::bigint[])',
          values: [batch.rows.map((row) => row.position)],
        });
      }
      await client.query('select pg_advisory_unlock($1, hashtext(current_schema()))', [relayLock]);
    } catch (error) {
      // The session may still hold the lock: close it, so that the next relay can work.
      broken = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      client.release(broken);
    }
  }

  const running = (async () => {
    while (!stopped) {
      try {
        await work();
      } catch (error) {
        options.onError(error);
        // A wake-up does not shorten this wait: every commit would open a new session while the bus is away.
        await wait(1000, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  })();

  const wake = () => {
    woken = true;
    wakeUp();
  };
  return {
    wake,
    [Symbol.asyncDispose]: async () => {
      stopped = true;
      stopping.abort();
      wake();
      await running;
    },
  };
}
