import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { writeDigested } from './digested-file.ts';
import type { BackupFile, Manifest, SchemaDump, TableDump } from './manifest.ts';

const name = pg.escapeIdentifier;

/** The table in which Prisma keeps which migrations a schema has. */
export const historyTable = '_prisma_migrations';

interface Column {
  readonly table: string;
  readonly columns: readonly string[];
}

/** The tables of a schema with their columns, but for those that PostgreSQL computes. A partition comes with its table. */
async function listTables(client: pg.Client, schema: string): Promise<readonly Column[]> {
  const { rows } = await client.query<Column>(
    `select c.relname as table, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where n.nspname = $1 and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> $2
     group by c.relname order by c.relname`,
    [schema, historyTable],
  );
  return rows;
}

/**
 * The value of a column in the backup. An event that was put on the bus just before the snapshot may have come there after the messages that
 * the backup has: it counts as not sent, and goes there once more.
 */
const valueOf = (table: string, column: string) =>
  table === 'outbox' && column === 'published_at'
    ? `case when published_at <= now() - interval '10 seconds' then published_at end`
    : name(column);

/** Writes one table. The rows are in the text format of COPY, so that any newer PostgreSQL reads them. */
async function dumpTable(
  client: pg.Client,
  backup: string,
  schema: string,
  { table, columns }: Column,
): Promise<{ readonly dump: TableDump; readonly file: BackupFile }> {
  const file = `database/${schema}.${table}.copy.gz`;
  const values = columns.map((column) => valueOf(table, column)).join(', ');
  const copy = client.query(copyTo(`copy (select ${values} from ${name(schema)}.${name(table)}) to stdout`));
  const gzip = createGzip();
  const [written] = await Promise.all([writeDigested(gzip, path.join(backup, file)), pipeline(copy, gzip)]);
  return {
    dump: { name: table, columns: [...columns], rows: copy.rowCount, file },
    file: { path: file, ...written },
  };
}

async function listMigrationsOf(client: pg.Client, schema: string): Promise<SchemaDump['migrations']> {
  const { rows } = await client.query<SchemaDump['migrations'][number]>(
    `select migration_name as name, checksum from ${name(schema)}.${name(historyTable)}
     where finished_at is not null and rolled_back_at is null order by migration_name collate "C"`,
  );
  return rows;
}

/** Where the sequences of a schema stand. They may be further than the snapshot, never behind it. */
async function listSequences(client: pg.Client, schema: string): Promise<SchemaDump['sequences']> {
  const { rows } = await client.query<{ readonly name: string }>(
    'select sequencename as name from pg_sequences where schemaname = $1 order by 1',
    [schema],
  );
  const found: SchemaDump['sequences'] = [];
  for (const { name: sequence } of rows) {
    const { rows: at } = await client.query<{ readonly last: string; readonly is_called: boolean }>(
      `select last_value::text as last, is_called from ${name(schema)}.${name(sequence)}`,
    );
    found.push({ name: sequence, ...at[0]! });
  }
  return found;
}

/** A snapshot of a database in a backup's folder. */
export interface DatabaseDump {
  readonly snapshotAt: Date;
  readonly database: Manifest['database'];
  readonly files: readonly BackupFile[];
}

interface DumpEvents {
  /** Called once the moment of the snapshot is over, before the first table is read; waited for. */
  readonly onSnapshot: (at: Date) => Promise<void>;
  readonly onTable: (schema: string, table: string) => void;
}

/**
 * Writes all rows of the schemas as they are at one moment: one transaction reads everything (REPEATABLE READ), and no writer waits for it.
 * @param url of the database, as superuser
 * @param backup absolute
 */
export async function dumpDatabase(
  url: string,
  backup: string,
  schemas: readonly string[],
  { onSnapshot, onTable }: DumpEvents,
): Promise<DatabaseDump> {
  const client = new pg.Client({ connectionString: url, application_name: 'backup', connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    await client.query('set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0');
    const { rows } = await client.query<{ readonly at: Date; readonly version: string }>(
      `select now() as at, current_setting('server_version') as version`,
    );
    await onSnapshot(rows[0]!.at);
    const dumps: SchemaDump[] = [];
    const files: BackupFile[] = [];
    for (const schema of schemas) {
      const tables: TableDump[] = [];
      for (const table of await listTables(client, schema)) {
        onTable(schema, table.table);
        const { dump, file } = await dumpTable(client, backup, schema, table);
        tables.push(dump);
        files.push(file);
      }
      dumps.push({
        name: schema,
        migrations: await listMigrationsOf(client, schema),
        tables,
        sequences: await listSequences(client, schema),
      });
    }
    await client.query('commit');
    return { snapshotAt: rows[0]!.at, database: { version: rows[0]!.version, schemas: dumps }, files };
  } finally {
    await client.end();
  }
}
