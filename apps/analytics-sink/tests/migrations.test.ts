import { expect, test } from '@jest/globals';
import { startEarlierDatabase } from '@longwave/fleet';

const before = (migration: string) => startEarlierDatabase('apps/analytics-sink/prisma', migration);

test('downloads counted before there were dimensions keep their place, with unknown dimensions', async () => {
  await using database = await before('_audience_dimensions');
  const { pool } = database;
  const session = (listener: string, startedAt: string, counted: boolean, country: string) => [
    ...[listener, 'ep_1', startedAt.slice(0, 10), startedAt, 'ws_1', 'pod_1', counted, 'arr_1', 60_000, 60_000, 0],
    ...[country, 'unknown', 'digest', '1'],
  ];
  for (const row of [
    session('anna', '2025-11-02T10:15:00Z', true, 'DE'),
    session('bert', '2025-11-02T10:45:00Z', true, 'DE'),
    session('carl', '2025-11-02T10:45:00Z', false, 'DE'),
    session('dora', '2025-11-02T11:00:00Z', true, 'AT'),
  ])
    await pool.query(`insert into session values (${row.map((_, index) => `$${index + 1}`).join(', ')})`, row);
  await database.upgrade();
  const { rows } = await pool.query(
    'select hour, country, region, app, device, platform, downloads::int from download_audience_hour order by hour',
  );
  const unnoted = { region: 'unknown', app: 'unknown', device: 'unknown', platform: 'unknown' };
  expect(rows).toEqual([
    { hour: new Date('2025-11-02T10:00:00Z'), country: 'DE', ...unnoted, downloads: 2 },
    { hour: new Date('2025-11-02T11:00:00Z'), country: 'AT', ...unnoted, downloads: 1 },
  ]);
});

test('arrangements and servings of facts that were stored before there were batches are known', async () => {
  await using database = await before('_batches');
  const { pool } = database;
  // Two decisions for the same bytes; the ads of those days had no price.
  for (const [digest, serving] of [
    ['layout_1', 'srv_1'],
    ['layout_2', 'srv_2'],
  ]) {
    const parts = [
      { kind: 'ad', from: 0, to: 10, duration_ms: 1, ad: { serving_id: serving, campaign_id: 'cmp_1' } },
      { kind: 'content', from: 10, to: 20, duration_ms: 1 },
    ];
    await pool.query(`insert into layout values ($1, 'arr_1', 20, $2)`, [digest, JSON.stringify(parts)]);
  }
  for (const [index, digest] of ['layout_2', 'layout_1', 'layout_1'].entries()) {
    const time = `2025-11-02T10:0${index}:00Z`;
    await pool.query(
      `insert into fact (fact_id, request_id, started_at, at, workspace_id, podcast_id, episode_id, layout_digest, method,
           status, requested, written, published_at, listener_key, address_key, address_verdict, prefetch, country, region,
           late, lists_version)
         values ($1, 'req', $2, $2, 'ws_1', 'pod_1', 'ep_1', $3, 'GET', 200, '{}', '{}', '2025-10-01T00:00:00Z', 'anna', 'a',
           'ok', false, 'DE', 'unknown', false, '1')`,
      [`fact_${index}`, time, digest],
    );
  }
  await database.upgrade();
  const { rows } = await pool.query(
    'select name, arrangement_id, layout_digest, workspace_id, podcast_id, episode_id from known_layout order by name',
  );
  const place = { arrangement_id: 'arr_1', workspace_id: 'ws_1', podcast_id: 'pod_1', episode_id: 'ep_1' };
  expect(rows).toEqual([
    { name: 'arr_1', layout_digest: 'layout_2', ...place },
    { name: 'srv_1', layout_digest: 'layout_1', ...place },
    { name: 'srv_2', layout_digest: 'layout_2', ...place },
  ]);
});

