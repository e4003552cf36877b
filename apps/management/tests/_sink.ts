import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createEventBus } from '@longwave/event-bus';
import { topics, type DecisionMade, type DeliveryFact } from '@longwave/events';
import {
  awayAddresses,
  developmentCa,
  freePorts,
  removeDataFolder,
  startChild,
  startTestDatabase,
  startTestRedis,
  temporaryDataFolder,
  workspaceRoot,
} from '@longwave/fleet';
import { createPool, type Pool } from '@longwave/postgres';
import { openChannel, readTls, type RpcClient } from '@longwave/rpc';
import { AnomalyServiceService, LedgerServiceService } from '@longwave/rpc/audience';
import { until } from '@longwave/test-kit';
import { dataFolder } from '@longwave/test-kit/delivery-facts';

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
  const folder = stack.adopt(temporaryDataFolder(), removeDataFolder);
  const [database, redis, [grpcPort, healthPort], identities] = await Promise.all([
    startTestDatabase({ schema: 'audience', migrations: 'apps/analytics-sink/prisma' }),
    startTestRedis(),
    freePorts(2) as Promise<[number, number]>,
    developmentCa(folder.inside('tls'), ['analytics-sink', 'management', 'operator'], new Date()),
  ]);
  stack.defer(() => database.stop());
  stack.defer(() => redis.stop());
  const admin: Pool = stack.adopt(createPool(database.adminUrl, 'audience', { name: 'test' }), (it) => it.end());
  const keys = folder.inside('keys.json');
  writeFileSync(keys, '{"keys":[]}');
  const { ca, cert, key } = identities['analytics-sink'];
  const child = await startChild({
    name: 'analytics-sink',
    command: process.execPath,
    args: [path.join(workspaceRoot, 'apps/analytics-sink/src/main.ts')],
    env: {
      ...{ HEALTH_LISTEN: `127.0.0.1:${healthPort}`, GRPC_LISTEN: `127.0.0.1:${grpcPort}`, HTTP_LISTEN: '127.0.0.1:0' },
      ...{ TLS_CA: ca, TLS_CERT: cert, TLS_KEY: key, DATABASE_URL: database.url, REDIS_URL: redis.url },
      ...{ PRINCIPAL_KEYS: keys, ACCESS_TOKEN_KEYS: keys, AUDIENCE_DATA: dataFolder },
      ...{ BASE_URL: 'http://base.test', API_URL: 'http://api.test' },
      ...awayAddresses('analytics-sink'),
    },
    logFile: folder.logFile('analytics-sink'),
    pidFolder: folder.pids,
    stopSignal: 'SIGTERM',
  });
  stack.defer(async () => void (await child.stop()));
  await until(async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok, { despiteErrors: true });
  const bus = stack.use(await createEventBus({ kind: 'redis', redisUrl: redis.url, clientName: 'test' }));
  const channelOf = (name: 'management' | 'operator') =>
    openChannel(`127.0.0.1:${grpcPort}`, 'analytics-sink', readTls(identities[name]));
  const ledger = stack.adopt(channelOf('management').client(LedgerServiceService), (it) => it.close());
  const anomalies = stack.adopt(channelOf('operator').client(AnomalyServiceService), (it) => it.close());
  const running = stack.move();
  return {
    ledger,
    anomalies,
    publish: (...messages) =>
      bus.publish(
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
