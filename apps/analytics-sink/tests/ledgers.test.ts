import { expect, test } from '@jest/globals';
import { methodologyVersion } from '@longwave/audience';
import type { Pool } from '@longwave/postgres';
import { batches, fact, lists, randomFacts, seen, shuffledTwice } from '@longwave/test-kit/delivery-facts';
import { countAds } from '../src/queries/ad-queries.ts';
import { countByDimension, countByEpisode, countDownloads, type DownloadBasis } from '../src/queries/count-queries.ts';
import { countSeries } from '../src/queries/count-series.ts';
import { createCountingMemory, recordFacts } from '../src/counting/record-facts.ts';
import { findRestatedAds, findRestatedDownloads } from '../src/queries/restated-ranges.ts';
import { totalsAndLedgers } from './_counts.ts';
import { useTables } from './_tables.ts';

let pool: Pool;

useTables((tables) => ({ pool } = tables));

const record = (facts: Parameters<typeof recordFacts>[1]) => recordFacts(pool, facts, lists, createCountingMemory());
const scope = { workspaceId: 'ws_1', podcastId: 'pod_1', episodeId: undefined };
const range = { from: new Date('2025-10-30T00:00Z'), to: new Date('2025-11-06T00:00Z') };

/** The database's time between two transactions. */
const now = async (): Promise<Date> =>
  (await pool.query<{ now: Date }>(`select pg_sleep(0.005), clock_timestamp() as now, pg_sleep(0.005)`)).rows[0]!.now;

/** The answers of every query, as known at a time or now. */
async function numbers(knownAt: Date | undefined) {
  const basis: DownloadBasis = { window: 'calendar_utc', knownAt };
  const ads = { workspaceId: 'ws_1', kind: 'campaignId', id: 'cmp_1' } as const;
  const hours = await countDownloads(pool, scope, range, 'hour', basis);
  return {
    hours: hours
      .filter((row) => row.downloads > 0n)
      .map((row) => [row.startMs, row.downloads])
      .sort(),
    episodes: await countByEpisode(pool, scope, range, basis),
    countries: await countByDimension(pool, scope, range, 'country', basis),
    ads: await countAds(pool, ads, range, knownAt),
    rolling: await countByEpisode(pool, scope, range, { window: 'first_touch_24h', knownAt }),
  };
}

