import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort, startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { until } from '@longwave/test-kit';
import pg from 'pg';
import {
  copyRows,
  createPool,
  pingDatabase,
  queryPrepared,
  sendStatement,
  transaction,
  type Pool,
} from '../src/index.ts';

const pgbouncer = process.env['TEST_PGBOUNCER'];
if (!pgbouncer && process.env['REQUIRE_FOREIGN_ENGINES'])
  test('a pooler needs pgbouncer: set TEST_PGBOUNCER', () => {
    throw new Error('REQUIRE_FOREIGN_ENGINES=1, but TEST_PGBOUNCER is not set.');
  });

const nobody = 65_534;

/** PgBouncer in session mode in front of a database, with so many connections to it. @returns the database's address there */
async function startPooler(stack: AsyncDisposableStack, url: string, connections: number): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'longwave-pgbouncer-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const { hostname, port, username, password, pathname } = new URL(url);
  const listenPort = await freePort();
  // Where that user may read them, with their libraries.
  cpSync(pgbouncer!, path.join(folder, 'pgbouncer'));
  const libraries = path.join(path.dirname(pgbouncer!), '../lib');
  for (const place of existsSync(libraries) ? readdirSync(libraries).filter((it) => it.endsWith('-linux-gnu')) : [])
    cpSync(path.join(libraries, place), folder, { recursive: true, verbatimSymlinks: true });
  const users = path.join(folder, 'users.txt');
  writeFileSync(users, `"${username}" "${password}"\n`);
  const settings = path.join(folder, 'pgbouncer.ini');
  writeFileSync(
    settings,
    `[databases]
* = host=${hostname} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = session
server_reset_query = DISCARD ALL
default_pool_size = ${connections}
max_client_conn = 200
`,
  );
  // PgBouncer refuses to run as root.
  const asNobody = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  for (const file of 'uid' in asNobody ? [folder, users, settings] : []) chownSync(file, nobody, nobody);
  const env = { LD_LIBRARY_PATH: folder };
  const child = spawn(path.join(folder, 'pgbouncer'), [settings], { stdio: 'ignore', env, ...asNobody });
  stack.defer(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const there = Object.assign(new URL(url), { host: `127.0.0.1:${listenPort}`, pathname });
  const answers = async () => {
    const client = new pg.Client({ connectionString: there.href });
    try {
      await client.connect();
      return (await client.query('select 1')).rowCount === 1;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  await until('PgBouncer answers', answers);
  return there.href;
}

(pgbouncer ? describe : describe.skip)('PgBouncer in session mode (needs TEST_PGBOUNCER)', () => {
  const stack = new AsyncDisposableStack();
  let database: TestDatabase;
  let pooled: string;
  const open = (options: Partial<Parameters<typeof createPool>[2]> = {}): Pool =>
    createPool(pooled, 'product', { name: 'pooled', max: 4, ...options });

  beforeAll(async () => {
    database = stack.use(await startTestDatabase({ schema: 'product' }));
    const admin = stack.adopt(new pg.Client({ connectionString: database.adminUrl }), (it) => it.end());
    await admin.connect();
    await admin.query('create table product.note (id int primary key); grant all on product.note to public');
    pooled = await startPooler(stack, database.url, 4);
  });
  afterAll(() => stack.disposeAsync());

  test('each client has the settings of its own pool, also on a connection that another client had before', async () => {
    const ofLists = open({ max: 4, readsPages: true, statementTimeoutMs: 5_000 });
    const read = async (pool: Pool) =>
      (
        await pool.query<object>(
          `select current_schema() as schema, current_setting('enable_bitmapscan') as bitmapscan,
             current_setting('statement_timeout') as timeout from pg_sleep(0.05)`,
        )
      ).rows[0];
    const all = await Promise.all(Array.from({ length: 8 }, () => read(ofLists)));
    expect(new Set(all.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify({ schema: 'product', bitmapscan: 'off', timeout: '5s' })]),
    );
    await ofLists.end();
    const plain = open();
    const after = await Promise.all(Array.from({ length: 8 }, () => read(plain)));
    expect(new Set(after.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify({ schema: 'product', bitmapscan: 'on', timeout: '30s' })]),
    );
    await plain.end();
  });

  test('prepared statements, transactions, statements that are sent and COPY work, on connections that changed hands', async () => {
    for (const round of [1, 2, 3]) {
      const [pool, copying] = [open({ max: 2 }), open({ max: 2, copies: true })];
      expect(await pingDatabase(pool)).toBe(true);
      await transaction(pool, async (tx) => {
        sendStatement(tx, { name: 'insert_note', text: 'insert into note values ($1)', values: [round * 10] });
        sendStatement(tx, { name: 'insert_note', text: 'insert into note values ($1)', values: [round * 10 + 1] });
      });
      await transaction(copying, (tx) => copyRows(tx, 'note', 'id', [{ id: round * 10 + 2 }]));
      const { rows } = await queryPrepared<{ id: number }>(pool, 'select id from note where id >= $1 order by 1', [
        round * 10,
      ]);
      expect(rows.map(({ id }) => id)).toEqual([round * 10, round * 10 + 1, round * 10 + 2]);
      await Promise.all([pool.end(), copying.end()]);
    }
  });

  test('a process that asks for more connections than the pooler has waits for one, and gets its answer', async () => {
    const [first, second] = [open({ max: 3 }), open({ max: 3 })];
    await Promise.all([1, 2, 3].map(() => first.query('select pg_sleep(0.2)')));
    setTimeout(() => void first.end(), 300);
    const answers = await Promise.all(Array.from({ length: 9 }, () => second.query('select 1')));
    expect(answers).toHaveLength(9);
    await second.end();
  });
});
