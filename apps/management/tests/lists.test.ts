import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { productCatalog, sortKeysOf, type ResourceDefinition } from '@longwave/command-catalog';
import { createResourceReader, type ResourceReader } from '@longwave/command-pipeline';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createPool, transaction, type Pool } from '@longwave/postgres';
import { listHolders } from '../src/advertising/line-items/external-id-table.ts';

type ListQuery = Parameters<ResourceReader['listResources']>[0];

const cursorKey = randomBytes(32);
const gam = (id: string) => ({ source: 'gam', id });
let database: TestDatabase;
let pool: Pool;
let reader: ResourceReader;
const open = (on: Pool) =>
  createResourceReader({ pool: on, schema: 'product', catalog: productCatalog, cursorKey, clock: () => new Date() });
beforeAll(async () => {
  database = await startTestDatabase({ schema: 'product', migrations: 'apps/management/prisma' });
  pool = createPool(database.url, 'product', { name: 'test', readsPages: true });
  reader = open(pool);
});
afterAll(async () => {
  await reader[Symbol.asyncDispose]();
  await pool.end();
  await database[Symbol.asyncDispose]();
});

/** Inserts resources of a type, the first one created `count` seconds ago; `attributes` is SQL over the number `i`, from 1. */
async function insert(
  type: keyof typeof productCatalog.resources,
  workspaceId: string,
  count: number,
  attributes: string,
  state = `'draft'`,
): Promise<string[]> {
  const { prefix } = productCatalog.resources[type];
  const series = newId(prefix).slice(0, -7);
  const { rows } = await pool.query<{ id: string }>(
    `insert into resource (id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at)
     select $1 || lpad(i::text, 7, '0'), $2, $3, 1, ${state}, ${attributes}, 'd', 'op_1', t, t
     from generate_series(1, $4::int) i, lateral (select now() - make_interval(secs => $4::int - i / 2)) as at(t)
     order by i returning id`,
    [series, workspaceId, type, count],
  );
  return rows.map(({ id }) => id);
}

const inWorkspace = (workspaceId: string, resourceType: string): ListQuery => ({
  scopes: [{ workspaceId }],
  resourceType,
});

/** Every id of a list, page by page. */
async function pages(query: ListQuery, onPage?: (page: readonly string[]) => Promise<unknown>): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await reader.listResources({ ...query, ...(cursor !== undefined && { cursor }) });
    ids.push(...page.resources.map(({ id }) => id));
    cursor = page.nextCursor;
    await onPage?.(page.resources.map(({ id }) => id));
  } while (cursor !== undefined);
  return ids;
}

test('paging 100,000 resources by time of creation skips and repeats nothing while others change them and create more', async () => {
  const workspaceId = newId('ws');
  const created = await insert('advertisers', workspaceId, 100_000, `jsonb_build_object('legal_name', 'A ' || i)`);
  const added: string[] = [];
  const write = async () => {
    const { rows } = await pool.query<{ id: string }>(
      `update resource set updated_at = now(), version = version + 1, lifecycle_state = 'active'
       where id = any($1) returning id`,
      [Array.from({ length: 40 }, () => created[Math.floor(Math.random() * created.length)])],
    );
    expect(rows.length).toBeGreaterThan(0);
    added.push(...(await insert('advertisers', workspaceId, 2, `jsonb_build_object('legal_name', 'B ' || i)`)));
  };
  // The writes of one page run while the next one is read.
  let writing = Promise.resolve();
  const seen = await pages({ ...inWorkspace(workspaceId, 'advertisers'), limit: 200 }, async () => {
    await writing;
    writing = write();
  });
  await writing;
  expect(new Set(seen).size).toBe(seen.length);
  const old = new Set(created);
  expect(seen.filter((id) => old.has(id))).toEqual(created);
  expect(added.length).toBeGreaterThan(900);
  const downwards: string[] = [];
  await pages(
    { ...inWorkspace(workspaceId, 'advertisers'), sort: '-created_at', limit: 200, lifecycleStates: ['active'] },
    async (page) => downwards.push(...page),
  );
  const active = await pages({ ...inWorkspace(workspaceId, 'advertisers'), limit: 200, lifecycleStates: ['active'] });
  expect(downwards).toEqual(active.toReversed());
});

