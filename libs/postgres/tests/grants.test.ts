import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import pg from 'pg';
import { provisionOwners, sealMigrationHistory, type SchemaOwner } from '../src/provision.ts';

const owners: readonly SchemaOwner[] = ['product', 'identity', 'delivery', 'serving', 'audience'].map((schema) => ({
  schema,
  role: `longwave_${schema}`,
  password: 'test-only',
}));

let database: TestDatabase;

async function query(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

const urlOf = ({ role, password }: SchemaOwner) =>
  Object.assign(new URL(database.adminUrl), { username: role, password }).href;

/** Insufficient privilege (SQLSTATE 42501), whatever the sentence. */
const denied = expect.objectContaining({ code: '42501' });

beforeAll(async () => {
  database = await startTestDatabase({ schema: 'product' });
  await provisionOwners(database.adminUrl, owners);
  for (const { schema } of owners)
    await query(
      database.adminUrl,
      `CREATE TABLE ${schema}.thing (id bigserial PRIMARY KEY, note text);
       CREATE TABLE ${schema}._prisma_migrations (id text);
       CREATE FUNCTION ${schema}.answer() RETURNS int LANGUAGE sql AS 'SELECT 42'`,
    );
  await provisionOwners(database.adminUrl, owners);
  await sealMigrationHistory(database.adminUrl, owners);
});

afterAll(() => database.stop());

describe.each(owners)('the role $role', (owner) => {
  const other = owners.find(({ schema }) => schema !== owner.schema) as SchemaOwner;
  const { schema } = owner;

  test('reads and writes the rows of its own schema', async () => {
    const url = urlOf(owner);
    await query(url, `INSERT INTO ${schema}.thing (note) VALUES ('a')`);
    await query(url, `UPDATE ${schema}.thing SET note = 'b'`);
    expect((await query(url, `SELECT note, ${schema}.answer() AS answer FROM ${schema}.thing`)).rows).toEqual([
      { note: 'b', answer: 42 },
    ]);
    expect((await query(url, `DELETE FROM ${schema}.thing`)).rowCount).toBe(1);
  });

  test.each([
    ['read another schema', `SELECT * FROM ${other.schema}.thing`],
    ['write to another schema', `INSERT INTO ${other.schema}.thing (note) VALUES ('a')`],
    ['call a function of another schema', `SELECT ${other.schema}.answer()`],
    ['create a table in its schema', `CREATE TABLE ${schema}.more (id int)`],
    ['create a table in public', 'CREATE TABLE public.more (id int)'],
    ['create a temporary table', 'CREATE TEMPORARY TABLE more (id int)'],
    ['create a schema', 'CREATE SCHEMA more'],
    ['create a database', 'CREATE DATABASE more'],
    ['create a role', 'CREATE ROLE more'],
    ['create an extension', `CREATE EXTENSION file_fdw SCHEMA ${schema}`],
    ['change a table', `ALTER TABLE ${schema}.thing ADD COLUMN more int`],
    ['drop a table', `DROP TABLE ${schema}.thing`],
    ['drop its schema', `DROP SCHEMA ${schema} CASCADE`],
    ['empty a table by TRUNCATE', `TRUNCATE ${schema}.thing`],
    ['add a trigger', `CREATE TRIGGER t AFTER INSERT ON ${schema}.thing EXECUTE FUNCTION ${schema}.answer()`],
    ['read password hashes', 'SELECT * FROM pg_authid'],
    ['become another role', `SET ROLE ${other.role}`],
    ['become the superuser', 'SET SESSION AUTHORIZATION postgres'],
    ['raise its own rights', `ALTER ROLE ${owner.role} CREATEDB`],
    ['change another role', `ALTER ROLE ${other.role} PASSWORD 'x'`],
    ['grant its rights on', `GRANT ALL ON SCHEMA ${schema} TO ${other.role}`],
    ['read a file of the server', `COPY ${schema}.thing (note) FROM '/etc/passwd'`],
    ['run a program on the server', `COPY ${schema}.thing (note) FROM PROGRAM 'id'`],
    ['read the migration history', `SELECT * FROM ${schema}._prisma_migrations`],
    ['forge the migration history', `INSERT INTO ${schema}._prisma_migrations VALUES ('x')`],
  ])('may not %s', async (_what, sql) => {
    const attempt = query(urlOf(owner), sql);
    if (sql.startsWith('GRANT')) {
      // PostgreSQL answers a grant without any right with a warning and grants nothing.
      await attempt.catch(() => undefined);
      const check = `SELECT has_schema_privilege('${other.role}', '${schema}', 'USAGE') AS granted`;
      expect((await query(database.adminUrl, check)).rows).toEqual([{ granted: false }]);
    } else await expect(attempt).rejects.toEqual(denied);
  });
});

test('a role that owns nothing here cannot even connect', async () => {
  await query(
    database.adminUrl,
    `DO $$ BEGIN CREATE ROLE longwave_stranger LOGIN PASSWORD 'test-only'; EXCEPTION WHEN duplicate_object THEN NULL; END $$`,
  );
  const stranger = { schema: 'none', role: 'longwave_stranger', password: 'test-only' };
  await expect(query(urlOf(stranger), 'SELECT 1')).rejects.toEqual(denied);
});

test('provisioning the same owners from several sessions at once succeeds', async () => {
  await expect(
    Promise.all(Array.from({ length: 6 }, () => provisionOwners(database.adminUrl, owners))),
  ).resolves.toHaveLength(6);
});