test('downloads and ads counted before there were ledgers open them, and old facts stay as they were', async () => {
  await using database = await before('_windows_velocity_ledgers');
  const { pool } = database;
  const started = '2025-11-02T10:15:00Z';
  for (const [listener, counted] of [
    ['anna', true],
    ['bert', true],
    ['carl', false],
  ])
    await pool.query(
      `insert into session values ($1, 'ep_1', '2025-11-02', '${started}', 'ws_1', 'pod_1', $2, 'arr_1', 60000, 60000, 0, 'DE', 'BE',
           'digest', 'method', 'Overcast', 'Apple iPhone', 'mobile')`,
      [listener, counted],
    );
  await pool.query(`insert into download_hour values ('ws_1', 'pod_1', 'ep_1', '2025-11-02T10:00:00Z', 2);
      insert into download_audience_hour values ('ws_1', 'pod_1', 'ep_1', '2025-11-02T10:00:00Z', 'DE', 'BE', 'Overcast',
        'Apple iPhone', 'mobile', 2);
      insert into ad_delivered values ('anna', 'ep_1', '2025-11-02', 'pre', 0, 'crv_1', '${started}', 'ws_1', 'pod_1', 'cmp_1', 'li_1',
        'srv_1');
      insert into fact values ('fct_1', 'req_1', '${started}', '${started}', 'ws_1', 'pod_1', 'ep_1', 'layout', 'GET', 200, '{[0,9)}',
        '{[0,9)}', '${started}', 'anna', null, 'address', 'ok', 'digest', false, 'DE', 'BE', false, 'lists', 'eligible', 'method');
      insert into served_request values ('anna', 'ep_1', 'req_1', 'ws_1', 'pod_1', 'arr_1', 'layout', '${started}', '{[0,9)}', 'DE', 'BE',
        'digest')`);
  await database.upgrade();
  const read = async (sql: string) => (await pool.query<Record<string, unknown>>(sql)).rows;
  const place = { hour: new Date('2025-11-02T10:00:00Z'), country: 'DE', region: 'BE', app: 'Overcast' };
  expect(
    await read(
      `select hour, country, region, app, downloads::int, first_touch_24h::int, methodology_version, restates
         from download_change`,
    ),
  ).toEqual([{ ...place, downloads: 2, first_touch_24h: 0, methodology_version: 'method', restates: false }]);
  expect(
    await read('select stage, quantity, serving_id, hour, country, region, app from ad_entry order by stage'),
  ).toEqual(
    ['confirmed', 'delivered', 'served'].map((stage) => ({ stage, quantity: 1, serving_id: 'srv_1', ...place })),
  );
  expect(await read('select delivered::int, decided::int, hour, country, region, app from ad_hour')).toEqual([
    { delivered: 1, decided: 0, ...place },
  ]);
  expect(await read('select listener_key, qualified, held from session order by 1')).toEqual([
    { listener_key: 'anna', qualified: true, held: null },
    { listener_key: 'bert', qualified: true, held: null },
    { listener_key: 'carl', qualified: false, held: null },
  ]);
  expect(await read('select key, day::text, downloads::int from velocity_day order by 1')).toEqual([
    { key: 'anna', day: '2025-11-02', downloads: 1 },
    { key: 'bert', day: '2025-11-02', downloads: 1 },
  ]);
  expect(await read('select preload, internal, address_safe from fact')).toEqual([
    { preload: false, internal: false, address_safe: false },
  ]);
});

test('what was billed before there were operating systems can be taken back, and is unknown by them', async () => {
  await using database = await before('_operating_systems_and_web_players');
  const { pool } = database;
  const billed = { serving_id: 'srv_1', hour: '2025-11-02T10:00:00.000Z', country: 'DE', platform: 'mobile' };
  await pool.query(`insert into ad_serving values ('srv_1', null, $1), ('srv_2', null, null)`, [
    JSON.stringify(billed),
  ]);
  await pool.query(`insert into ad_hour values ('ws_1', 'pod_1', 'cmp_1', 'li_1', 'crv_1', '2025-11-02T10:00:00Z', 'DE', 'BE',
      'Overcast', 'Apple iPhone', 'mobile', 1, 1, 1)`);
  await database.upgrade();
  const { rows } = await pool.query<{ billed: object | null }>('select billed from ad_serving order by serving_id');
  expect(rows.map((row) => JSON.stringify(row.billed))).toEqual([
    JSON.stringify({ ...billed, operating_system: 'unknown' }),
    'null',
  ]);
  expect((await pool.query('select operating_system, billable::int from ad_hour')).rows).toEqual([
    { operating_system: 'unknown', billable: 1 },
  ]);
});

