import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { createPool, type Pool } from '@longwave/postgres';
import { emptyTables } from './_facts.ts';

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
    const pool = createPool(database.url, 'audience', { name: 'test' });
    const admin = createPool(database.adminUrl, 'audience', { name: 'test' });
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
