import { describe, expect, test } from '@jest/globals';
import { breakdownCases } from './_breakdown-cases.ts';
import { exportOf, scene } from './_analytics-world.ts';
import {
  archived,
  arts,
  comedy,
  draft,
  first,
  hidden,
  idOf,
  lost,
  news,
  own,
  second,
  story,
  unfinished,
} from './_catalogue.ts';
import { onlyKeys, useAnalytics } from './_use-analytics.ts';

const { world, get, objects } = useAnalytics();

test('a podcast over time, zero-filled', async () => {
  const { body } = await get(`/podcasts/${arts}/analytics?from=2026-11-10&to=2026-11-12&granularity=day`);
  expect(body).toMatchObject({
    meta: {
      timerange: { from: '2026-11-10T00:00:00.000Z', to: '2026-11-13T00:00:00.000Z' },
      aggregation_granularity: 'day',
      window: 'calendar_utc',
      methodology_version: 'longwave-1.3/ptmg-2.3',
    },
    objects: [
      { date: '2026-11-10', downloads: 1, listeners: 1 },
      { date: '2026-11-11', downloads: 1, listeners: 1 },
      { date: '2026-11-12', downloads: 0, listeners: 0 },
    ],
  });
});

test('days of a time zone', async () => {
  const kolkata = 'granularity=day&time_zone=Asia/Kolkata';
  const { body } = await get(`/podcasts/${arts}/analytics?from=2026-11-10&to=2026-11-11&${kolkata}`);
  expect(body).toMatchObject({
    meta: { timerange: { from: '2026-11-09T18:30:00.000Z', to: '2026-11-11T18:30:00.000Z' } },
    objects: [
      { date: '2026-11-10', downloads: 1, listeners: 1 },
      { date: '2026-11-11', downloads: 1, listeners: 1 },
    ],
  });
  // Clocks of Auckland showed 7 on the morning of the next day.
  expect(
    await objects(
      `/episodes/${second}/analytics?days_since_published=1&granularity=day&time_zone=${encodeURIComponent('Pacific/Auckland')}`,
    ),
  ).toEqual([
    { date: '2026-11-11', downloads: 2, listeners: 2 },
    { date: '2026-11-12', downloads: 0, listeners: 0 },
  ]);
  expect(await get(`/podcasts/${arts}/analytics?days_offset=1&time_zone=Mars/Olympus`)).toEqual({
    status: 422,
    body: { code: 422, message: 'time_zone: “Mars/Olympus” is not the name of an IANA time zone.' },
  });
  const form = 'Write a date such as 2026-11-01, or a time such as 2026-11-01T10:00:00Z.';
  expect(await get(`/podcasts/${arts}/analytics?from=soon&to=later`)).toEqual({
    status: 422,
    body: { code: 422, message: `from: ${form} to: ${form}` },
  });
});

test('downloads per episode add up to the podcast: published ones, and archived ones that were downloaded', async () => {
  expect(await objects(`/podcasts/${arts}/analytics/episodes?from=2026-10-01&to=2026-10-31`)).toEqual([
    { episode_id: first, title: 'First light', published_at: '2026-08-10T06:00:00.000Z', downloads: 3 },
    { episode_id: archived, title: 'Old light', published_at: '2026-08-01T00:00:00.000Z', downloads: 1 },
    { episode_id: second, title: 'Second light', published_at: '2026-11-10T17:45:00.000Z', downloads: 0 },
  ]);
});

test('listeners by country unless another dimension is named', async () => {
  const october = `/podcasts/${arts}/analytics/listeners?from=2026-10-01&to=2026-10-31`;
  expect(await objects(october)).toEqual([
    { key: 'DE', dimension: 'country', downloads: 3, share: 0.75 },
    { key: 'FR', dimension: 'country', downloads: 1, share: 0.25 },
  ]);
  for (const [dimension, key] of onlyKeys)
    expect(await objects(`${october}&dimension=${dimension}`)).toEqual([{ key, dimension, downloads: 4, share: 1 }]);
  expect((await get(`${october}&dimension=mood`)).status).toBe(422);
});