test('batches, user agents and reports of players from before 22 November 2026 are read as those after it', async () => {
  await using database = await before('_sink_requests');
  const { pool } = database;
  const at = '2025-11-02T10:15:00Z';
  const rejections = ['too_large', 'too_large', 'bot'].map((code, row) => ({ row, code }));
  for (const [id, sequence, rejected, listed] of [
    ['b_1', 1, 3, rejections],
    ['b_2', 2, 0, []],
  ] as const)
    await pool.query(
      `insert into batch (producer, batch_id, idempotency_key, digest, sequence, window_from, window_to, workspaces, rows, answer,
         received_at, state, received, stored, aggregated, rejected, waiting, rejections, next_attempt_at)
       values ('acme', $1, $1, 'd', $2, $3, $3, '{ws_1}', '[]', '{}', $3, 'aggregated', 3, 0, 0, $4, 0, $5, $3)`,
      [id, sequence, at, rejected, JSON.stringify(listed)],
    );
  await pool.query(`insert into user_agent values ('digest', 'Overcast/3.0', $1)`, [at]);
  await pool.query(
    `insert into client_event values ('fct_1', 'srv_1', 'start', 1, $1, false, 'ws_1', 'pod_1', 'ep_1', 'cmp_1', 'li_1', 'crv_1', 'pre', 0,
       'anna', 'ok', 'digest', 'DE', 'BE', 'lists', 'eligible', 'lists', $1)`,
    [at],
  );
  await pool.query(
    `insert into client_event_hour values ('ws_1', 'pod_1', 'cmp_1', 'li_1', 'crv_1', '2025-11-02T10:00:00Z', 'start', 1)`,
  );
  await database.upgrade();
  const read = async (sql: string) => (await pool.query<Record<string, unknown>>(sql)).rows;
  expect(await read('select batch_id, rejected_by_code from batch order by 1')).toEqual([
    { batch_id: 'b_1', rejected_by_code: { too_large: 2, bot: 1 } },
    { batch_id: 'b_2', rejected_by_code: {} },
  ]);
  // The time of last use is unknown, so no user agent is removed too early.
  expect(await read(`select text, last_used_at > now() - interval '1 hour' as recent from user_agent`)).toEqual([
    { text: 'Overcast/3.0', recent: true },
  ]);
  expect(await read('select event, ad_duration_ms from client_event')).toEqual([
    { event: 'start', ad_duration_ms: null },
  ]);
  expect(await read('select events::int, excess::int from client_event_hour')).toEqual([{ events: 1, excess: 0 }]);
});

test('ads counted before there were cohorts are served and confirmed once, in the first of their downloads, and have their cohort', async () => {
  await using database = await before('_cohorts');
  const { pool } = database;
  const decided = new Date(Math.floor(Date.now() / 900_000) * 900_000 - 86_400_000);
  const entry = (stage: string, listener: string | null, hour: string, recorded: string) =>
    pool.query(
      `insert into ad_entry (recorded_at, methodology_version, lists_version, restates, stage, quantity, serving_id, listener_key, window_on,
         workspace_id, podcast_id, episode_id, campaign_id, line_item_id, creative_id, break_key, slot, hour, country, region, app, device,
         platform)
       values ($4, 'method', 'lists', false, $1, 1, 'srv_1', $2, case when $2::text is not null then date '2025-11-02' end, 'ws_1', 'pod_1', 'ep_1',
         'cmp_1', 'li_1', 'crv_1', 'pre', 0, $3, 'DE', 'BE', 'app', 'device', 'mobile')`,
      [stage, listener, hour, recorded],
    );
  const [first, second] = ['2025-11-02T10:00:00Z', '2025-11-02T12:00:00Z'];
  await entry('decided', null, '2025-11-02T09:00:00Z', first);
  await entry('delivered', 'anna', first, second);
  await entry('delivered', 'bert', second, second);
  const delivered = (listener: string, serving: string, started: string, counted: boolean) =>
    pool.query(
      `insert into ad_delivered (listener_key, episode_id, window_on, break_key, slot, creative_id, started_at, workspace_id, podcast_id,
         campaign_id, line_item_id, serving_id, counted)
       values ($1, 'ep_1', '2025-11-02', 'pre', 0, 'crv_1', $3, 'ws_1', 'pod_1', 'cmp_1', 'li_1', $2, $4)`,
      [listener, serving, started, counted],
    );
  await delivered('bert', 'srv_1', second, true);
  await delivered('anna', 'srv_1', first, true);
  await delivered('carl', 'srv_2', second, false);
  await pool.query(`insert into ad_serving (serving_id, decided_at) values ('srv_1', $1), ('srv_2', null)`, [decided]);
  await pool.query(
    `insert into ad_hour (workspace_id, podcast_id, campaign_id, line_item_id, creative_id, hour, country, region, app, device, platform, decided,
       delivered, billable)
     values ('ws_1', 'pod_1', 'cmp_1', 'li_1', 'crv_1', $1, 'unknown', 'unknown', 'unknown', 'unknown', 'unknown', 0, 1, 0)`,
    [first],
  );
  await database.upgrade();
  const read = async (sql: string) => (await pool.query<{ text: string }>(sql)).rows.map(({ text }) => text);
  expect(
    await read(
      `select concat_ws(' ', stage, serving_id, listener_key, quantity, methodology_version, recorded_at = '${second}') as text
       from ad_entry where stage in ('served', 'confirmed') order by stage, serving_id`,
    ),
  ).toEqual(['confirmed srv_1 anna 1 method t', 'served srv_1 anna 1 method t', 'served srv_2 carl 1 unknown f']);
  expect(
    await read(
      `select concat_ws(' ', to_char(hour at time zone 'UTC', 'HH24'), delivered, served, confirmed) as text from ad_hour order by hour`,
    ),
  ).toEqual(['10 1 1 1', '12 0 1 0']);
  const { rows: cohorts } = await pool.query(
    `select line_item_id, surface_class, quarter, workspace_id, decided::int, served::int, delivered::int, held::int from serving_cohort`,
  );
  expect(cohorts).toEqual([
    {
      ...{ line_item_id: 'li_1', surface_class: 'download', quarter: decided, workspace_id: 'ws_1' },
      ...{ decided: 1, served: 1, delivered: 1, held: 0 },
    },
  ]);
});

