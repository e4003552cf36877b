import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { startTestStore, type TestStore } from './_store.ts';

let store: TestStore;
const workspaceId = newId('ws');
beforeAll(async () => {
  store = await startTestStore();
  await store.create(workspaceId);
});
afterAll(async () => store[Symbol.asyncDispose]());

const history = ['revision', 'receipt', 'change', 'outbox', 'operation'] as const;
const rowsOf = async () =>
  Object.fromEntries(
    await Promise.all(
      history.map(async (table) => [table, (await store.admin.query(`select * from ${table}`)).rows] as const),
    ),
  );
/** SQLSTATE of the refusal; undefined when the statement was carried out. */
const refusal = (pool: Pool, sql: string) =>
  pool.query(sql).then(
    () => undefined,
    (error: { readonly code: string }) => error.code,
  );

const attempts = [
  ...(['revision', 'receipt', 'change'] as const).flatMap((table) => [
    `update ${table} set operation_id = 'op_forged'`,
    `delete from ${table}`,
    `truncate ${table} cascade`,
  ]),
  `update outbox set payload = '{}'`,
  `update outbox set published_at = null`,
  `update outbox set key = 'ws_other', published_at = now()`,
  'delete from outbox',
  'truncate outbox',
  `update operation set state = 'running'`,
];

test('an event is marked as published once, by the service', async () => {
  const marked = await store.pool.query('update outbox set published_at = now() where published_at is null');
  expect(marked.rowCount).toBe(1);
  expect(await refusal(store.pool, 'update outbox set published_at = now()')).toBe('23001');
});

test.each(attempts)('no role can: %s', async (sql) => {
  const before = await rowsOf();
  for (const table of history) expect(before[table]).toHaveLength(1);
  // The role of the service, and a superuser that owns the tables.
  expect(await refusal(store.pool, sql)).toMatch(/^(42501|23001)$/);
  expect(await refusal(store.admin, sql)).toBe('23001');
  expect(await rowsOf()).toEqual(before);
});

test('the role of the service has no right to change history', async () => {
  const { rows } = await store.admin.query<{ table: string; right: string }>(
    `select distinct t as "table", r as "right" from unnest($1::text[]) t, unnest($2::text[]) r
     where has_table_privilege('longwave_product', 'product.' || t, r)
        or (t <> 'outbox' and r = 'UPDATE' and has_any_column_privilege('longwave_product', 'product.' || t, r))`,
    [
      ['revision', 'receipt', 'change', 'outbox'],
      ['UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER', 'REFERENCES'],
    ],
  );
  expect(rows).toEqual([]);
});