/** A pool that explains every statement instead of running it. */
function explaining(plans: string[]): Pool {
  const query = async (text: string, values: unknown[]) => {
    const lines = await transaction(pool, async (tx) => {
      await tx.query('set local enable_seqscan = off; set local enable_sort = off');
      return (await tx.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values)).rows;
    });
    plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'));
    return { rows: [] };
  };
  const connect = async () => ({
    query: ({ text, values }: { readonly text: string; readonly values: unknown[] }) => query(text, values),
    release: () => undefined,
  });
  return Object.create(pool, { query: { value: query }, connect: { value: connect } }) as Pool;
}

const everyKey = Object.values(productCatalog.resources).flatMap((definition: ResourceDefinition) =>
  Object.keys(sortKeysOf(definition)).map((key) => [definition.type, key] as const),
);
test.each(everyKey)(
  'a page of %s by %s is read along an index, from the first row and from a cursor',
  async (type, key) => {
    const workspaceId = newId('ws');
    await insert(
      type as 'advertisers',
      workspaceId,
      3,
      `'{}'`,
      `'${productCatalog.resources[type as 'advertisers'].states[0]}'`,
    );
    for (const sort of [key, `-${key}`]) {
      const query = { ...inWorkspace(workspaceId, type), sort, limit: 1 };
      const { nextCursor } = await reader.listResources(query);
      const plans: string[] = [];
      await using explained = open(explaining(plans));
      await explained.listResources(query);
      await explained.listResources({ ...query, cursor: nextCursor! });
      expect(plans).toHaveLength(2);
      for (const plan of plans) {
        expect(plan).toMatch(/Index (Only )?Scan/);
        expect(plan).not.toMatch(/Seq Scan|Sort/);
      }
    }
  },
);

test('who has an external id is found in the own workspace alone, though others have the same ids', async () => {
  const workspaces = Array.from({ length: 5 }, () => newId('ws'));
  const ids = `jsonb_build_object('external_ids', jsonb_build_array(jsonb_build_object('source', 'gam', 'id', i::text)))`;
  const all = [];
  for (const workspaceId of workspaces) all.push(await insert('line_items', workspaceId, 20, ids));
  const asked = { workspaceId: workspaces[3]!, lineItemId: all[3]![0]!, ids: ['1', '7', 'none'].map(gam) };
  expect(await transaction(pool, async (tx) => listHolders(tx, asked))).toEqual([
    { ...gam('7'), lineItemId: all[3]![6], state: 'draft' },
  ]);
});

