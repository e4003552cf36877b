import { topics, type DecisionMade, type DeliveryFact } from '@longwave/events';
import { createPool, type Pool } from '@longwave/postgres';
import { openChannel, readTls, type RpcClient } from '@longwave/rpc';
import { AnomalyServiceService, LedgerServiceService } from '@longwave/rpc/audience';
import { prepareSink } from '@longwave/test-kit/analytics-sink';

/** analytics-sink as a process of its own, with its database and bus. */
export interface TestSink extends AsyncDisposable {
  readonly ledger: RpcClient<typeof LedgerServiceService>;
  readonly anomalies: RpcClient<typeof AnomalyServiceService>;
  publish(...messages: readonly (DecisionMade | DeliveryFact)[]): Promise<void>;
  /** Facts are published and read up to a time; the sink takes 30 s off. */
  mark(at: Date): Promise<void>;
  /** Moves what was recorded at some time or later into the past: nobody can move the clock of the database. */
  moveBack(minutes: number, since?: Date): Promise<void>;
  /** Servings that the ledger has as confirmed. */
  confirmed(): Promise<number>;
}

export async function startTestSink(): Promise<TestSink> {
  await using stack = new AsyncDisposableStack();
  const sink = stack.use(await prepareSink(['management', 'operator']));
  const admin: Pool = stack.adopt(createPool(sink.database.adminUrl, 'audience', { name: 'test' }), (it) => it.end());
  await sink.start({ LOG_LEVEL: 'info' });
  const channelOf = (name: 'management' | 'operator') =>
    openChannel(sink.address, 'analytics-sink', readTls(sink.identities[name]));
  const ledger = stack.adopt(channelOf('management').client(LedgerServiceService), (it) => it.close());
  const anomalies = stack.adopt(channelOf('operator').client(AnomalyServiceService), (it) => it.close());
  const running = stack.move();
  return {
    ledger,
    anomalies,
    publish: (...messages) =>
      sink.bus.publish(
        messages.map((one) =>
          'slots' in one
            ? { topic: topics.decisions, key: one.decision_id, id: one.decision_id, type: 'decision', payload: one }
            : { topic: topics.deliveryFacts, key: 'one', id: one.fact_id, type: one.kind, payload: one },
        ),
      ),
    mark: async (at) => {
      await admin.query(
        `insert into producer_mark (producer, part, until, ended) values ('one', 0, $1, false)
         on conflict (producer, part) do update set until = excluded.until`,
        [at],
      );
    },
    moveBack: async (minutes, since = new Date(0)) => {
      const client = await admin.connect();
      await client.query('begin; set local session_replication_role = replica');
      for (const table of ['ad_entry', 'ad_adjustment'])
        await client.query(
          `update ${table} set recorded_at = recorded_at - $1 * interval '1 minute' where recorded_at >= $2`,
          [minutes, since],
        );
      await client.query('commit');
      client.release();
    },
    confirmed: async () =>
      (
        await admin.query<{ units: number }>(
          `select coalesce(sum(quantity), 0)::int as units from ad_entry where stage = 'confirmed'`,
        )
      ).rows[0]!.units,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
