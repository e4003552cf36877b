import { newId } from '@longwave/ids';
import type { Transaction } from '@longwave/postgres';
import { tracePosition } from '@longwave/service-kit';

/** What happened in the exchange, for followers of `exchange.events`. */
export interface ExchangeEvent {
  /** `noun.participle`. */
  readonly type:
    | 'message.accepted'
    | 'message.contradicted'
    | 'stream.quarantined'
    | 'stream.reopened'
    | 'serving_intent.acknowledged';
  readonly workspaceId: string;
  /** Events of one key arrive in order. */
  readonly key: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Puts events on their way in the transaction of what they tell. */
export async function insertEvents(tx: Transaction, events: readonly ExchangeEvent[], now: Date): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ type, workspaceId, key, detail }) => {
    const id = newId('evt');
    const payload = { id, type, workspace_id: workspaceId, occurred_at: now.toISOString(), detail };
    return { key, event_id: id, type, payload };
  });
  await tx.query({
    name: 'insert_events',
    text: `insert into outbox (key, event_id, type, payload, traceparent)
           select key, event_id, type, payload, $2 from json_to_recordset($1) as e(key text, event_id text, type text, payload jsonb)`,
    values: [JSON.stringify(rows), tracePosition() ?? null],
  });
}
