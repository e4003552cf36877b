import { beforeEach, describe, expect, test } from '@jest/globals';
import { userAgentDigest } from '@longwave/audience';
import type { ByteRangeServed, DeliveryFact } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { batches, fact, lists, player, randomFacts, seen, shuffledTwice } from '@longwave/test-kit/delivery-facts';
import {
  countByDimension,
  countByEpisode,
  countDownloads,
  countEpisodeDays,
  countEpisodes,
  countTotals,
  countWindows,
  findFirstDownloads,
  type Dimension,
} from '../src/queries/count-queries.ts';
import { createCountingMemory, recordFacts } from '../src/counting/record-facts.ts';
import { useTables } from './_tables.ts';

let pool: Pool;
let admin: Pool;

useTables((tables) => ({ pool, admin } = tables));

const record = (facts: readonly DeliveryFact[], memory = createCountingMemory()) =>
  recordFacts(pool, facts, lists, memory);

const dimensions: readonly Dimension[] = ['country', 'region', 'app', 'device', 'platform', 'operatingSystem'];
const days = (from: string, to: string) => ({ from: new Date(`${from}T00:00Z`), to: new Date(`${to}T00:00Z`) });
const november = days('2025-11-01', '2025-12-01');
const show = { workspaceId: 'ws_1', podcastId: 'pod_1' };
const whole = { ...show, episodeId: undefined };

const applePodcasts = 'Podcasts/1650.20 CFNetwork/1410.0.3 Darwin/22.6.0 model/iPhone14,5';
const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36';
const stranger = 'HarbourListener 4';

const by = (userAgent: string, changes: Partial<ByteRangeServed> & { fact_id: string }) =>
  fact({
    ...changes,
    listener_key: changes.listener_key ?? changes.fact_id,
    user_agent_digest: userAgentDigest(userAgent),
  });

/** Six downloads of two episodes by five listeners; a seventh of another podcast, an eighth of another workspace. */
const facts: readonly DeliveryFact[] = [
  seen(player),
  seen(applePodcasts),
  seen(chrome),
  seen(stranger),
  by(player, { fact_id: 'anna', started_at: '2025-11-02T10:00:00.000Z', country: 'DE', region: 'BE' }),
  by(player, {
    fact_id: 'anna2',
    listener_key: 'anna',
    started_at: '2025-11-03T10:59:59.999Z',
    country: 'DE',
    region: 'BE',
  }),
  by(applePodcasts, { fact_id: 'bert', started_at: '2025-11-02T11:00:00.000Z', country: 'DE' }),
  by(chrome, { fact_id: 'carl', started_at: '2025-11-02T10:30:00.000Z', country: 'US', region: 'BE' }),
  by(stranger, { fact_id: 'dora', started_at: '2025-11-30T23:59:59.999Z', country: 'unknown' }),
  by(player, { fact_id: 'emil', started_at: '2025-11-02T10:00:00.000Z', episode_id: 'ep_2', country: 'AT' }),
  by(player, { fact_id: 'fred', started_at: '2025-12-01T00:00:00.000Z', country: 'AT' }),
  by(player, { fact_id: 'gina', podcast_id: 'pod_2', episode_id: 'ep_9' }),
  by(player, { fact_id: 'hans', workspace_id: 'ws_2', episode_id: 'ep_8' }),
];

const keyed = (counts: readonly { readonly key: string; readonly downloads: bigint }[]) =>
  counts.map(({ key, downloads }) => [key, Number(downloads)]);
const asked = async (dimension: Dimension, scope: { episodeId: string | undefined } = whole) =>
  keyed(await countByDimension(pool, { ...show, ...scope }, november, dimension));

