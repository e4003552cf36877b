import { expect, test } from '@jest/globals';
import { startEarlierDatabase } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { transaction } from '@longwave/postgres';
import { claimJob } from '../src/background/job-table.ts';
import { listDueReports, setNextRun } from '../src/workspace/reports/report-schedule-table.ts';

const at = '2026-11-20T10:00:00Z';

test('jobs that were queued before jobs had an order are claimed in the order of their creation', async () => {
  await using database = await startEarlierDatabase('apps/management/prisma', '_job_order');
  const { pool } = database;
  const queue = async (kind: string, minute: number, state = 'queued') => {
    const id = newId('job');
    await pool.query(
      `insert into job (id, kind, workspace_id, subject_type, subject_id, subject_version, state, input, created_at, lease_until)
       values ($1, $2, 'ws_1', 'productions', $1, 1, $3, '{}', $4, $4)`,
      [id, kind, state, `2026-11-20T10:0${minute}:00Z`],
    );
    return id;
  };
  const second = await queue('encode_production', 2);
  const first = await queue('encode_production', 1);
  // Its worker has crashed: the lease has ended.
  const third = await queue('encode_production', 3, 'running');
  await queue('encode_production', 0, 'done');
  await database.upgrade();
  const claimed = [];
  for (let i = 0; i < 3; i++) claimed.push((await claimJob(pool, ['encode_production'], 'worker', 60_000))?.id);
  expect(claimed).toEqual([first, second, third]);
  expect(await claimJob(pool, ['encode_production'], 'worker', 60_000)).toBeUndefined();
});

test('resources and operations from before 22 November 2026 keep their rows, and the clock finds them by their times', async () => {
  await using database = await startEarlierDatabase('apps/management/prisma', '_advertising');
  const { pool } = database;
  const insert = (type: string, state: string, attributes: object) => {
    const id = newId(type === 'line_items' ? 'li' : 'brk');
    return pool
      .query(
        `insert into resource (id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at)
         values ($1, 'ws_1', $2, 1, $3, $4, 'd', 'op_1', '${at}', '${at}')`,
        [id, type, state, attributes],
      )
      .then(() => id);
  };
  const plan = await insert('break_plans', 'published', { effective_at: '2026-12-01T00:00:00.000Z' });
  const booked = await insert('line_items', 'booked', {
    window: { start: '2026-12-02T00:00:00Z', end: '2026-12-03T00:00:00Z' },
  });
  // Rows without a window do not break the index.
  const paused = await insert('line_items', 'paused', {});
  await pool.query(
    `insert into operation values ('op_1', 'ws_1', 'client', 'line_item.book', 'succeeded', 'line_items', $1, 1, 'rcp_1', null, $2, $2)`,
    [booked, at],
  );
  await database.upgrade();
  const read = async (sql: string) => (await pool.query<Record<string, unknown>>(sql)).rows;
  expect(await read('select id, version from resource order by created_at, id')).toHaveLength(3);
  expect(
    await read(
      `select id from resource where resource_type = 'line_items' and lifecycle_state = 'booked'
         and "instant_of"(attributes #>> '{window,start}') <= '2026-12-02T00:00:00Z'`,
    ),
  ).toEqual([{ id: booked }]);
  expect(
    await read(
      `select id from resource where resource_type = 'break_plans' and lifecycle_state = 'published'
         and "instant_of"(attributes ->> 'effective_at') <= '2026-12-01T00:00:00Z'`,
    ),
  ).toEqual([{ id: plan }]);
  expect(await read(`select lifecycle_state from resource where id = '${paused}'`)).toEqual([
    { lifecycle_state: 'paused' },
  ]);
  expect(await read('select state, review_task_id, consequences from operation')).toEqual([
    { state: 'succeeded', review_task_id: null, consequences: null },
  ]);
});

test('a database from before reports had a schedule keeps its rows, and the clock finds the first report that is due', async () => {
  await using database = await startEarlierDatabase('apps/management/prisma', '_reports');
  const { pool } = database;
  // A run has no time of expiry until its result is ready.
  for (const [id, attributes] of [
    ['rpr_1', {}],
    ['rpr_2', { expires_at: '2026-12-01T00:00:00.000Z' }],
  ] as const)
    await pool.query(
      `insert into resource (id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at)
       values ($1, 'ws_1', 'report_runs', 1, 'ready', $2, 'd', 'op_1', '${at}', '${at}')`,
      [id, attributes],
    );
  await database.upgrade();
  expect((await pool.query('select id, version from resource order by id')).rows).toEqual([
    { id: 'rpr_1', version: 1 },
    { id: 'rpr_2', version: 1 },
  ]);
  const definition = { id: 'rpd_1', workspaceId: 'ws_1' };
  const due = new Date('2026-12-01T06:00:00.000Z');
  const listed = () => listDueReports(pool, due, 10);
  expect(await listed()).toEqual([]);
  await transaction(pool, (tx) => setNextRun(tx, definition, new Date(due.getTime() + 1)));
  expect(await listed()).toEqual([]);
  await transaction(pool, (tx) => setNextRun(tx, definition, due));
  expect(await listed()).toEqual([{ id: 'rpd_1', workspace_id: 'ws_1', occurrence: due.toISOString() }]);
  await transaction(pool, (tx) => setNextRun(tx, definition, undefined));
  expect(await listed()).toEqual([]);
});
