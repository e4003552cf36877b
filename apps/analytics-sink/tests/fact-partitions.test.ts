import { expect, test } from '@jest/globals';
import { userAgentDigest } from '@longwave/audience';
import type { ByteRangeServed, DeliveryFact } from '@longwave/events';
import { startEarlierDatabase } from '@longwave/fleet';
import { idFromBytes, newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { fact, lists, randomFacts, seen } from '@longwave/test-kit/delivery-facts';
import { costOf, recordStatements } from '@longwave/test-kit/statements';
import fc from 'fast-check';
import { declaredUserAgents } from '../src/batches/row-facts.ts';
import {
  moveKeptFrom,
  removeFacts,
  removePendingFacts,
  removeRequests,
  turnFactPartitions,
} from '../src/counting/fact-retention.ts';
import { createCountingMemory, recordFacts } from '../src/counting/record-facts.ts';
import { emptyTables, useTables, type Tables } from './_tables.ts';

let tables: Tables;
useTables((each) => (tables = each));

/** An id as public-delivery gives it to a fact of a request at a time (milliseconds since the epoch). */
function factIdAt(ms: number, random: Uint8Array, sequence = 0): string {
  const bytes = Buffer.concat([Buffer.alloc(6), random]);
  bytes.writeUIntBE(ms, 0, 6);
  return `${idFromBytes('req', bytes)}:${sequence}`;
}

const partitions = async (pool: Pool) =>
  (
    await pool.query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'fact'::regclass order by 1`,
    )
  ).rows.map(({ name }) => name);
const thisMonth = () => `fact_${new Date().toISOString().slice(0, 7).replace('-', '')}`;
const partitionOf = async (pool: Pool, id: string) =>
  (await pool.query<{ name: string }>('select tableoid::regclass::text as name from fact where fact_id = $1', [id]))
    .rows[0]?.name;

test('the bound of a month lies between the ids that were made before and after its first millisecond', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2100, 0) }),
      fc.uint8Array({ minLength: 10, maxLength: 10 }),
      async (ms, random) => {
        const { rows } = await tables.pool.query<{ own: string; next: string }>(
          'select first_fact_id($1) as own, first_fact_id($2) as next',
          [new Date(ms), new Date(ms + 1)],
        );
        const id = factIdAt(ms, random);
        expect([rows[0]!.own <= id, id < rows[0]!.next]).toEqual([true, true]);
      },
    ),
    { numRuns: 200 },
  );
});

/** Puts facts as they are into the table, without counting them. */
const insertFacts = (pool: Pool, ids: readonly string[], at: string, listsVersion = '1') =>
  pool.query(
    `insert into fact (fact_id, request_id, started_at, at, workspace_id, podcast_id, episode_id, layout_digest, method, status,
       requested, written, published_at, listener_key, address_key, address_verdict, prefetch, country, region, late, lists_version)
     select id, id, $2, $2, 'ws_1', 'pod_1', 'ep_1', 'layout', 'GET', 200, '{}', '{}', $2, 'listener ' || id, '', 'ok', false, 'DE',
       'unknown', false, $3 from unnest($1::text[]) id`,
    [ids, at, listsVersion],
  );

test('an upgrade keeps every fact and its place, and an id that was taken before stays taken', async () => {
  await using database = await startEarlierDatabase('apps/analytics-sink/prisma', '_fact_bound');
  const { pool } = database;
  const own = `${newId('req')}:0`;
  await insertFacts(pool, [own, 'batch:1', 'fct_1'], '2026-01-02T00:00:00Z');
  const read = async () => (await pool.query('select * from fact order by fact_id')).rows;
  // Columns that later migrations add.
  const before = (await read()).map((row) => ({ ...row, play_id: null, play_address_key: null }));
  await database.upgrade();
  expect(await read()).toEqual(before);
  await expect(insertFacts(pool, [own], '2026-01-02T00:00:00Z')).rejects.toMatchObject({ code: '23505' });
  // The table of before is the partition of everything before next month, so its months need none.
  expect(await partitionOf(pool, own)).toBe('fact_before');
  const later = factIdAt(Date.now() + 45 * 86_400_000, new Uint8Array(10));
  await insertFacts(pool, [later, 'batch:2'], '2026-01-02T00:00:00Z');
  expect(await partitionOf(pool, later)).toMatch(/^fact_\d{6}$/);
  expect(await partitionOf(pool, 'batch:2')).toBe('fact_before');
  expect((await pool.query('select from pg_constraint where conname = $1', ['fact_bound'])).rowCount).toBe(0);
});

test('an id is taken in all partitions: by own facts of any month, of a clock that is ahead, and by reports of others', async () => {
  const ahead = factIdAt(Date.now() + 200 * 86_400_000, new Uint8Array(10));
  const ids = [`${newId('req')}:0`, ahead, 'batch:1'];
  await insertFacts(tables.pool, ids, '2026-01-02T00:00:00Z');
  expect(await Promise.all(ids.map((id) => partitionOf(tables.pool, id)))).toEqual([
    ...[thisMonth(), 'fact_rest', 'fact_before'],
  ]);
  for (const id of ids)
    await expect(insertFacts(tables.pool, [id], '2026-03-04T00:00:00Z')).rejects.toMatchObject({ code: '23505' });
  // The partition of its month takes it over when it comes.
  await tables.admin.query('select add_fact_partition($1)', [new Date(Date.now() + 200 * 86_400_000)]);
  expect(await partitionOf(tables.pool, ahead)).toMatch(/^fact_\d{6}$/);
  await expect(insertFacts(tables.pool, [ahead], '2026-03-04T00:00:00Z')).rejects.toMatchObject({ code: '23505' });
});

test('the role of the service makes the partitions of this month and the next two, twice without harm, and no other table', async () => {
  const { pool } = tables;
  await turnFactPartitions(pool);
  const made = await partitions(pool);
  await Promise.all([turnFactPartitions(pool), turnFactPartitions(pool)]);
  expect(await partitions(pool)).toEqual(made);
  expect(made).toContain(thisMonth());
  await expect(pool.query('create table fact_190001 (like fact)')).rejects.toMatchObject({ code: '42501' });
  await expect(pool.query(`drop table ${thisMonth()}`)).rejects.toMatchObject({ code: '42501' });
  await expect(pool.query(`alter table fact detach partition ${thisMonth()}`)).rejects.toMatchObject({ code: '42501' });
});

/** Moves the first month with a partition back to 2025-09, as if this installation had begun then. */
async function beginInSeptember2025(): Promise<void> {
  await tables.admin.query(`
    alter table fact detach partition fact_before;
    do $$ begin
      execute format('alter table fact attach partition fact_before for values from (minvalue) to (%L)', first_fact_id('2025-09-01T00:00:00Z'));
    end $$;
    select add_fact_partition(month) from generate_series('2025-09-01T00:00:00Z'::timestamptz, now(), '1 month') month`);
}

const record = (facts: readonly DeliveryFact[]) => recordFacts(tables.pool, facts, lists, createCountingMemory());
const october = 'fact_202510';

/** Ends what is older than 13 months at this time. */
async function sweep(now: string): Promise<number> {
  await moveKeptFrom(tables.pool, new Date(now), 13);
  for (const remove of [removeRequests, removePendingFacts]) while ((await remove(tables.pool, 100)) > 0) continue;
  const ended = await turnFactPartitions(tables.pool);
  while ((await removeFacts(tables.pool, 100)) === 100) continue;
  return ended;
}

/** The facts with ids of public-delivery, each of its own time. */
const withOwnIds = (facts: readonly DeliveryFact[], seed: number): DeliveryFact[] =>
  facts.map((one, index) => {
    if (one.kind !== 'byte_range_served') return one;
    const random = Buffer.alloc(10);
    random.writeUInt32BE(index);
    random.writeUInt32BE(seed, 4);
    return { ...one, fact_id: factIdAt(Date.parse(one.started_at), random, index) };
  });

/** A fact every 20 hours of one listener, whose key changes with the month. */
const nightly = (nights: number): ByteRangeServed[] =>
  Array.from({ length: nights }, (_, n) => {
    const at = new Date(Date.UTC(2025, 9, 29, 10) + n * 20 * 3_600_000).toISOString();
    const isFirst = at >= '2025-11' && at < '2025-11-03';
    return fact({
      ...{ fact_id: `night ${n}`, started_at: at, listener_key: `every night ${at.slice(0, 7)}` },
      ...(isFirst && { previous_listener_key: 'every night 2025-10' }),
    });
  });

const numbers = async () => {
  const read = async (table: string) =>
    (await tables.pool.query<object>(`select * from ${table}`)).rows.map((row) => JSON.stringify(row)).toSorted();
  return Promise.all(['download_hour', 'download_audience_hour', 'ad_hour', 'session', 'rolling_download'].map(read));
};
const count = async (table: string) =>
  (await tables.pool.query<{ n: number }>(`select count(*)::int as n from ${table}`)).rows[0]!.n;

test('after a month of facts has ended, random listening and an unbroken run are counted as if it had not', async () => {
  for (const seed of [1, 2, 3, 4]) {
    const nights = nightly(16);
    const facts = withOwnIds([...randomFacts(seed), ...nights.slice(0, 12), seen()], seed);
    const later = withOwnIds(nights, seed + 100).slice(12);
    await emptyTables(tables.database);
    await record([...facts, ...later]);
    const expected = await numbers();
    await emptyTables(tables.database);
    await beginInSeptember2025();
    await record(facts);
    const ofOctober = await count(october);
    expect(ofOctober).toBeGreaterThan(20);
    // October ends when its last fact is 13 months and four days old.
    expect(await sweep('2026-12-04T23:00:00Z')).toBe(1);
    expect(await sweep('2026-12-05T01:00:00Z')).toBe(1);
    expect(await partitions(tables.pool)).not.toContain(october);
    // Those of the nights in October.
    expect(await count('fact_rest')).toBe(4);
    // The bus delivers once more what was removed.
    await record(facts);
    await record(later);
    expect(await numbers()).toEqual(expected);
  }
});

test('ending a month costs the same however many facts it has, and no statement reads those that stay', async () => {
  const { pool, admin, database } = tables;
  await beginInSeptember2025();
  const insertDays = (days: number, rowsPerDay: number, first: string, idOf: string, listsVersion: string) =>
    admin.query(
      `insert into fact (fact_id, request_id, started_at, at, workspace_id, podcast_id, episode_id, layout_digest, method, status,
         requested, written, published_at, listener_key, address_key, address_verdict, prefetch, country, region, late, lists_version)
       select ${idOf}, 'req', day, day, 'ws_1', 'pod_1', 'ep_1', 'layout', 'GET', 200, '{}', '{}', day, 'listener ' || n, '', 'ok', false,
         'DE', 'unknown', false, $4
       from (select day, first_fact_id(day) as first_of_day
             from generate_series($1::timestamptz, $1::timestamptz + ($2 - 1) * interval '1 day', '1 day') day) as days,
         generate_series(1, $3) n`,
      [first, days, rowsPerDay, listsVersion],
    );
  // 80,000 facts of 40 days from October on, one of September, and many older ones of another party.
  const own = `first_of_day || lpad(n::text, 16, '0')`;
  await insertDays(40, 2_000, '2025-10-01T00:00:00Z', own, '1');
  await insertDays(1, 1, '2025-09-20T00:00:00Z', own, '1');
  await insertDays(1, 20_000, '2025-01-01T00:00:00Z', `'batch:' || n`, 'declared by them');
  // Requests of those days, of which 100,000 are too young to be removed, and 20,000 old ones of another party.
  const insertRequests = (listeners: string, first: string, userAgent: string, rows: number) =>
    admin.query(
      `insert into served_request (listener_key, episode_id, request_id, workspace_id, podcast_id, arrangement_id, layout_digest,
         started_at, written, country, region, user_agent_digest)
       select $1 || n, 'ep_1', 'req_1', 'ws_1', 'pod_1', 'arr_1', 'layout', $2::timestamptz + n * interval '10 seconds', '{}', 'DE', 'unknown',
         $3 from generate_series(1, $4) n`,
      [listeners, first, userAgent, rows],
    );
  await insertRequests('young ', '2025-11-06T00:00:00Z', userAgentDigest('Overcast')!, 100_000);
  await insertRequests('theirs ', '2025-01-01T00:00:00Z', userAgentDigest(declaredUserAgents.ok)!, 20_000);
  await database.vacuum();
  await moveKeptFrom(pool, new Date('2026-12-06T00:00:00Z'), 13);

  /** Bytes of write-ahead log that ending the oldest month takes. */
  const endMonth = async (): Promise<number> => {
    const lsn = async () =>
      (await admin.query<{ lsn: string }>('select pg_current_wal_insert_lsn() as lsn')).rows[0]!.lsn;
    const before = await lsn();
    await pool.query('select end_fact_partition()');
    const { rows } = await admin.query<{ bytes: string }>('select $1::pg_lsn - $2::pg_lsn as bytes', [
      await lsn(),
      before,
    ]);
    return Number(rows[0]!.bytes);
  };
  const [ofOne, ofMany] = [await endMonth(), await endMonth()];
  expect(await partitions(pool)).not.toContain(october);
  expect(await count('fact')).toBe(2_000 * 9 + 20_000);
  // A row of a delete alone takes more than 50 bytes of log: 3 MB for these.
  expect(ofMany).toBeLessThan(ofOne + 50_000);

  const statements = await recordStatements(pool, async () => {
    await moveKeptFrom(pool, new Date('2026-12-06T00:00:00Z'), 13);
    for (const remove of [removeRequests, removePendingFacts, removeFacts]) await remove(pool, 1_000);
    await turnFactPartitions(pool);
  });
  expect(statements.length).toBeGreaterThan(5);
  for (const statement of statements) {
    const { rows, blocks } = await costOf(pool, statement);
    expect({ statement: statement.text, isSmall: rows < 100 && blocks < 1_000 }).toEqual({
      statement: statement.text,
      isSmall: true,
    });
  }
});