describe('numbers checked by hand', () => {
  beforeEach(() => record(facts));

  test('downloads by country, region, app, device, platform and operating system, most downloaded first', async () => {
    expect(await asked('country')).toEqual([
      ['DE', 3],
      ['AT', 1],
      ['US', 1],
      ['unknown', 1],
    ]);
    // The same code in two countries is two regions.
    expect(await asked('region')).toEqual([
      ['unknown', 3],
      ['DE-BE', 2],
      ['US-BE', 1],
    ]);
    expect(await asked('app')).toEqual([
      ['Overcast', 3],
      ['Apple Podcasts', 1],
      ['Chrome', 1],
      ['unknown', 1],
    ]);
    expect(await asked('device')).toEqual([
      ['Apple iPhone', 4],
      ['Windows Computer', 1],
      ['unknown', 1],
    ]);
    expect(await asked('platform')).toEqual([
      ['mobile', 4],
      ['computer', 1],
      ['unknown', 1],
    ]);
    expect(await asked('operatingSystem')).toEqual([
      ['iOS', 4],
      ['Windows', 1],
      ['unknown', 1],
    ]);
  });

  test('the same of one episode', async () => {
    expect(await asked('country', { episodeId: 'ep_2' })).toEqual([['AT', 1]]);
    expect(await asked('app', { episodeId: 'ep_2' })).toEqual([['Overcast', 1]]);
    expect(await asked('app', { episodeId: 'ep_8' })).toEqual([]);
  });

  test('buckets of one episode', async () => {
    const counts = await countDownloads(pool, { ...show, episodeId: 'ep_1' }, november, 'day');
    const shown = counts.map((one) => [new Date(one.startMs).toISOString().slice(0, 10), one.downloads, one.listeners]);
    expect(shown.sort()).toEqual([
      ['2025-11-02', 3n, 3n],
      ['2025-11-03', 1n, 1n],
      ['2025-11-30', 1n, 1n],
    ]);
  });

  test('totals of several podcasts in the order asked, zero where nothing was counted', async () => {
    expect(await countTotals(pool, 'ws_1', ['pod_2', 'pod_none', 'pod_1'], november)).toEqual([
      { podcastId: 'pod_2', downloads: 1n, listeners: 1n },
      { podcastId: 'pod_none', downloads: 0n, listeners: 0n },
      { podcastId: 'pod_1', downloads: 6n, listeners: 5n },
    ]);
    expect(await countTotals(pool, 'ws_2', ['pod_1', 'pod_2'], november)).toEqual([
      { podcastId: 'pod_1', downloads: 1n, listeners: 1n },
      { podcastId: 'pod_2', downloads: 0n, listeners: 0n },
    ]);
    expect(await countTotals(pool, 'ws_1', [], november)).toEqual([]);
  });

  test('episodes of several podcasts, most downloaded first, in their workspace alone', async () => {
    expect(await countEpisodes(pool, 'ws_1', ['pod_2', 'pod_none', 'pod_1'], november)).toEqual([
      { podcastId: 'pod_1', episodeId: 'ep_1', downloads: 5n },
      { podcastId: 'pod_1', episodeId: 'ep_2', downloads: 1n },
      { podcastId: 'pod_2', episodeId: 'ep_9', downloads: 1n },
    ]);
    expect(await countEpisodes(pool, 'ws_2', ['pod_1', 'pod_2'], november)).toEqual([
      { podcastId: 'pod_1', episodeId: 'ep_8', downloads: 1n },
    ]);
    expect(await countEpisodes(pool, 'ws_1', [], november)).toEqual([]);
  });

  test('the rows of an export: every day and episode that had downloads, oldest first', async () => {
    const rows = await countEpisodeDays(pool, show, november);
    expect(
      rows.map((row) => [new Date(Number(row.dayMs)).toISOString(), row.episodeId, row.downloads, row.listeners]),
    ).toEqual([
      ['2025-11-02T00:00:00.000Z', 'ep_1', 3n, 3n],
      ['2025-11-02T00:00:00.000Z', 'ep_2', 1n, 1n],
      ['2025-11-03T00:00:00.000Z', 'ep_1', 1n, 1n],
      ['2025-11-30T00:00:00.000Z', 'ep_1', 1n, 1n],
    ]);
  });
});

test('the first download of each podcast is known, in its workspace alone, and moves when it is taken back', async () => {
  await record(facts);
  const firsts = async (workspace: string) =>
    (await findFirstDownloads(pool, workspace, ['pod_none', 'pod_2', 'pod_1'])).map(({ podcastId, hourMs }) => [
      podcastId,
      new Date(Number(hourMs)).toISOString(),
    ]);
  expect(await firsts('ws_1')).toEqual([
    ['pod_2', '2025-11-02T10:00:00.000Z'],
    ['pod_1', '2025-11-02T10:00:00.000Z'],
  ]);
  expect(await firsts('ws_2')).toEqual([['pod_1', '2025-11-02T10:00:00.000Z']]);
  // An earlier, larger session replaces the download of pod_2.
  const earlier = { listener_key: 'gina', podcast_id: 'pod_2', episode_id: 'ep_9' };
  await record([
    by(player, {
      ...earlier,
      fact_id: 'gina_0',
      started_at: '2025-11-02T08:10:00.000Z',
      written: [[161_000, 200_000]],
    }),
  ]);
  expect((await firsts('ws_1'))[0]).toEqual(['pod_2', '2025-11-02T08:00:00.000Z']);
});

test('a late fact moves a download to its own day, country and all', async () => {
  await record([seen(), fact({ fact_id: 'late_2', started_at: '2025-11-03T00:05:00.000Z', country: 'FR' })]);
  const third = days('2025-11-03', '2025-11-04');
  expect(keyed(await countByDimension(pool, whole, third, 'country'))).toEqual([['FR', 1]]);
  await record([
    fact({ fact_id: 'late_1', started_at: '2025-11-02T23:58:00.000Z', written: [[161_000, 200_000]], country: 'CH' }),
  ]);
  expect(keyed(await countByDimension(pool, whole, third, 'country'))).toEqual([]);
  expect(keyed(await countByDimension(pool, whole, days('2025-11-02', '2025-11-03'), 'country'))).toEqual([['CH', 1]]);
});

test('a user agent whose text comes late is counted under its app, not under unknown', async () => {
  await record([by(chrome, { fact_id: 'early' })]);
  expect(await asked('app')).toEqual([]);
  await record([seen(chrome)]);
  expect(await asked('app')).toEqual([['Chrome', 1]]);
});