test.each([41, 42])(
  'numbers can be asked as they were known at any time, whatever came later (seed %i)',
  async (seed) => {
    const known: { readonly at: Date; readonly numbers: unknown }[] = [];
    for (const batch of batches(shuffledTwice(randomFacts(seed), seed), 60)) {
      await record(batch);
      known.push({ at: await now(), numbers: await numbers(undefined) });
    }
    const text = (value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
    expect(new Set(known.map((one) => JSON.stringify(one.numbers, (_, value) => text(value)))).size).toBeGreaterThan(2);
    for (const one of known) expect(await numbers(one.at)).toEqual(one.numbers);
    expect(await numbers(new Date('2020-01-01'))).toMatchObject({ hours: [], episodes: [] });
  },
);

test('the tables that queries read can be made again from the ledgers alone', async () => {
  for (const batch of batches(shuffledTwice(randomFacts(43), 43), 9)) await record(batch);
  const { totals, ledgers } = await totalsAndLedgers(pool);
  expect(totals.every((rows) => rows.length > 0)).toBe(true);
  expect(totals).toEqual(ledgers);
});

test('a change has the versions of method and lists, and says whether it restates a closed hour', async () => {
  await record([seen(), fact({ fact_id: 'fct_1', listener_key: 'anna', started_at: '2025-11-02T10:00:00.000Z' })]);
  await record([fact({ fact_id: 'fct_2', listener_key: 'bert', started_at: '2025-11-03T10:30:00.000Z' })]);
  // Within 25 h and 30 s of the newest fact: not closed yet.
  await record([fact({ fact_id: 'fct_3', listener_key: 'carl', started_at: '2025-11-02T10:59:00.000Z' })]);
  await record([fact({ fact_id: 'fct_4', listener_key: 'dora', started_at: '2025-11-03T11:00:30.000Z' })]);
  await record([fact({ fact_id: 'fct_5', listener_key: 'emil', started_at: '2025-11-02T10:01:00.000Z' })]);
  const { rows } = await pool.query(
    `select to_char(hour at time zone 'UTC', 'DD HH24') as hour, restates, downloads::int, methodology_version, lists_version
     from download_change order by id`,
  );
  const basis = { downloads: 1, methodology_version: methodologyVersion, lists_version: lists.listsVersion };
  expect(rows).toEqual([
    { hour: '02 10', restates: false, ...basis },
    { hour: '03 10', restates: false, ...basis },
    { hour: '02 10', restates: false, ...basis },
    { hour: '03 11', restates: false, ...basis },
    { hour: '02 10', restates: true, ...basis },
  ]);
});

test('no row of a ledger can be changed or taken out', async () => {
  await record([seen(), fact({ fact_id: 'fct_1' })]);
  await pool.query(
    `insert into anomaly_decision (kind, key, day, decision, reason, decided_by)
     values ('listener', 'listener', '2025-11-02', 'release', 'A school.', 'Ada')`,
  );
  for (const table of ['download_change', 'ad_entry', 'anomaly_decision']) {
    await expect(pool.query(`delete from ${table}`)).rejects.toThrow(`${table} is append-only`);
    await expect(pool.query(`update ${table} set id = id`)).rejects.toThrow(`${table} is append-only`);
  }
});

test('numbers as known at an earlier time are in UTC alone', async () => {
  const basis: DownloadBasis = { window: 'calendar_utc', knownAt: new Date() };
  await expect(countSeries(pool, scope, range, 'day', 'Europe/Paris', basis)).rejects.toMatchObject({
    code: 'validation_failed',
  });
});

test('rolling windows are counted in days of a zone and in UTC alike', async () => {
  for (const batch of batches(shuffledTwice(randomFacts(44), 44), 30)) await record(batch);
  for (const window of ['first_touch_24h', 'last_touch_24h'] as const) {
    const basis: DownloadBasis = { window, knownAt: undefined };
    const utc = await countSeries(pool, scope, range, 'day', undefined, basis);
    expect(utc.some((bucket) => bucket.downloads > 0n && bucket.listeners > 0n)).toBe(true);
    expect(await countSeries(pool, scope, range, 'day', 'UTC', basis)).toEqual(utc);
  }
});

/** Restated ranges as texts: "02 10 to 02 11 (1)", the number says in which order the changes were recorded. */
const restatedIn = async (basis: DownloadBasis, episodeId?: string) => {
  const ranges = await findRestatedDownloads(
    pool,
    { workspaceId: 'ws_1', podcastIds: ['pod_1'], episodeId },
    range,
    basis,
  );
  const hour = (ms: bigint) => new Date(Number(ms)).toISOString().slice(8, 13).replace('T', ' ');
  return ranges.map(({ fromMs, toMs }) => `${hour(fromMs)} to ${hour(toMs)}`);
};

test('restated hours are listed by window and as known at a time: neighbours as one range, the latest restatement first', async () => {
  const calendar: DownloadBasis = { window: 'calendar_utc', knownAt: undefined };
  const at = (id: string, startedAt: string, more: Partial<Parameters<typeof fact>[0]> = {}) =>
    fact({ fact_id: id, listener_key: id, started_at: startedAt, ...more });
  await record([seen(), at('open', '2025-11-02T10:00:00.000Z'), at('newest', '2025-11-05T10:00:00.000Z')]);
  expect(await restatedIn(calendar)).toEqual([]);
  await record([at('late', '2025-11-02T10:30:00.000Z')]);
  const afterOne = await now();
  await record([
    at('two', '2025-10-31T23:10:00.000Z'),
    at('three', '2025-11-01T00:10:00.000Z', { episode_id: 'ep_2' }),
  ]);
  expect(await restatedIn(calendar)).toEqual(['31 23 to 01 01', '02 10 to 02 11']);
  expect(await restatedIn(calendar, 'ep_2')).toEqual(['01 00 to 01 01']);
  expect(await restatedIn({ ...calendar, knownAt: afterOne })).toEqual(['02 10 to 02 11']);
  // A second download within 24 h, on the day before: only `calendar_utc` counts it.
  await record([at('again', '2025-11-03T09:00:00.000Z', { listener_key: 'late' })]);
  expect(await restatedIn(calendar)).toContain('03 09 to 03 10');
  expect(await restatedIn({ ...calendar, window: 'first_touch_24h' })).not.toContain('03 09 to 03 10');
  const ofAds = await findRestatedAds(pool, { workspaceId: 'ws_1', kind: 'podcastId', id: 'pod_1' }, range);
  expect(ofAds.map(({ fromMs }) => new Date(Number(fromMs)).toISOString())).toContain('2025-11-02T10:00:00.000Z');
  expect(await findRestatedAds(pool, { workspaceId: 'ws_2', kind: 'podcastId', id: 'pod_1' }, range)).toEqual([]);
});
