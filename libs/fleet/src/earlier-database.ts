import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createPool, type Pool } from '@longwave/postgres';
import { listMigrations } from './list-migrations.ts';
import { startTestDatabase } from './test-database.ts';
import { workspaceRoot } from './workspace-root.ts';

/** A database as it was before a migration. Disposing removes it. */
export interface EarlierDatabase extends AsyncDisposable {
  readonly pool: Pool;
  /** Applies that migration and all later ones. */
  upgrade(): Promise<void>;
}

/**
 * A fresh database with the migrations of one app up to a point, for rows of an older version.
 * @param migrations Prisma folder relative to the repository ("apps/management/prisma")
 * @param before end of the name of the first migration that is left for `upgrade`
 */
export async function startEarlierDatabase(migrations: string, before: string): Promise<EarlierDatabase> {
  await using stack = new AsyncDisposableStack();
  const folder = path.join(workspaceRoot, migrations);
  const names = listMigrations(folder).map(({ name }) => name);
  const at = names.findIndex((name) => name.endsWith(before));
  if (at < 0) throw new Error(`${migrations} has no migration whose name ends in ${before}`);
  const database = stack.use(await startTestDatabase({ schema: 'earlier' }));
  const pool = stack.adopt(createPool(database.adminUrl, 'earlier', { name: 'test' }), (each) => each.end());
  const apply = async (some: readonly string[]) => {
    for (const name of some)
      await pool.query(readFileSync(path.join(folder, 'migrations', name, 'migration.sql'), 'utf8'));
  };
  await apply(names.slice(0, at));
  const owned = stack.move();
  return { pool, upgrade: () => apply(names.slice(at)), [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
