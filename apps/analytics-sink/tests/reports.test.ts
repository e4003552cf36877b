import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { reportDimensions, reportFacts, reportMetrics, type ReportMetric } from '@longwave/events';
import type { TestDatabase } from '@longwave/fleet';
import type { Pool } from '@longwave/postgres';
import { Window } from '@longwave/rpc/audience';
import { lists, randomFacts, seen, withServing } from '@longwave/test-kit/delivery-facts';
import fc from 'fast-check';
import { recordDecisions } from '../src/ads/ad-ledger.ts';
import { saveOpportunities } from '../src/ads/opportunity-table.ts';
import { createCountingMemory, recordFacts } from '../src/counting/record-facts.ts';
import { countByteByByte, tinyFacts, tinyRecords } from './_byte-by-byte.ts';
import { readRows, type Ask } from './_reports.ts';
import { emptyTables, useTables } from './_tables.ts';

let database: TestDatabase;
let pool: Pool;
let admin: Pool;
useTables((tables) => ({ database, pool, admin } = tables));

const rowsOf = async (ask: Ask) => (await readRows(pool, ask)).rows;

/** Rows `key … count` of a list, in the order of the keys. */
function tally(keys: readonly (readonly string[])[]): string[] {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key.join(' '), (counts.get(key.join(' ')) ?? 0) + 1);
  return [...counts].map(([key, count]) => `${key} ${count}`).sort();
}

const parisDay = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Paris', dateStyle: 'short' });
const hourText = (at: Date) => `${at.toISOString().slice(0, 13)}:00:00Z`;

describe('a report equals an implementation that shares no code with counting or with reports', () => {
  test.each([1, 2, 3, 4])('for the facts of seed %d', async (seed) => {
    const records = fc
      .sample(tinyRecords, { seed, numRuns: 4 })
      .flatMap((list, nth) => list.map((one) => ({ ...one, episode: `${one.episode}.${nth}` })));
    await recordFacts(pool, tinyFacts(records), lists, createCountingMemory());
    const expected = countByteByByte(records);
    expect(expected.downloads.length).toBeGreaterThan(2);

    const paris = { timeZone: 'Europe/Paris' };
    expect(await rowsOf({ dimensions: ['day', 'episode'], ...paris })).toEqual(
      tally(expected.downloads.map((one) => [parisDay.format(one.started_at), one.episode_id])),
    );
    const perDay = expected.downloads.map((one) => [parisDay.format(one.started_at), one.listener_key] as const);
    expect(await rowsOf({ dimensions: ['day'], metrics: ['listeners'], ...paris })).toEqual(
      tally([...new Set(perDay.map((pair) => pair.join(' ')))].map((pair) => [pair.split(' ')[0]!])),
    );
    expect(await rowsOf({ dimensions: ['hour'], window: Window.FIRST_TOUCH_24H })).toEqual(
      tally(expected.rolling.map(({ started_at }) => [hourText(started_at)])),
    );
    expect(await rowsOf({ dimensions: ['hour'], window: Window.LAST_TOUCH_24H })).toEqual(
      tally(expected.rolling.filter((one) => one.last_touch).map(({ started_at }) => [hourText(started_at)])),
    );

    // A serving is called “srv DECISION FILE PLACE”; its ad belongs to line item “li DECISION”.
    const startOf = ({ listener_key, episode_id, window_on }: (typeof expected.ads)[number]) =>
      expected.downloads.find(
        (one) => one.listener_key === listener_key && one.episode_id === episode_id && one.window_on === window_on,
      )!.started_at;
    const place = (serving: string) => serving.split(' ')[3]!;
    const line = (serving: string) => `li ${serving.split(' ')[1]}`;
    const byBreak = { dimensions: ['line_item', 'break', 'day'], ...paris };
    expect(await rowsOf({ ...byBreak, metrics: ['ads_delivered'] })).toEqual(
      tally(expected.ads.map((ad) => [line(ad.serving_id), place(ad.serving_id), parisDay.format(startOf(ad))])),
    );
    expect(await rowsOf({ dimensions: ['line_item', 'hour'], metrics: ['ads_billable'] })).toEqual(
      tally(expected.billed.map(({ serving_id, hour }) => [line(serving_id), hourText(hour)])),
    );
    for (const stage of ['served', 'confirmed']) {
      const own = expected.reached.flatMap(
        (text) => text.match(new RegExp(`^${stage} (srv .*) (\\d\\d) \\d\\d$`)) ?? [],
      );
      const reached = Array.from({ length: own.length / 3 }, (_, nth) => own.slice(nth * 3 + 1, nth * 3 + 3));
      expect(await rowsOf({ dimensions: ['line_item', 'slot'], metrics: [`ads_${stage}`] })).toEqual(
        tally(reached.map(([serving]) => [line(serving!), '0'])),
      );
      expect(await rowsOf({ dimensions: ['line_item'], metrics: [`ads_${stage}`] })).toEqual(
        tally(reached.map(([serving]) => [line(serving!)])),
      );
    }
  });
});