describe('one episode', () => {
  test('from the day of its publication on', async () => {
    expect(await objects(`/episodes/${second}/analytics?days_since_published=2&granularity=day`)).toEqual([
      { date: '2026-11-10', downloads: 1, listeners: 1 },
      { date: '2026-11-11', downloads: 1, listeners: 1 },
      { date: '2026-11-12', downloads: 0, listeners: 0 },
    ]);
    expect(await objects(`/episodes/${first}/analytics?from=2026-10-01&to=2026-10-31&granularity=month`)).toEqual([
      { date: '2026-10-01', downloads: 3, listeners: 3 },
    ]);
  });

  test('only when it is published', async () => {
    expect(await get(`/episodes/${unfinished}/analytics?days_since_published=2`)).toEqual({
      status: 422,
      body: { code: 422, message: 'Only a published episode has analytics.' },
    });
  });

  test('with one form of range', async () => {
    const message = async (query: string) => (await get(`/episodes/${second}/analytics${query}`)).body['message'];
    expect(await message('')).toBe('Provide from/to or days_offset parameter(s).');
    expect(await message('?from=2026-11-01&days_since_published=1')).toBe(
      'You should provide either from/to or days_offset parameter(s).',
    );
    expect(await message('?to=2026-11-01')).toBe('You should provide both from and to params.');
  });
});

breakdownCases(world);

test('achievements, also of a draft and without analytics in the plan', async () => {
  expect((await get(`/podcasts/${arts}/achievements?type=downloads`)).body).toMatchObject({
    type: 'downloads',
    value: 10,
    next: { threshold: 100, remaining: 90 },
  });
  expect((await get(`/podcasts/${arts}/achievements?type=countries`)).body).toMatchObject({ value: 3 });
  expect((await get(`/podcasts/${arts}/achievements?type=episodes`)).body).toMatchObject({ value: 2 });
  expect((await get(`/podcasts/${draft}/achievements?type=downloads`, 'launch')).body).toMatchObject({ value: 0 });
  expect((await get(`/podcasts/${arts}/achievements`)).status).toBe(422);
});

test('an overview of what there is and of the last 30 days', async () => {
  const { body } = await get(`/podcasts/${arts}/overview`);
  expect(body).toMatchObject({
    podcast: { id: arts, title: 'Harbour Light', state: 'published' },
    episodes: {
      published: 2,
      scheduled: 0,
      drafts: 1,
      duration_ms: 240_000,
      latest: { episode_id: second, title: 'Second light', published_at: '2026-11-10T17:45:00.000Z' },
    },
    meta: { timerange: { from: '2026-10-23T00:00:00.000Z', to: '2026-11-22T00:00:00.000Z' } },
    downloads: { last_7_days: 1, last_30_days: 3, change: -0.25 },
    listeners: { this_month: 3 },
    top_episodes: [
      { episode_id: second, title: 'Second light', published_at: '2026-11-10T17:45:00.000Z', downloads: 2 },
      { episode_id: first, title: 'First light', published_at: '2026-08-10T06:00:00.000Z', downloads: 1 },
    ],
    top_countries: [
      { key: 'DE', downloads: 2, share: 0.666667 },
      { key: 'US', downloads: 1, share: 0.333333 },
    ],
  });
  expect(Object.keys((await get(`/podcasts/${arts}/overview`, 'launch')).body)).toEqual(['podcast', 'episodes']);
});

test('an overview counts no listener twice: listeners are those of the month, downloads those of 30 days', async () => {
  expect((await get(`/podcasts/${comedy}/overview`)).body).toMatchObject({
    downloads: { last_30_days: 2, change: null },
    listeners: { this_month: 1 },
  });
});

test('listeners over the last twelve months, as far as the history reaches', async () => {
  const months = await objects(`/podcasts/${arts}/insights/listeners_over_time`);
  expect(months).toHaveLength(12);
  expect(months.slice(7)).toEqual([
    { date: '2026-07-01', listeners: 0 },
    { date: '2026-08-01', listeners: 1 },
    { date: '2026-09-01', listeners: 2 },
    { date: '2026-10-01', listeners: 3 },
    { date: '2026-11-01', listeners: 3 },
  ]);
  const { body } = await get(`/podcasts/${arts}/insights/listeners_over_time`, 'grow');
  expect(body).toMatchObject({ meta: { history_window: { from: '2026-08-23T00:00:00.000Z', days: 90 } } });
  expect((body['objects'] as object[])[0]).toEqual({ date: '2026-08-01', listeners: 0 });
});

test('categories divide the downloads of the podcasts that the caller may measure, and of no others', async () => {
  const at = `/podcasts/${arts}/insights/podcasts_categories`;
  expect(await objects(at)).toEqual([
    { category: 'Arts', podcasts: 1, downloads: 3, share: 0.6, own: true },
    { category: 'Comedy', podcasts: 1, downloads: 2, share: 0.4, own: false },
  ]);
  expect(await objects(at, 'both')).toEqual([
    { category: 'Arts', podcasts: 1, downloads: 3, share: 0.5, own: true },
    { category: 'Comedy', podcasts: 1, downloads: 2, share: 0.333333, own: false },
    { category: 'News', podcasts: 1, downloads: 1, share: 0.166667, own: false },
  ]);
  expect(await objects(at, 'editor')).toHaveLength(2);
});

