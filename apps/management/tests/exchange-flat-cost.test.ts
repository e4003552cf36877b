import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ResourceView } from '@longwave/events';
import { until } from '@longwave/test-kit';
import { costOf, recordStatements } from '@longwave/test-kit/statements';
import { listDueRevocations } from '../src/exchange/subject-table.ts';
import type { Platform } from './_exchange.ts';
import { startExchangeHost, type ExchangeHost } from './_exchange-host.ts';
import { hour, service } from './_values.ts';
import type { World } from './_world.ts';

let host: ExchangeHost;
beforeAll(async () => {
  host = await startExchangeHost();
});
afterAll(async () => {
  expect(host.errors).toEqual([]);
  await host[Symbol.asyncDispose]();
});

/** Rows that one query of a message may read, and the blocks: those rows, and the depths of their indexes. */
const most = { rows: 20, blocks: 50 };

/** The queries of some work that read resources or links, with the greatest cost of each. */
async function costsOf(work: () => Promise<unknown>) {
  const { pool } = host.management;
  const queries = (await recordStatements(pool, work)).filter(
    ({ text, name }) =>
      name !== undefined && /^\s*select\b/.test(text) && /\b(?:from|join) (?:resource|link)\b/.test(text),
  );
  const costs = new Map<string, { readonly rows: number; readonly blocks: number }>();
  for (const query of queries) {
    const [cost, known] = [await costOf(pool, query), costs.get(query.name!)];
    costs.set(query.name!, {
      rows: Math.max(cost.rows, known?.rows ?? 0),
      blocks: Math.max(cost.blocks, known?.blocks ?? 0),
    });
  }
  return costs;
}

/** Copies a resource with its links so often, each under an id and with attributes of its own. */
async function copy({ id }: Pick<ResourceView, 'id'>, times: number, state: string, changed: string): Promise<void> {
  const { pool } = host.management;
  await pool.query(
    `insert into resource (id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at)
     select id || '-' || n, workspace_id, resource_type, version, $2, attributes || (${changed}), digest, operation_id, created_at, updated_at
     from resource, generate_series(1000, 999 + $3::int) as n where id = $1`,
    [id, state, times],
  );
  await pool.query(
    `insert into link (from_id, name, to_id) select from_id || '-' || n, name, to_id
     from link, generate_series(1000, 999 + $2::int) as n where from_id = $1`,
    [id, times],
  );
}

/** One message of each kind about the same subjects, and everything that follows from them. */
async function sendAll(world: World, platform: Platform, surface: ResourceView, version: number): Promise<void> {
  const audio_master = host.master('/same.mp3');
  const failing = await world.snapshot(platform, 'ep-1', version, {
    audio_master,
    rights: { until: world.inTime(-1) },
  });
  await host.stateOf(world, failing, 'failed');
  const serving = await world.snapshot(platform, 'ep-1', version + 1, { audio_master });
  await host.stateOf(world, serving, 'ready');
  await host.stateOf(world, failing, 'superseded');
  const capability = { ...world.source(platform, 'app', version), capability: world.capability('app') };
  await world.send('surface_capability.revise', surface, capability, service('hosting-exchange'));
  await world.alias(platform, `alias-${version}`);
  const revocation = await world.revocation(platform, 'ep-1', { version, mode: 'stop_all' });
  await until(() => host.read(world, 'content_revocations', revocation.id), {
    holds: (row) => row.lifecycle_state === 'applied',
  });
  await host.followed.caughtUp(world);
}

test('a message about a subject costs the same after 10,000 versions as after one', async () => {
  const { world, platform } = await host.joined();
  const surface = await world.surface(platform);
  const first = await host.served(world, platform, 1, { audio_master: host.master('/same.mp3') });
  const early = await costsOf(() => sendAll(world, platform, surface, 2));
  const version = `jsonb_build_object('source_version', n)`;
  await copy(first, 10_000, 'superseded', version);
  const revocation = await world.revocation(platform, 'ep-1', { version: 999_999, at: world.inTime(-1000) });
  await until(() => host.read(world, 'content_revocations', revocation.id), {
    holds: (row) => row.lifecycle_state === 'applied',
  });
  await copy(
    revocation,
    10_000,
    'applied',
    `${version} || jsonb_build_object('revocation', attributes -> 'revocation' || jsonb_build_object('revoke_version', n))`,
  );
  const alias = await world.alias(platform, 'copied');
  await copy(alias, 10_000, 'retired', `jsonb_build_object('alias', 'copied-' || n, 'address', 'copied/' || n)`);
  await host.management.database.vacuum();
  const revised = await host.read(world, 'surface_capabilities', surface.id);
  const late = await costsOf(() => sendAll(world, platform, { ...surface, version: revised.version }, 20_000));
  expect([...late.keys()]).toEqual(
    expect.arrayContaining([
      ...['find_newest_snapshot', 'find_snapshot_before', 'find_snapshot_version', 'list_older_snapshots'],
      ...['find_mapped_snapshot', 'find_source_of_episode', 'find_revocation_of_version', 'find_surface'],
      ...['find_alias', 'find_last_alias', 'find_workspace_of_host', 'list_aliases', 'list_known_versions'],
    ]),
  );
  const grown = [...late].filter(
    ([name, { rows, blocks }]) => rows > Math.max(most.rows, early.get(name)?.rows ?? 0) || blocks > most.blocks,
  );
  expect(grown).toEqual([]);
});

test('a further revision of a report costs the same beside 20,000 reports with the same start, and as many superseded revisions', async () => {
  const { world, platform } = await host.joined();
  const first = await world.report(platform, 1);
  const sendRevision = (revision: number) => async () => {
    await world.report(platform, revision);
    await host.followed.caughtUp(world);
  };
  const early = await costsOf(sendRevision(2));
  const changed = (path: string, value: string) => `jsonb_build_object('source_id', 'copy-' || n, 'evidence',
    jsonb_set(attributes -> 'evidence', '${path}', to_jsonb(${value})))`;
  const end = `to_char(timestamp '2026-11-02' + n * interval '1 ms', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  await copy(first, 20_000, 'ready', changed('{period,end}', end));
  const other = await world.report(platform, 3);
  await host.followed.caughtUp(world);
  await copy(other, 20_000, 'superseded', changed('{revision}', 'n'));
  await host.management.database.vacuum();
  const late = await costsOf(sendRevision(30_000));
  const names = ['find_report', 'list_standing_revisions'];
  expect([...early.keys()]).toEqual(expect.arrayContaining(names));
  for (const name of names) {
    expect(late.get(name)!.rows).toBeLessThanOrEqual(early.get(name)!.rows);
    expect(late.get(name)!.blocks).toBeLessThanOrEqual(most.blocks);
  }
});

test('a round of due revocations reads a few of each authority, however many of one are due', async () => {
  const { world, platform } = await host.joined();
  const { pool } = host.management;
  const waiting = await world.revocation(platform, 'ep-1', { version: 1, at: world.inTime(hour) });
  await copy(waiting, 20_000, 'accepted', `jsonb_build_object('source_id', 'copy-' || n)`);
  await host.management.database.vacuum();
  const now = new Date(Date.parse(world.inTime(2 * hour)));
  const [query] = await recordStatements(pool, () => listDueRevocations(pool, now, { ofEach: 5, limit: 100 }));
  const cost = await costOf(pool, query!);
  expect(cost.rows).toBeLessThanOrEqual(most.rows);
  expect(cost.blocks).toBeLessThanOrEqual(most.blocks);
});