/** Facts and decisions of two workspaces, in several podcasts and countries. */
async function recordBusyDays(): Promise<void> {
  const countries = ['DE', 'FR', 'US', 'unknown'];
  const facts = randomFacts(7).map((one, nth) =>
    one.kind !== 'byte_range_served'
      ? one
      : {
          ...one,
          podcast_id: `pod_${one.episode_id}`,
          country: countries[nth % 4]!,
          region: nth % 3 ? 'BY' : 'unknown',
        },
  );
  const ads = Array.from({ length: 12 }, (_, nth) =>
    withServing(`srv_${nth}`, {
      fact_id: `ad_${nth}`,
      listener_key: `listener_${nth}`,
      started_at: `2025-11-0${1 + (nth % 4)}T1${nth % 10}:20:00.000Z`,
      country: countries[nth % 3]!,
    }),
  );
  const foreign = withServing('srv_foreign', { fact_id: 'foreign', workspace_id: 'ws_2', listener_key: 'x' });
  await recordFacts(pool, [seen(), ...facts, ...ads, foreign], lists, createCountingMemory());
  const slot = { campaign_id: 'cmp_1', line_item_id: 'li_1', creative_id: 'crv_1', break_key: 'pre', billable: true };
  const decisions = ['ws_1', 'ws_1', 'ws_2'].map((workspace_id, nth) => ({
    ...{ decision_id: `dec_${nth}`, workspace_id, podcast_id: 'pod_1', episode_id: 'ep_1', country: 'DE' },
    decided_at: '2025-11-02T09:59:59.000Z',
    slots: [{ ...slot, serving_id: `decided_${nth}`, slot: nth, position: nth === 0 ? ('pre' as const) : undefined }],
  }));
  await recordDecisions(pool, decisions, lists.listsVersion);
  const event = {
    workspace_id: 'ws_1',
    podcast_id: 'pod_1',
    campaign_id: 'cmp_1',
    line_item_id: 'li_1',
    creative_id: 'crv_1',
  };
  for (const [workspace, kind, events] of [
    ['ws_1', 'start', 9],
    ['ws_1', 'complete', 4],
    ['ws_2', 'start', 7],
  ] as const)
    await pool.query(
      `insert into client_event_hour (workspace_id, podcast_id, campaign_id, line_item_id, creative_id, hour, event, events)
       values ($1, $2, $3, $4, $5, '2025-11-02T10:00Z', $6, $7)`,
      [workspace, event.podcast_id, event.campaign_id, event.line_item_id, event.creative_id, kind, events],
    );
  const hours = ['2025-11-02T09:00:00.000Z', '2025-11-02T23:00:00.000Z'];
  await saveOpportunities(pool, [
    { rows: opportunitiesOf('ws_1', hours) },
    { rows: opportunitiesOf('ws_2', hours.slice(1)), counted_until: '2025-11-03T00:00:00.000Z' },
  ]);
}