describe('reports', () => {
  const summary = (rows: readonly Record<string, unknown>[]) =>
    rows.map(({ month, title, downloads, listeners, change }) => [month, title, downloads, listeners, change]);

  test('the latest three finished months of each podcast', async () => {
    const rows = await objects('/analytics/reports');
    expect(summary(rows)).toEqual([
      ['2026-10', 'Harbour Light', 4, 3, 1],
      ['2026-10', 'Gulls', 1, 1, null],
      ['2026-09', 'Harbour Light', 2, 2, 1],
      ['2026-08', 'Harbour Light', 1, 1, null],
    ]);
    expect(rows[0]).toMatchObject({
      top_episodes: [
        { episode_id: first, title: 'First light', downloads: 3 },
        { episode_id: archived, title: 'Old light', downloads: 1 },
      ],
      top_countries: [
        { key: 'DE', downloads: 3, share: 0.75 },
        { key: 'FR', downloads: 1, share: 0.25 },
      ],
    });
  });

  test('each podcast within the history of its own plan, and meta names the cut', async () => {
    const { body } = await get('/analytics/reports', 'both');
    expect(summary(body['objects'] as Record<string, unknown>[])).toEqual([
      ['2026-10', 'Harbour Light', 4, 3, 1],
      ['2026-10', 'Gulls', 1, 1, null],
      ['2026-10', 'Tide Table', 1, 1, null],
      ['2026-09', 'Harbour Light', 2, 2, 1],
      ['2026-09', 'Tide Table', 0, 0, null],
      ['2026-08', 'Harbour Light', 1, 1, null],
    ]);
    expect((body['objects'] as object[])[2]).toMatchObject({
      top_episodes: [{ episode_id: lost, title: null, published_at: null, downloads: 1 }],
    });
    expect(body['meta']).toMatchObject({
      timerange: { from: '2026-08-01T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z' },
      history_window: { from: '2026-08-23T00:00:00.000Z', requested_from: '2026-08-01T00:00:00.000Z', days: 90 },
    });
  });

  test('older months are archived', async () => {
    expect(summary(await objects('/analytics/reports_archives'))).toEqual([['2026-07', 'Harbour Light', 0, 0, null]]);
    expect(summary(await objects('/analytics/reports_archives', 'guest'))).toEqual([
      ['2026-07', 'Tide Table', 2, 1, null],
      ['2026-06', 'Tide Table', 0, 0, null],
    ]);
    const { body } = await get('/analytics/reports_archives', 'grow');
    expect(body).toMatchObject({
      meta: { history_window: { requested_from: '2026-07-01T00:00:00.000Z', days: 90 } },
      objects: [],
    });
  });
});

test('a podcast with downloads from before it moved here has one beginning: in series, achievements, reports and export', async () => {
  const range = 'from=2026-10-01&to=2026-11-21';
  const series = await objects(`/podcasts/${comedy}/analytics?${range}&granularity=month`);
  expect(series.map(({ date, downloads }) => [date, downloads])).toEqual([
    ['2026-10-01', 1],
    ['2026-11-01', 1],
  ]);
  expect((await get(`/podcasts/${comedy}/achievements?type=downloads`)).body).toMatchObject({ value: 2 });
  expect((await get(`/podcasts/${comedy}/achievements?type=countries`)).body).toMatchObject({ value: 1 });
  const reports = await objects('/analytics/reports');
  expect(reports.filter((row) => row['podcast_id'] === comedy)).toMatchObject([{ month: '2026-10', downloads: 1 }]);
  // Its history reaches back to this day alone.
  scene.exports = [exportOf(idOf('sxp', '1'), 'ready', { history_from: '2026-11-01T00:00:00.000Z' }, comedy)];
  expect((await get(`/podcasts/${comedy}/analytics/legacy_export`)).body).toMatchObject({
    history_window: { from: '2026-11-01T00:00:00.000Z', requested_from: '2026-10-28T00:00:00.000Z', days: 19 },
  });
});

test('achievements are never cut by the history of a plan', async () => {
  expect((await get(`/podcasts/${arts}/achievements?type=downloads`, 'grow')).body).toMatchObject({ value: 10 });
});

