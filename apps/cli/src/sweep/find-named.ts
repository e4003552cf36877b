import pg from 'pg';
import { namedObjects } from '../restore/named-objects.ts';

const name = pg.escapeIdentifier;

/**
 * Schemas in which a digest may stand anywhere. The others name no object of the swept folders: `audience` has numbers and their facts, and
 * `serving` decisions, whose archive has a folder of its own.
 */
const searchedSchemas: readonly string[] = ['delivery', 'exchange', 'identity', 'product'];
/** Has a row for each play of half a year, and names arrangements. */
const unsearchedTables = ['binding'];

interface TextTable {
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly string[];
}

/** Every table of these schemas with its columns of text and JSON, whatever they are called: also those that a later release adds. */
async function listTextTables(client: pg.Client): Promise<readonly TextTable[]> {
  const { rows } = await client.query<TextTable>(
    `select n.nspname as schema, c.relname as table, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where n.nspname = any($1) and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all($2)
       and a.atttypid = any('{text,varchar,json,jsonb,text[]}'::regtype[])
     group by 1, 2 order by 1, 2`,
    [searchedSchemas, unsearchedTables],
  );
  return rows;
}

/**
 * The keys among these that a row names, by one snapshot of the database. A row names an object when one of `namedObjects` says so, or when
 * the object's digest stands anywhere in a text or JSON column: of a resource or a former revision of it, of a queued job, of what was
 * delivered, of a message of another platform.
 * @param url of the database, as superuser
 * @param digests SHA-256 (hex) by key
 */
export async function findNamed(url: string, digests: ReadonlyMap<string, string>): Promise<ReadonlySet<string>> {
  const client = new pg.Client({ connectionString: url, application_name: 'sweep', connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('begin isolation level repeatable read');
    await client.query('set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0');
    await client.query('create temp table candidate (key text primary key, digest text) on commit drop');
    await client.query('insert into candidate select * from unnest($1::text[], $2::text[])', [
      [...digests.keys()],
      [...digests.values()],
    ]);
    await client.query('create index on candidate (digest); analyze candidate');
    const found = new Set<string>();
    const find = async (query: string) => {
      for (const { key } of (await client.query<{ key: string }>(query)).rows) found.add(key);
    };
    for (const source of namedObjects)
      await find(`select distinct c.key from (${source}) as named join candidate c on c.key = named.key`);
    for (const { schema, table, columns } of await listTextTables(client)) {
      const text = `concat_ws(' ', ${columns.map((column) => `t.${name(column)}::text`).join(', ')})`;
      await find(
        `select distinct c.key from ${name(schema)}.${name(table)} t
         cross join lateral regexp_matches(${text}, '[0-9a-f]{64}', 'g') found join candidate c on c.digest = found[1]`,
      );
    }
    await client.query('commit');
    return found;
  } finally {
    await client.end();
  }
}
