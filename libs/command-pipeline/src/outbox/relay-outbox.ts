import type { BusMessage } from '@longwave/event-bus';
import { endWhenSilent, type Pool, type Session } from '@longwave/postgres';
import { pollLoop, sleep, type PollLoop } from '@longwave/worker-kit';
import type { Columns } from '../generated/rows.ts';
import { observeOutbox } from './observe-outbox.ts';

export interface RelayOptions {
  readonly pool: Pool;
  readonly topic: string;
  readonly publish: (messages: readonly BusMessage[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
  readonly pollMs?: number;
  readonly batchSize?: number;
  /** The server ends a session of the relay that was cut off after this time, and the next one takes over. Default: 30 s. */
  readonly silenceMs?: number;
}

/** Any constant. One relay per schema works at a time; others wait until its session ends. */
const relayLock = 7_241_563;
/** Milliseconds between two attempts at a lock that another relay holds. */
const lockEveryMs = 1_000;

/** A session that holds the relay lock; undefined while another relay holds it. */
async function lockRelay({ pool, silenceMs }: RelayOptions): Promise<Session | undefined> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ held: boolean }>(
      'select pg_try_advisory_lock($1, hashtext(current_schema())) as held',
      [relayLock],
    );
    if (rows[0]!.held) {
      await endWhenSilent(client, silenceMs);
      return client;
    }
  } catch (error) {
    client.release(true);
    throw error;
  }
  client.release();
  return undefined;
}

/** Publishes the oldest rows, marks them as published and returns their number. */
async function relayBatch(client: Session, { topic, publish, batchSize = 500 }: RelayOptions): Promise<number> {
  const { rows } = await client.query<
    Columns<'outbox', 'position' | 'key' | 'event_id' | 'type' | 'payload' | 'traceparent'>
  >({
    name: 'read_outbox',
    text: 'select position, key, event_id, type, payload, traceparent from outbox where published_at is null order by position limit $1',
    values: [batchSize],
  });
  if (rows.length === 0) return 0;
  await publish(
    rows.map(({ key, event_id: id, type, payload, traceparent }) => ({
      ...{ topic, key, id, type, payload },
      ...(traceparent !== null && { traceparent }),
    })),
  );
  await client.query({
    name: 'mark_published',
    text: 'update outbox set published_at = now() where position = any($1::bigint[])',
    values: [rows.map((row) => row.position)],
  });
  return rows.length;
}

/**
 * Publishes the outbox on the event bus, per subject in order, at least once. It finds rows by their missing published mark and not by a
 * cursor, so it never misses a row that commits late.
 */
export function startOutboxRelay(options: RelayOptions): PollLoop {
  const { pool, topic, onError, pollMs = 100 } = options;
  const observing = observeOutbox(pool, topic);
  let session: Session | undefined;

  /** Closes the session, which may still hold the lock, so that the next relay can work. */
  function closeSession(): void {
    session?.release(true);
    session = undefined;
  }

  const relaying = pollLoop({
    everyMs: pollMs,
    run: async (signal) => {
      session ??= await lockRelay(options);
      if (!session) return await sleep(lockEveryMs, signal);
      return (await relayBatch(session, options)) > 0;
    },
    onError: (error) => {
      closeSession();
      onError(error);
    },
  });
  return {
    wake: relaying.wake,
    [Symbol.asyncDispose]: async () => {
      observing[Symbol.dispose]();
      await relaying[Symbol.asyncDispose]();
      closeSession();
    },
  };
}