/** Ten plays of two breaks an hour, each with an empty slot in the second one; a release before counted the filled ones without positions. */
const opportunitiesOf = (workspace_id: string, hours: readonly string[]) =>
  hours.flatMap((hour) => {
    const play = { workspace_id, hour, podcast_id: 'pod_1', episode_id: 'ep_1', country: 'DE' };
    const slots = { ...play, requests: 0, opportunities: 10 };
    return [
      { ...play, break_key: '', no_ad_reason: '', requests: 10, opportunities: 0 },
      { ...slots, break_key: 'pre', no_ad_reason: '' },
      { ...slots, break_key: 'mid', no_ad_reason: '' },
      { ...slots, break_key: 'mid', no_ad_reason: 'no_lease', positions: { mid: 7, post: 3 } },
    ];
  });

const sumOf = (rows: readonly string[]) => rows.reduce((sum, row) => sum + Number(row.split(' ').at(-1)), 0);

test('the numbers of every metric by each of its dimensions add up to its total; distinct listeners never do worse than it', async () => {
  await recordBusyDays();
  const totals: Partial<Record<ReportMetric, number>> = {};
  for (const [metric, facts] of Object.entries(reportMetrics)) {
    const total = sumOf(await rowsOf({ metrics: [metric] }));
    totals[metric as ReportMetric] = total;
    for (const dimension of reportFacts[facts]) {
      const sum = sumOf(await rowsOf({ metrics: [metric], dimensions: [dimension], timeZone: 'Europe/Paris' }));
      if (metric === 'listeners') expect(sum).toBeGreaterThanOrEqual(total);
      else expect([metric, dimension, sum]).toEqual([metric, dimension, total]);
    }
  }
  expect(totals).toMatchObject({ ads_decided: 2, ads_delivered: 14, ads_billable: 12, ad_starts: 9, ad_completes: 4 });
  expect(totals).toMatchObject({ ad_requests: 20, ad_opportunities: 60, ads_unfilled: 20 });
  expect(totals.downloads).toBeGreaterThan(12);
});

test('numbers of several kinds stand in one row where their keys are equal, and rows without numbers are absent', async () => {
  await recordBusyDays();
  const rows = await rowsOf({
    dimensions: ['podcast', 'day'],
    metrics: ['downloads', 'ads_decided', 'ads_delivered', 'ad_starts'],
    filters: [{ dimension: 'podcast', keys: ['pod_1'] }],
  });
  expect(rows).toEqual([
    'pod_1 2025-11-01 3 0 3 0',
    'pod_1 2025-11-02 3 2 3 9',
    'pod_1 2025-11-03 3 0 3 0',
    'pod_1 2025-11-04 3 0 3 0',
  ]);
  expect(await rowsOf({ from: '2025-11-20T00:00Z', metrics: ['downloads', 'ads_decided'] })).toEqual([]);
});

test('a filter keeps the rows of its keys, a region is told with its country, an advertiser by its campaigns', async () => {
  await recordBusyDays();
  expect((await rowsOf({ dimensions: ['country'] })).map((row) => row.split(' ')[0])).toEqual(['DE', 'FR', 'US']);
  const german = await rowsOf({ dimensions: ['region'], filters: [{ dimension: 'country', keys: ['DE'] }] });
  expect(german.map((row) => row.split(' ')[0])).toEqual(['DE-BY', 'unknown']);
  const ads = { metrics: ['ads_delivered'], dimensions: ['advertiser'] };
  expect(await rowsOf(ads)).toEqual(['unknown 14']);
  const advertisers = [{ campaignId: 'cmp_1', advertiserId: 'adv_1' }];
  expect(await rowsOf({ ...ads, advertisers })).toEqual(['adv_1 14']);
  const filtered = (key: string) =>
    rowsOf({ ...ads, dimensions: [], advertisers, filters: [{ dimension: 'advertiser', keys: [key] }] });
  expect(await filtered('adv_1')).toEqual(['14']);
  expect(await filtered('adv_2')).toEqual([]);
});

