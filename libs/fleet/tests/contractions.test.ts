import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { ContractedSchema, isContraction } from '@longwave/postgres';
import { schemaOwners, services, type ServiceEntry } from '@longwave/services';
import pg from 'pg';
import { assertReleaseFits } from '../src/migrate-schema.ts';
import { startTestDatabase } from '../src/test-database.ts';
import { workspaceRoot } from '../src/workspace-root.ts';

const exchange: ServiceEntry = services['hosting-exchange'];
const apps = {
  services: { 'hosting-exchange': { ...exchange, calls: [] } },
  appFolder: (app: string) => path.join(workspaceRoot, 'apps', app),
  filesFolder: () => workspaceRoot,
};

test('a release is refused on a schema with a contraction that it does not know, in words, and goes on with any other newer migration', async () => {
  await using database = await startTestDatabase({
    schema: 'exchange',
    migrations: path.join(workspaceRoot, 'apps/hosting-exchange/prisma'),
  });
  const client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  const addMigration = (name: string) =>
    client.query(
      `insert into exchange._prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
       values (gen_random_uuid()::text, '0', $1, now(), 1)`,
      [name],
    );
  const deploy = () =>
    spawnSync(process.execPath, ['tools/migrate.mjs', 'deploy', '--dir', 'apps/hosting-exchange/prisma'], {
      cwd: workspaceRoot,
      encoding: 'utf8',
      env: { ...process.env, DATABASE_URL: `${database.adminUrl}?schema=exchange` },
    });
  try {
    await addMigration('20990101000000_add_column');
    await expect(assertReleaseFits(database.adminUrl, apps)).resolves.toBeUndefined();
    expect(deploy()).toMatchObject({ status: 0, stdout: 'nothing to apply\n' });
    await addMigration('20990102000000_contract_drop_column');
    await expect(assertReleaseFits(database.adminUrl, apps)).rejects.toThrow(ContractedSchema);
    await expect(assertReleaseFits(database.adminUrl, apps)).rejects.toThrow('20990102000000_contract_drop_column');
    expect(deploy()).toMatchObject({ status: 1, stderr: expect.stringMatching(/no way back .* restore a backup/) });
  } finally {
    await client.end();
  }
});

/** The last migration of 0.6.0. Those up to it are older than the rule. */
const ruledAfter = '20261126';
/** What a release that runs on the schema could still use. */
const takesAway = new RegExp(
  [
    String.raw`\bdrop\s+(table|column|view|function|trigger|type|default)\b`,
    String.raw`\brename\s+(to|column)\b`,
    String.raw`\balter\s+column\s+\S+\s+(set\s+data\s+)?type\b`,
    // What a row of that release may not fulfil.
    String.raw`\bset\s+not\s+null\b`,
    String.raw`\badd\s+(column\s+)?(?:(?!\bdefault\b)[^,;])*\bnot\s+null\b(?:(?!\bdefault\b)[^,;])*[,;]`,
    String.raw`\badd\s+constraint\b[^;]*?\b(check|unique|foreign\s+key|exclude)\b`,
    String.raw`\bcreate\s+unique\s+index\b`,
  ].join('|'),
  'i',
);

/** A script without its unique indexes of tables that it makes itself: the release before has no rows in them. */
function withoutIndexesOfNewTables(script: string): string {
  const made = new Set([...script.matchAll(/\bcreate\s+table\s+"?(\w+)/gi)].map(([, table]) => table));
  const index = /\bcreate\s+unique\s+index\s+\S+\s+on\s+"?(\w+)[^;]*;/gi;
  return script.replace(index, (statement, table: string) => (made.has(table) ? '' : statement));
}

/** Migrations with such a statement on which the release before goes on, and why. */
const harmless: Readonly<Record<string, string>> = {
  '20261127100000_fact_bound':
    'every fact before a month that is still to come fulfils it, and a later migration makes the partitions of later ones',
  '20261127100200_fact_partitions':
    'a partitioned table takes the name and the columns of the table, which becomes a part of it',
  '20261130120000_cohorts': 'the constraint takes the place of a narrower one',
  '20261129060000_tracker_fairness': 'the table that it drops came after the release before',
};

test('a migration that takes something away says so in its name', () => {
  const offenders = schemaOwners(services).flatMap(([app]) => {
    const folder = path.join(workspaceRoot, 'apps', app, 'prisma/migrations');
    return readdirSync(folder).filter((name) => {
      if (!/^\d{14}_/.test(name) || name < ruledAfter || isContraction(name) || name in harmless) return false;
      const script = readFileSync(path.join(folder, name, 'migration.sql'), 'utf8');
      return takesAway.test(withoutIndexesOfNewTables(script.replace(/^--.*$/gm, '')));
    });
  });
  expect(offenders).toEqual([]);
});
