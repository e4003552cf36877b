import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { createPool, type Pool } from '@longwave/postgres';
import { entersStages } from '../src/ads/enter-stages.ts';

/**
 * Empties every table of the schema but the history of its migrations, with the rights of the one who made them. Few rows are deleted
 * faster than TRUNCATE makes new files for every table and index. Foreign keys are not checked: nothing stays.
 */
export async function emptyTables({ adminUrl }: Pick<TestDatabase, 'adminUrl'>): Promise<void> {
  const pool = createPool(adminUrl, 'audience', { name: 'test', copies: true, max: 1 });
  try {
    const { rows } = await pool.query<{ table: string }>(
      `select quote_ident(tablename) as table from pg_tables where schemaname = 'audience' and tablename not like '\\_%'`,
    );
    const tables = rows.map(({ table }) => table);
    const deletions = tables.map((table) => `delete from ${table};`).join(' ');
    await pool.query(
      `begin; set local session_replication_role = replica; lock table ${tables.join(', ')}; ${deletions} commit`,
    );
  } finally {
    await pool.end();
  }
}

/** Removes what other platforms have reported, with the rights of the one who made the tables. */
export async function emptyEvidence(admin: Pool): Promise<void> {
  await admin.query('delete from evidence_row');
  await admin.query('delete from evidence_report');
}

export interface Tables {
  readonly database: TestDatabase;
  /** With the rights of the service. */
  readonly pool: Pool;
  /** With the rights of the one who made the tables. */
  readonly admin: Pool;
}

/** Gives the tests of a file a database of the service, empty at the beginning of each; it is told to `assign` before the first. */
export function useTables(assign: (tables: Tables) => void): void {
  let tables: Tables | undefined;
  beforeAll(async () => {
    const database = await startTestDatabase({ schema: 'audience', migrations: 'apps/analytics-sink/prisma' });
    const pool = createPool(database.url, 'audience', { name: 'test', copies: true, settings: entersStages });
    const admin = createPool(database.adminUrl, 'audience', { name: 'test', copies: true });
    tables = { database, pool, admin };
    assign(tables);
  });
  afterAll(async () => {
    await tables?.pool.end();
    await tables?.admin.end();
    await tables?.database.stop();
  });
  beforeEach(() => emptyTables(tables!.database));
}