test('an ad and a slot have the position of their break where the facts say it, and a line item has the type that management knows', async () => {
  await recordBusyDays();
  // Decided before it is delivered, and known by its decision alone.
  const delivered = await rowsOf({ metrics: ['ads_delivered'], dimensions: ['position'] });
  expect(delivered).toEqual(['unknown 14']);
  expect(await rowsOf({ metrics: ['ads_decided'], dimensions: ['position'] })).toEqual(['pre 1', 'unknown 1']);
  const slots = { metrics: ['ad_opportunities', 'ads_unfilled'], dimensions: ['position'] };
  expect(await rowsOf(slots)).toEqual(['mid 14 14', 'post 6 6', 'unknown 40 0']);
  const ofMids = [{ dimension: 'position', keys: ['mid'] }];
  expect(await rowsOf({ ...slots, dimensions: ['break'], filters: ofMids })).toEqual(['mid 14 14']);
  const lineItemTypes = [{ lineItemId: 'li_1', type: 'guaranteed' }];
  const ads = { metrics: ['ads_delivered', 'ad_starts'], dimensions: ['type'] };
  expect(await rowsOf(ads)).toEqual(['unknown 14 9']);
  expect(await rowsOf({ ...ads, lineItemTypes })).toEqual(['guaranteed 14 9']);
  expect(await rowsOf({ ...ads, lineItemTypes, filters: [{ dimension: 'type', keys: ['house'] }] })).toEqual([]);
});

test('every stage of a serving has the position that its decision said, whenever the decision came', async () => {
  const ad = withServing('srv_late', { fact_id: 'late', listener_key: 'late' });
  await recordFacts(pool, [seen(), ad], lists, createCountingMemory());
  const ask = { metrics: ['ads_decided', 'ads_served', 'ads_confirmed'], dimensions: ['position'] };
  expect(await rowsOf(ask)).toEqual(['unknown 0 1 1']);
  const slot = { campaign_id: 'cmp_1', line_item_id: 'li_1', creative_id: 'crv_1', break_key: 'pre', billable: true };
  const decision = {
    ...{ decision_id: 'dec_late', workspace_id: 'ws_1', podcast_id: 'pod_1', episode_id: 'ep_1', country: 'DE' },
    decided_at: '2025-11-02T09:59:59.000Z',
    slots: [{ ...slot, serving_id: 'srv_late', slot: 0, position: 'mid' as const }],
  };
  await recordDecisions(pool, [decision], lists.listsVersion);
  expect(await rowsOf(ask)).toEqual(['mid 1 1 1']);
});

test('positions of an hour that is counted again are those of the larger number, and one that a release before counts keeps them', async () => {
  const [, , , row] = opportunitiesOf('ws_1', ['2025-11-02T09:00:00.000Z']);
  const before = { ...row!, positions: undefined };
  const grown = { ...row!, opportunities: 12, positions: { mid: 12 } };
  const ask = { metrics: ['ads_unfilled'], dimensions: ['position'] };
  for (const rows of [[row!, before], [before]]) await saveOpportunities(pool, [{ rows }]);
  expect(await rowsOf(ask)).toEqual(['mid 7', 'post 3']);
  for (const rows of [[grown, row!], [row!]]) await saveOpportunities(pool, [{ rows }]);
  expect(await rowsOf(ask)).toEqual(['mid 12']);
  await saveOpportunities(pool, [{ rows: [{ ...before, opportunities: 13 }] }]);
  expect(await rowsOf(ask)).toEqual(['mid 12', 'unknown 1']);
});