describe('every order', () => {
  const workspaceId = newId('ws');
  const count = 60;
  beforeAll(async () => {
    const attributes = `jsonb_build_object('name', (array['b','A','C','a'])[i % 4 + 1] || i % 7, 'window', case when i % 5 = 0 then '{}' else
      jsonb_build_object('start', to_char(timestamp '2026-01-01' + make_interval(hours => i * 37 % 24), 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) end)`;
    await insert('line_items', workspaceId, count, attributes, `(array['draft','booked','paused'])[i % 3 + 1]`);
  });

  test.each(Object.keys(sortKeysOf(productCatalog.resources.line_items)))(
    'by %s has every row once, page by page, in both directions',
    async (sort) => {
      const query = { ...inWorkspace(workspaceId, 'line_items'), limit: 7 };
      const upwards = await pages({ ...query, sort });
      expect(new Set(upwards).size).toBe(count);
      expect(await pages({ ...query, sort: `-${sort}` })).toEqual(upwards.toReversed());
      expect(await pages({ ...query, sort, limit: 200 })).toEqual(upwards);
    },
  );

  test('is that of the values: names without regard to case, times as times, and those without a time last', async () => {
    const list = async (sort: string) =>
      (await reader.listResources({ ...inWorkspace(workspaceId, 'line_items'), sort, limit: 200 })).resources;
    const names = (await list('name')).map(({ attributes }) => String(attributes['name']).toLowerCase());
    expect(names).toEqual([...names].sort());
    const starts = (await list('window_start')).map(
      ({ attributes }) => (attributes['window'] as { start?: string }).start ?? '9',
    );
    expect(starts).toEqual([...starts].sort());
    expect(starts.at(-1)).toBe('9');
    const states = (await list('-state')).map((resource) => resource.lifecycle_state);
    expect(states).toEqual([...states].sort().reverse());
  });

  test('several states are merged in the order of the list', async () => {
    const query = { ...inWorkspace(workspaceId, 'line_items'), limit: 4 };
    const all = await reader.listResources({ ...query, limit: 200 });
    const expected = all.resources.filter((resource) => resource.lifecycle_state !== 'booked').map(({ id }) => id);
    expect(await pages({ ...query, lifecycleStates: ['paused', 'draft', 'paused'] })).toEqual(expected);
    const counted = await reader.countResources({ ...query, lifecycleStates: ['paused', 'draft', 'paused'] });
    expect(counted).toEqual({ count: expected.length, exact: true });
  });

  test('ids and names filter, and a text has no wildcards', async () => {
    const query = { ...inWorkspace(workspaceId, 'line_items'), limit: 200 };
    const all = (await reader.listResources(query)).resources;
    const ids = all.slice(10, 13).map(({ id }) => id);
    expect(await pages({ ...query, ids: [...ids, newId('li')] })).toEqual(ids);
    expect(await pages({ ...query, ids: [] })).toEqual([]);
    const withA1 = all
      .filter(({ attributes }) => String(attributes['name']).toLowerCase().includes('a1'))
      .map(({ id }) => id);
    expect(withA1.length).toBeGreaterThan(2);
    expect(await pages({ ...query, titleContains: 'A1', limit: 2 })).toEqual(withA1);
    expect(await reader.countResources({ ...query, titleContains: 'a1' })).toEqual({
      count: withA1.length,
      exact: true,
    });
    for (const wildcard of ['%', '_1', 'a%1', '\\'])
      expect(await pages({ ...query, titleContains: wildcard })).toEqual([]);
  });

  test('an unknown sort key is refused with the keys that there are', async () => {
    for (const sort of ['digest', '', '-', '--name', 'constructor', 'name,created_at', `name'`])
      await expect(reader.listResources({ ...inWorkspace(workspaceId, 'line_items'), sort })).rejects.toMatchObject({
        code: 'validation_failed',
        context: { errors: [{ path: '/sort', code: 'invalid_value' }] },
      });
    await expect(
      reader.listResources({ ...inWorkspace(workspaceId, 'serving_halts'), sort: 'name' }),
    ).rejects.toMatchObject({
      code: 'validation_failed',
    });
  });

  test('a cursor is good for its own workspace, type, filter and sort only', async () => {
    const query = { ...inWorkspace(workspaceId, 'line_items'), limit: 5 };
    const { nextCursor } = await reader.listResources(query);
    const next = { ...query, cursor: nextCursor! };
    expect((await reader.listResources({ ...next, limit: 9 })).resources).toHaveLength(9);
    const others: Partial<ListQuery>[] = [
      { scopes: [{ workspaceId: newId('ws') }] },
      { scopes: [{ workspaceId, podcastIds: [] }] },
      { resourceType: 'campaigns' },
      { sort: '-created_at' },
      { sort: 'name' },
      { sort: 'state' },
      { lifecycleStates: ['draft'] },
      { links: { campaign: 'cmp_1' } },
      { parentId: 'cmp_1' },
      { ids: [newId('li')] },
      { updatedSince: new Date(0) },
      { titleContains: 'a' },
      { hiddenBelow: { podcasts: ['archived'], episodes: [] } },
    ];
    for (const other of others)
      await expect(reader.listResources({ ...next, ...other })).rejects.toMatchObject({ code: 'invalid_cursor' });
  });
});

test('a text that nothing contains reads a bounded number of rows for a page, and the pages still find every row', async () => {
  const workspaceId = newId('ws');
  const rows = 25_000;
  const created = await insert(
    'advertisers',
    workspaceId,
    rows,
    `jsonb_build_object('legal_name', case when i % 9000 = 0 then 'Rare' else 'B' end)`,
  );
  const query = { ...inWorkspace(workspaceId, 'advertisers'), titleContains: 'rAr' };
  const sizes: number[] = [];
  const found = await pages(query, async (page) => sizes.push(page.length));
  expect(found).toEqual([created[8_999], created[17_999]]);
  expect(sizes).toEqual([1, 1, 0]);
  const counted = await reader.countResources(query);
  expect(counted.exact).toBe(false);
  expect(counted.count).toBeLessThanOrEqual(2);
  expect(await reader.countResources(inWorkspace(workspaceId, 'advertisers'))).toEqual({ count: rows, exact: true });
});

test('a list that takes the database too long is refused as a timeout, not as a failure of the service', async () => {
  const impatient = createPool(database.url, 'product', { name: 'test', statementTimeoutMs: 1 });
  try {
    await using other = open(impatient);
    const workspaceId = newId('ws');
    await insert('advertisers', workspaceId, 10_000, `jsonb_build_object('legal_name', 'A')`);
    await expect(
      other.listResources({ ...inWorkspace(workspaceId, 'advertisers'), titleContains: 'nothing' }),
    ).rejects.toMatchObject({ code: 'timeout' });
  } finally {
    await impatient.end();
  }
});