describe('the legacy export', () => {
  const at = `/podcasts/${arts}/analytics/legacy_export`;
  const start = async (who = 'owner') => {
    const response = await fetch(world().url + at, {
      method: 'POST',
      headers: { Token: who, 'Idempotency-Key': 'one' },
    });
    return {
      status: response.status,
      location: response.headers.get('location'),
      body: (await response.json()) as object,
    };
  };

  test('is started as far back as the plan includes', async () => {
    expect(await start('grow')).toMatchObject({
      status: 202,
      location: `http://longwave.test/api/v1/operations/${idOf('op', '1')}`,
      body: {
        ...{ id: idOf('sxp', '1'), podcast_id: arts, state: 'preparing', history_from: '2026-08-23T00:00:00.000Z' },
        history_window: { from: '2026-08-23T00:00:00.000Z', requested_from: '2026-07-20T00:00:00.000Z', days: 90 },
      },
    });
    const unlimited = await start();
    expect(unlimited).toMatchObject({ status: 202, body: { history_from: null } });
    expect(unlimited.body).not.toHaveProperty('history_window');
    expect(
      scene.executed.map(({ commandType, workspaceId, idempotencyKey }) => [commandType, workspaceId, idempotencyKey]),
    ).toEqual([
      ['statistics_export.start', own, 'one'],
      ['statistics_export.start', own, 'one'],
    ]);
  });

  test('is refused while one is being prepared, and where there are no analytics', async () => {
    for (const refusal of ['export_in_progress', 'value_taken'] as const) {
      scene.refusal = refusal;
      expect(await start()).toMatchObject({
        status: 409,
        body: { code: 409, message: 'An export is already being prepared.' },
      });
    }
    expect((await start('launch')).status).toBe(403);
  });

  test('shows the latest one, and its file once it is ready', async () => {
    expect(await get(at)).toEqual({ status: 404, body: { code: 404, message: 'There is no export of this podcast.' } });
    const file = { storage_key: 'exports/a.csv', sha256: 'a'.repeat(64), size_bytes: 321, row_count: 12 };
    scene.exports = [exportOf(idOf('sxp', '1'), 'failed', {}), exportOf(idOf('sxp', '2'), 'ready', { file })];
    expect(await get(at)).toMatchObject({
      status: 200,
      body: {
        id: idOf('sxp', '2'),
        state: 'ready',
        row_count: 12,
        size: 321,
        history_from: null,
        url: `http://store.test/${idOf('sxp', '2')}.csv`,
      },
    });
  });
});

describe('gates', () => {
  const noPlan = "You don't have the required permissions to use the Analytics API.";
  const noRight = "You don't have the permission to use the Analytics API on this podcast.";
  const ofMany = ['/analytics/reports', '/analytics/reports_archives', '/analytics/episodes'];
  const gated = (podcastId: string, episodeId: string) => [
    `/podcasts/${podcastId}/analytics?days_offset=1`,
    `/podcasts/${podcastId}/analytics/episodes`,
    `/podcasts/${podcastId}/analytics/listeners?dimension=mood`,
    `/podcasts/${podcastId}/analytics/legacy_export`,
    `/podcasts/${podcastId}/insights/listeners_over_time`,
    `/podcasts/${podcastId}/insights/podcasts_categories`,
    `/podcasts/${podcastId}/analytics/ads?days_offset=1`,
    `/episodes/${episodeId}/analytics?days_since_published=1`,
    `/episodes/${episodeId}/analytics/listeners?dimension=mood`,
  ];

  test.each([
    ['a plan without analytics', 'launch', gated(arts, first), noPlan],
    ['a plan without analytics, before the state of the podcast', 'launch', gated(draft, first).slice(0, 7), noPlan],
    ['a podcast that is not published', 'owner', [...gated(draft, hidden), `/podcasts/${draft}/overview`], noRight],
    ['no right to see analytics', 'viewer', [...gated(arts, first), `/podcasts/${arts}/overview`], noRight],
    ['an editor in another account', 'editor', [...gated(news, story), `/podcasts/${news}/overview`], noRight],
    ['reports without a plan', 'launch', ofMany, noPlan],
    ['reports without the right', 'viewer', ofMany, noRight],
  ])('%s is refused first', async (_name, who, paths, message) => {
    for (const at of paths)
      expect([at, await get(at, who)]).toEqual([at, { status: 403, body: { code: 403, message } }]);
  });

  test("an analyst of another account's podcast sees it, by that account's plan", async () => {
    expect(await objects(`/podcasts/${news}/analytics?from=2026-07-01&to=2026-07-01&granularity=day`, 'guest')).toEqual(
      [{ date: '2026-07-01', downloads: 1, listeners: 1 }],
    );
  });
});