test('a report has no number of another workspace, whatever its filters name', async () => {
  await recordBusyDays();
  for (const [metric, facts] of Object.entries(reportMetrics)) {
    const dimensions = reportFacts[facts].filter((name) => name !== 'advertiser').slice(0, 6);
    expect(await rowsOf({ workspaceId: 'ws_3', metrics: [metric], dimensions })).toEqual([]);
  }
  expect(await rowsOf({ workspaceId: 'ws_2', metrics: ['downloads', 'ads_decided', 'ad_starts'] })).toEqual(['1 1 7']);
  expect(
    await rowsOf({ workspaceId: 'ws_3', filters: [{ dimension: 'podcast', keys: ['pod_1', 'pod_ep_1'] }] }),
  ).toEqual([]);
});

test('the basis says until when facts are counted, in which window, and which hours of the workspace were restated', async () => {
  expect((await readRows(pool, {})).basis).toMatchObject({ completeUntilMs: 0n, restated: [] });
  await recordBusyDays();
  await admin.query(
    `insert into download_change (methodology_version, lists_version, restates, workspace_id, podcast_id, episode_id, hour, country, region,
       app, device, platform, downloads, first_touch_24h, last_touch_24h)
     values ('1', '1', true, 'ws_1', 'pod_9', 'ep_9', '2025-11-02T10:00Z', 'DE', 'unknown', 'a', 'd', 'p', 0, 1, 0),
       ('1', '1', true, 'ws_2', 'pod_9', 'ep_9', '2025-11-03T10:00Z', 'DE', 'unknown', 'a', 'd', 'p', 1, 1, 1)`,
  );
  const { basis } = await readRows(pool, { window: Window.FIRST_TOUCH_24H });
  expect(basis.window).toBe('WINDOW_FIRST_TOUCH_24H');
  expect(Number(basis.completeUntilMs)).toBeGreaterThan(Date.parse('2025-11-02T00:00Z'));
  expect(basis.restated.map(({ fromMs }) => new Date(Number(fromMs)).toISOString())).toEqual([
    '2025-11-02T10:00:00.000Z',
  ]);
  expect((await readRows(pool, {})).basis.restated).toEqual([]);
  // The decisions came after their hour was closed.
  const ads = (await readRows(pool, { metrics: ['ads_decided'] })).basis.restated;
  expect(ads.map(({ fromMs }) => new Date(Number(fromMs)).toISOString())).toEqual(['2025-11-02T09:00:00.000Z']);
});

test('opportunities that arrive twice, in another order or counted again are whole numbers that only grow', async () => {
  const [first, , , empty] = opportunitiesOf('ws_1', ['2025-11-02T09:00:00.000Z']);
  const message = { rows: [first!, empty!], counted_until: '2025-11-02T10:00:00.000Z' };
  const again = { rows: [{ ...first!, requests: 11 }, empty!], counted_until: '2025-11-02T11:00:00.000Z' };
  await saveOpportunities(pool, [message, again]);
  await saveOpportunities(pool, [message]);
  await saveOpportunities(pool, [again, message]);
  const ask = { metrics: ['ad_requests', 'ad_opportunities', 'ads_unfilled'] };
  const { rows, basis } = await readRows(pool, ask);
  expect([rows, basis.completeUntilMs]).toEqual([['11 10 10'], 0n]);
  await recordBusyDays();
  // Facts are counted further than opportunities.
  const counted = await readRows(pool, { ...ask, dimensions: ['no_ad_reason'], metrics: ['ads_unfilled'] });
  expect(counted.rows).toEqual(['no_lease 20']);
  expect(Number(counted.basis.completeUntilMs)).toBeLessThanOrEqual(Date.parse('2025-11-03T00:00Z'));
  expect((await readRows(pool, { metrics: ['ads_decided'] })).basis.completeUntilMs).toBeGreaterThan(
    counted.basis.completeUntilMs,
  );
});

