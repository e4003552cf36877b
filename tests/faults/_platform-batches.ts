import { expect } from '@jest/globals';
import type { SignedMessage } from '@longwave/exchange-client';
import { until } from '@longwave/test-kit';
import pg from 'pg';
import { newPlatform } from '../_exchange-platform.ts';
import type { TestFleet } from '../_fleet.ts';

/** A platform with its client, which remembers what it has signed. */
async function connectPlatform(world: TestFleet) {
  const { newKey, connect, workspaceId } = await newPlatform(world);
  const signed: SignedMessage[] = [];
  const exchange = connect({
    key: await newKey(),
    retry: { attempts: 40, firstWaitMs: 200, maxWaitMs: 1_000, timeoutMs: 10_000 },
    onSigned: (messages) => void signed.push(...messages),
  });
  return { exchange, signed, workspaceId };
}

const surfaces = 10;
const capability = (index: number) => ({
  surface_id: `app-${index % surfaces}`,
  protocols: ['progressive' as const],
  interstitials: 'none' as const,
  ...{ ranges: true, max_redirects: 5, ads_video: false, offline_audio: true },
  client_events: 'none' as const,
  measurement: 'server_log' as const,
  personalisation: 'per_download' as const,
});

const victims = ['hosting-exchange', 'management', 'redis', 'postgres'] as const;

/**
 * A platform sends batches of 100 messages, and a service or an engine is killed in the middle of each. Afterwards the stream is exactly the
 * sender's, and each command has run once.
 */
export async function sendThroughDeaths(world: TestFleet): Promise<void> {
  await using stack = new AsyncDisposableStack();
  // One of its connections is lost with PostgreSQL, and the next query opens another.
  const database = stack.adopt(new pg.Pool({ connectionString: world.fleet.adminDatabaseUrl, max: 1 }), (pool) =>
    pool.end(),
  );
  database.on('error', () => undefined);
  const { exchange, signed, workspaceId } = await connectPlatform(world);
  // The key and the grant reach the exchange by events.
  const stream = await until('the exchange knows the key', async () => {
    const opened = await exchange.stream('show:faults');
    const draft = { schema: 'surface-capability/1' as const, sourceId: 'first', sourceVersion: 1 };
    return opened.append([{ ...draft, body: { ...capability(0), surface_id: 'first' } }]).then(
      () => opened,
      () => undefined,
    );
  });
  signed.splice(0, signed.length - 1);
  let version = 0;
  for (const victim of victims) {
    const drafts = Array.from({ length: 100 }, (_, index) => {
      version += 1;
      const body = capability(index);
      return { schema: 'surface-capability/1' as const, sourceId: body.surface_id, sourceVersion: version, body };
    });
    const sending = stream.append(drafts);
    // Some commands of the batch have run, and the others have not.
    await until('the batch is under way', async () => {
      const { rows } = await database.query<{ ran: number }>(
        `select count(*)::int as ran from product.operation where workspace_id = $1 and command_type like 'surface_capability.%'`,
        [workspaceId],
      );
      return rows[0]!.ran > version - 100 + 3 ? true : undefined;
    });
    if (victim === 'redis' || victim === 'postgres') world.fleet.engines[victim].kill('SIGKILL');
    else world.fleet.services[victim].kill('SIGKILL');
    const results = await sending;
    expect([victim, results.length]).toEqual([victim, 100]);
  }

  const exported: [number, string][] = [];
  for await (const { sequence, digest } of exchange.messages('show:faults')) exported.push([sequence, digest]);
  expect(exported).toEqual(signed.map(({ sequence, digest }) => [sequence, digest]));
  const { rows } = await database.query<{ id: string; version: number }>(
    `select id, version from product.resource where workspace_id = $1 and resource_type = 'surface_capabilities'`,
    [workspaceId],
  );
  expect(rows).toHaveLength(surfaces + 1);
  expect(rows.reduce((sum, row) => sum + row.version, 0)).toBe(401);
}
