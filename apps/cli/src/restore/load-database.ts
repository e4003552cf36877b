import { createReadStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { historyTable } from '../backup/dump-database.ts';
import type { Manifest, SchemaDump, TableDump } from '../backup/manifest.ts';

const name = pg.escapeIdentifier;

/** Refuses a schema that other migrations made: its rows would not fit, or not mean the same. */
async function assertMigrations(client: pg.Client, { name: schema, migrations }: SchemaDump, version: string) {
  const { rows } = await client.query<SchemaDump['migrations'][number]>(
    `select migration_name as name, checksum from ${name(schema)}.${name(historyTable)}
     where finished_at is not null and rolled_back_at is null order by migration_name collate "C"`,
  );
  if (JSON.stringify(rows) !== JSON.stringify(migrations))
    throw new Error(
      `The backup was made by version ${version}, whose tables of schema ${schema} differ from those of this version. ` +
        `Restore it with version ${version}, then upgrade.`,
    );
}

async function loadTable(client: pg.Client, backup: string, schema: string, table: TableDump): Promise<void> {
  const columns = table.columns.map((column) => name(column)).join(', ');
  const copy = client.query(copyFrom(`copy ${name(schema)}.${name(table.name)} (${columns}) from stdin`));
  await pipeline(createReadStream(path.join(backup, table.file)), createGunzip(), copy);
  if (copy.rowCount !== table.rows)
    throw new Error(`${schema}.${table.name} has ${copy.rowCount} rows, and the backup says ${table.rows}.`);
}

/**
 * Brings the rows of a backup into a database whose schemas are migrated, in place of what it has: all in one transaction.
 * @param url as superuser: triggers that keep history from being rewritten do not see the rows of a restore
 */
export async function loadDatabase(
  url: string,
  backup: string,
  { database, version }: Pick<Manifest, 'database' | 'version'>,
  onTable: (schema: string, table: string) => void,
): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'restore', connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    for (const schema of database.schemas) await assertMigrations(client, schema, version);
    await client.query('begin');
    await client.query('set local session_replication_role = replica; set local statement_timeout = 0');
    for (const { name: schema, tables } of database.schemas)
      for (const table of tables) {
        onTable(schema, table.name);
        await client.query(`delete from ${name(schema)}.${name(table.name)}`);
        await loadTable(client, backup, schema, table);
      }
    for (const { name: schema, sequences } of database.schemas)
      for (const { name: sequence, last, is_called } of sequences)
        await client.query('select setval($1::regclass, $2::bigint, $3)', [
          `${name(schema)}.${name(sequence)}`,
          last,
          is_called,
        ]);
    await client.query('commit');
    await client.query('analyze');
  } finally {
    await client.end();
  }
}