describe('a report is refused', () => {
  test.each<readonly [string, Ask]>([
    ['without a metric', { metrics: [] }],
    ['by a name that nobody knows', { dimensions: ['shoe_size'] }],
    ['with a metric twice', { metrics: ['downloads', 'downloads'] }],
    ['by a dimension that a metric does not know', { dimensions: ['campaign'] }],
    ['with a filter that a metric does not know', { filters: [{ dimension: 'campaign', keys: ['cmp_1'] }] }],
    ['of opportunities by what only ads have', { metrics: ['ad_opportunities'], dimensions: ['line_item'] }],
    ['of requests by break', { metrics: ['ad_requests'], dimensions: ['break'] }],
    ['with a filter by time', { filters: [{ dimension: 'day', keys: ['2025-11-02'] }] }],
    ['of ads in a window of downloads', { metrics: ['ads_delivered'], window: Window.LAST_TOUCH_24H }],
    ['by days that are no whole hours of UTC', { timeZone: 'Asia/Kolkata' }],
    ['by days of a zone that does not exist', { timeZone: 'Mars/Olympus' }],
    ['over a range without an end', { from: '2025-12-01T00:00Z' }],
  ])('%s', async (_why, ask) => {
    await expect(readRows(pool, ask)).rejects.toMatchObject({ code: 'validation_failed' });
  });
});

test('a year of a busy workspace is one grouped query, read in bounded batches that wait for the reader', async () => {
  await admin.query(
    `insert into download_audience_hour (workspace_id, podcast_id, episode_id, hour, country, region, app, device, platform, downloads)
     select 'ws_1', 'pod_' || n % 5, 'ep_' || n % 40, '2024-12-01T00:00Z'::timestamptz + n % 8760 * interval '1 hour',
       'C' || n % 7, 'unknown', 'app_' || n % 11, 'phone', 'app', 1
     from generate_series(1, 20000) n`,
  );
  const statements: string[] = [];
  const watched = new Proxy(pool, {
    get: (target, name) =>
      name !== 'connect'
        ? Reflect.get(target, name)
        : async () => {
            const client = await target.connect();
            return new Proxy(client, {
              get: (session, key) => {
                const value: unknown = Reflect.get(session, key);
                if (typeof value !== 'function') return value;
                if (key !== 'query') return (value as () => unknown).bind(session);
                return (text: string, ...rest: unknown[]) => {
                  statements.push(text);
                  return (value as (...all: unknown[]) => unknown).call(session, text, ...rest);
                };
              },
            });
          },
  });
  const { rows, sizes } = await readRows(watched, {
    from: '2024-12-01T00:00Z',
    dimensions: ['hour', 'podcast', 'episode', 'country', 'app'],
  });
  expect(sumOf(rows)).toBe(20_000);
  expect(rows.length).toBe(20_000);
  expect(Math.max(...sizes)).toBe(1000);
  expect(statements.filter((text) => text.includes('group by key_0'))).toHaveLength(1);
  expect(statements.filter((text) => text.startsWith('fetch'))).toHaveLength(21);
  expect(statements.filter((text) => !text.startsWith('fetch')).length).toBeLessThan(10);
  expect(rows).toEqual(rows.toSorted());
  await emptyTables(database);
});

test('every metric knows the dimensions of its facts, and every dimension is known by one of them', () => {
  const known = new Set<string>(Object.values(reportFacts).flat());
  expect([...known].sort()).toEqual([...reportDimensions].sort());
});

test('the table of docs/reports.md says what each metric is counted by', () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/reports.md'), 'utf8');
  const cells = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const lines = page.split('\n').filter((line) => line.startsWith('|'));
  const [head, , ...body] = lines.slice(0, 2 + reportDimensions.length).map(cells);
  const namesIn = (cell = '') => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
  const written = head!
    .slice(1)
    .flatMap((cell, nth) =>
      namesIn(cell).map((metric) => [
        metric,
        body.filter((row) => row[nth + 1] === 'yes').map((row) => namesIn(row[0])[0]),
      ]),
    );
  expect(written).toEqual(Object.entries(reportMetrics).map(([metric, facts]) => [metric, reportFacts[facts]]));
});