test('in a browser the page names the app, in an app the app does; a late first request brings its own page', async () => {
  await record([
    seen(chrome),
    seen(player),
    by(chrome, { fact_id: 'anna', started_at: '2025-11-02T10:00:30.000Z', web_player: 'Spotify' }),
    by(player, { fact_id: 'bert', web_player: 'Spotify' }),
  ]);
  expect(await asked('app')).toEqual([
    ['Overcast', 1],
    ['Spotify', 1],
  ]);
  expect(await asked('device')).toContainEqual(['Windows Computer', 1]);
  await record([
    by(chrome, { fact_id: 'anna_0', listener_key: 'anna', web_player: 'Castro', written: [[161_000, 162_000]] }),
  ]);
  expect(await asked('app')).toContainEqual(['Castro', 1]);
  expect(await asked('app')).not.toContainEqual(['Spotify', 1]);
});

test('a count of many episodes as it was known reads the ledger once, not once per episode', async () => {
  const episodes = 400;
  await pool.query(
    `insert into download_change (methodology_version, lists_version, restates, workspace_id, podcast_id, episode_id, hour,
       country, region, app, device, platform, downloads, first_touch_24h, last_touch_24h)
     select '1', '1', false, 'ws_1', 'pod_1', 'ep_' || (n % $1), $2::timestamptz + n / $1 * interval '1 hour',
       'DE', 'BE', 'unknown', 'unknown', 'unknown', 1, 1, 1
     from generate_series(0, $1 * 10 - 1) as n`,
    [episodes, november.from],
  );
  await admin.query('analyze download_change');
  const windows = Array.from({ length: episodes }, (_, n) => ({
    episodeId: `ep_${n}`,
    range: { from: november.from, to: new Date(november.from.getTime() + (n % 12) * 3_600_000) },
  }));
  const basis = { window: 'calendar_utc', knownAt: new Date('2100-01-01T00:00Z') } as const;
  const counts = await countWindows(pool, 'ws_1', windows, 'pod_1', basis);
  expect(counts).toEqual(windows.map((_, n) => BigInt(Math.min(n % 12, 10))));
  const planned: string[] = [];
  const explained = {
    query: async (text: string, values: unknown[]) => {
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain (analyze) ${text}`, values);
      planned.push(...rows.map((row) => row['QUERY PLAN']));
      return { rows: [] };
    },
  } as unknown as Pool;
  await countWindows(explained, 'ws_1', windows, 'pod_1', basis);
  const steps = planned.filter((line) => / on download_change|Nested Loop|SubPlan/.test(line));
  expect(steps).toEqual([expect.stringMatching(/ on download_change .* loops=1\)/)]);
});

const countries = ['DE', 'US', 'unknown'];
const agents = [player, applePodcasts, chrome, stranger];
const sum = (counts: readonly { readonly downloads: bigint }[]) =>
  counts.reduce((total, { downloads }) => total + downloads, 0n);

describe('every way of adding up gives the same total', () => {
  test.each([21, 22, 23, 24])('days, episodes, dimensions and export rows (seed %i)', async (seed) => {
    // Each listener keeps one country, region and user agent, as a real one does.
    const varied = randomFacts(seed).map((one) => {
      if (one.kind !== 'byte_range_served' || one.user_agent_digest !== userAgentDigest(player)) return one;
      const nth = one.listener_key.charCodeAt(0) + seed;
      return {
        ...one,
        country: countries[nth % countries.length]!,
        region: nth % 2 ? 'BE' : 'unknown',
        ...(nth % 3 === 0 && { web_player: 'Spotify' }),
        user_agent_digest: userAgentDigest(agents[nth % agents.length]!),
      };
    });
    const all = [...varied, ...agents.map((agent) => seen(agent))];
    const memory = createCountingMemory();
    for (const batch of batches(shuffledTwice(all, seed), 1 + (seed % 7))) await record(batch, memory);

    const range = days('2025-10-30', '2025-11-06');
    const [total] = await countTotals(pool, 'ws_1', ['pod_1'], range);
    expect(total!.downloads).toBeGreaterThan(2n);
    for (const unit of ['hour', 'day', 'week', 'month'] as const)
      expect(sum(await countDownloads(pool, whole, range, unit))).toBe(total!.downloads);
    expect(sum(await countEpisodeDays(pool, show, range))).toBe(total!.downloads);
    const episodes = await countByEpisode(pool, show, range);
    expect(sum(episodes)).toBe(total!.downloads);
    for (const dimension of dimensions) {
      expect(sum(await countByDimension(pool, whole, range, dimension))).toBe(total!.downloads);
      for (const { episodeId, downloads } of episodes)
        expect(sum(await countByDimension(pool, { ...show, episodeId }, range, dimension))).toBe(downloads);
    }
    const { rows } = await pool.query(
      `select workspace_id from download_audience_hour where downloads < 0
       union all select workspace_id from download_hour where downloads < 0`,
    );
    expect(rows).toEqual([]);
  });
});