test('ads that the release before counted between two migrations are entered later; those that lack nothing are not', async () => {
  await using database = await before('_stages_of_the_release_before');
  const { pool } = database;
  const delivered = (serving: string, listener: string) =>
    pool.query(
      `insert into ad_delivered (listener_key, episode_id, window_on, break_key, slot, creative_id, started_at, workspace_id, podcast_id,
         campaign_id, line_item_id, serving_id, counted, country)
       values ($2, 'ep_1', '2025-11-02', 'pre', 0, 'crv_1', '2025-11-02T10:00:00Z', 'ws_1', 'pod_1', 'cmp_1', 'li_1', $1, true, 'DE')`,
      [serving, listener],
    );
  await delivered('srv_missing', 'anna');
  await delivered('srv_whole', 'bert');
  for (const stage of ['served', 'confirmed', 'delivered'])
    await pool.query(
      `insert into ad_entry (methodology_version, lists_version, restates, stage, quantity, serving_id, listener_key, window_on, workspace_id,
         podcast_id, episode_id, campaign_id, line_item_id, creative_id, break_key, slot, hour, country, region, app, device, platform)
       values ('method', 'lists', false, $1, 1, 'srv_whole', 'bert', '2025-11-02', 'ws_1', 'pod_1', 'ep_1', 'cmp_1', 'li_1', 'crv_1', 'pre', 0,
         '2025-11-02T10:00:00Z', 'DE', 'BE', 'app', 'device', 'mobile')`,
      [stage],
    );
  await pool.query(`insert into ad_serving (serving_id, decided_at, line_item_id, workspace_id, surface_class, reached) values
    ('srv_decided', now(), null, null, null, 0), ('srv_whole', now(), 'li_1', 'ws_1', 'download', 7), ('srv_reported', now(), 'li_1', 'ws_1', 'download', 1)`);
  await pool.query(
    `insert into client_event (fact_id, serving_id, event, sequence, at, late, workspace_id, podcast_id, episode_id, campaign_id, line_item_id,
       creative_id, break_key, slot, listener_key, address_verdict, country, region, lists_version, judgement)
     values ('one', 'srv_reported', 'start', 0, now(), false, 'ws_1', 'pod_1', 'ep_1', 'cmp_1', 'li_1', 'crv_1', 'pre', 0, 'l', 'ok', 'DE', 'BE', '1',
       'eligible')`,
  );
  await database.upgrade();
  const { rows } = await pool.query<{ serving_id: string }>('select serving_id from unentered_serving order by 1');
  expect(rows.map((row) => row.serving_id)).toEqual(['srv_decided', 'srv_missing', 'srv_reported']);
});
