import { randomBytes, randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Fleet } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { until } from '@longwave/test-kit';
import pg from 'pg';
import { findLoadTool, load } from './load.ts';
import type { Row } from './measure.ts';
import type { Stitched } from './stitched.ts';

const seconds = 5;
const baselineRows = 4_000;
/** Rows of one statement of the baseline: about as many as the services store together under this load. */
const baselineBatch = 8;

/** Bytes so far. */
interface Bytes {
  readonly heap: number;
  readonly indexes: number;
  /** Of the write-ahead log. */
  readonly log: number;
}

async function readBytes(client: pg.Client, schemas: readonly string[]): Promise<Bytes> {
  const { rows } = await client.query<{ heap: string; indexes: string; log: string }>(
    `select coalesce(sum(pg_table_size(c.oid)), 0) as heap, coalesce(sum(pg_indexes_size(c.oid)), 0) as indexes,
            pg_current_wal_insert_lsn() - '0/0' as log
     from pg_class c where c.relkind = 'r' and c.relnamespace::regnamespace::text = any ($1)`,
    [schemas],
  );
  const [row] = rows;
  return { heap: Number(row!.heap), indexes: Number(row!.indexes), log: Number(row!.log) };
}

const perItem = (before: Bytes, after: Bytes, items: number): Bytes => ({
  heap: (after.heap - before.heap) / items,
  indexes: (after.indexes - before.indexes) / items,
  log: (after.log - before.log) / items,
});

/** A row of keys and a time for each play: what nobody could do without. */
async function storeKeys(client: pg.Client): Promise<Bytes> {
  await client.query('create schema bench');
  await client.query(`create table bench.play (id uuid primary key, listener bytea not null, episode uuid not null,
    arrangement bytea not null, at timestamptz not null, unique (listener, episode))`);
  const before = await readBytes(client, ['bench']);
  for (let done = 0; done < baselineRows; done += baselineBatch)
    await client.query(
      `insert into bench.play select id, listener, $3, arrangement, now()
       from unnest($1::uuid[], $2::bytea[], $4::bytea[]) as one (id, listener, arrangement)`,
      [
        Array.from({ length: baselineBatch }, () => randomUUID()),
        Array.from({ length: baselineBatch }, () => randomBytes(16)),
        randomUUID(),
        Array.from({ length: baselineBatch }, () => randomBytes(16)),
      ],
    );
  const bytes = perItem(before, await readBytes(client, ['bench']), baselineRows);
  await client.query('drop schema bench cascade');
  return bytes;
}

const countPlays = async (client: pg.Client) =>
  (await client.query<{ plays: number }>('select count(*)::int as plays from delivery.binding')).rows[0]!.plays;

/**
 * What PostgreSQL stores for each new play of a listener in the schemas of serving and delivery, with decision, arrangement, binding and
 * announcement: heap, indexes, and the log of all of it, against a row of the play's keys. Counting is stopped meanwhile.
 */
export async function storedBytes(fleet: Fleet, stitched: Stitched, folder: string): Promise<Row[]> {
  const tool = await findLoadTool();
  if (!tool) return [];
  const database = Object.assign(new URL(fleet.engines.postgres.first.adminUrl), { pathname: '/longwave' });
  const client = new pg.Client({ connectionString: database.href });
  await client.connect();
  await fleet.services['analytics-sink'].stop();
  try {
    const schemas = ['serving', 'delivery'];
    const [before, playsBefore] = [await readBytes(client, schemas), await countPlays(client)];
    const options = { folder: path.join(folder, newId('job')), connections: 16, seconds };
    await load(tool, stitched.enclosureUrl, { newListeners: true }, options);
    await until('all decisions are announced', async () => {
      const { rowCount } = await client.query('select from serving.announcement_batch');
      return rowCount === 0;
    });
    const plays = (await countPlays(client)) - playsBefore;
    const ours = perItem(before, await readBytes(client, schemas), plays);
    const baseline = await storeKeys(client);
    const row = (name: string, of: (bytes: Bytes) => number): Row => ({
      ...{
        name: `stored per new play, ${name} (less is better)`,
        unit: 'bytes',
        ours: of(ours),
        baseline: of(baseline),
      },
      ...{ baselineName: 'a row of its keys with two unique indexes', ratio: of(ours) / of(baseline) },
    });
    return [
      row('heap', ({ heap }) => heap),
      row('indexes', ({ indexes }) => indexes),
      row('write-ahead log', ({ log }) => log),
    ];
  } finally {
    await fleet.services['analytics-sink'].start();
    await client.end();
  }
}
