import { beforeEach, expect, test } from '@jest/globals';
import { keyDay } from '@longwave/audience';
import type { Pool } from '@longwave/postgres';
import { batches, fact, lists, randomFacts, seen, shuffledTwice } from '@longwave/test-kit/delivery-facts';
import { countDownloads, type DownloadBasis } from '../src/queries/count-queries.ts';
import { decideAnomaly, listAnomalies } from '../src/velocity/decide-anomaly.ts';
import { createCountingMemory, recordFacts, type CountingMemory } from '../src/counting/record-facts.ts';
import { recounted, stored, totalsAndLedgers } from './_counts.ts';
import { useTables } from './_tables.ts';

let pool: Pool;

useTables((tables) => ({ pool } = tables));
let memory: CountingMemory;
beforeEach(() => {
  memory = createCountingMemory();
});

const record = (facts: Parameters<typeof recordFacts>[1]) => recordFacts(pool, facts, lists, memory);

/** Whole downloads of so many episodes by one listener. */
const spree = (listener: string, episodes: number, from = 0) =>
  Array.from({ length: episodes }, (_, nth) => {
    const at = new Date(Date.parse('2025-11-02T00:00:00Z') + (from + nth) * 60_000).toISOString();
    const name = `${listener} ${from + nth}`;
    return fact({ fact_id: name, started_at: at, listener_key: listener, episode_id: `ep_${from + nth}` });
  });

/** The counted downloads of the day in each window. */
async function counted(): Promise<number[]> {
  const scope = { workspaceId: 'ws_1', podcastId: 'pod_1', episodeId: undefined };
  const range = { from: new Date('2025-11-02T00:00Z'), to: new Date('2025-11-03T00:00Z') };
  const windows: readonly DownloadBasis['window'][] = ['calendar_utc', 'first_touch_24h', 'last_touch_24h'];
  const rows = windows.map((window) => countDownloads(pool, scope, range, 'day', { window, knownAt: undefined }));
  return (await Promise.all(rows)).map(([row]) => Number(row?.downloads ?? 0n));
}

const ads = async (): Promise<number> =>
  Number((await pool.query<{ ads: string }>('select sum(delivered) as ads from ad_hour')).rows[0]!.ads ?? 0);

const decide = (decision: 'release' | 'reject', kind: 'listener' | 'address' = 'listener', key = 'glutton') =>
  decideAnomaly(
    pool,
    { kind, key, day: '2025-11-02', decision, decidedBy: 'Ada', reason: 'A school behind one address.' },
    lists.listsVersion,
  );

test('the fifty-first episode of a day takes back the fifty before it, in every window and with their ads', async () => {
  await record([seen(), ...spree('glutton', 50), ...spree('other', 1)]);
  expect([await counted(), await ads()]).toEqual([[51, 51, 51], 51]);
  await record(spree('glutton', 1, 50));
  expect([await counted(), await ads()]).toEqual([[1, 1, 1], 1]);
  const { rows } = await pool.query<{ held: string; sessions: number }>(
    'select held, count(*)::int as sessions from session where held is not null group by 1',
  );
  expect(rows).toEqual([{ held: 'velocity_listener', sessions: 51 }]);
  const { rows: restated } = await pool.query<{ count: number }>(`select count(*)::int from restatement`);
  expect(restated).toEqual([{ count: 50 }]);
  expect(await stored(pool)).toEqual(recounted([seen(), ...spree('glutton', 51), ...spree('other', 1)]));
});

test('a person releases a day and takes that back, and every decision is stored', async () => {
  const facts = [seen(), ...spree('glutton', 51), ...spree('other', 1)];
  await record(facts);
  const held = { kind: 'listener', key: 'glutton', day: '2025-11-02', downloads: 51, infeasible: true };
  expect(await listAnomalies(pool, true)).toEqual([{ ...held, decision: null }]);

  await decide('release');
  expect([await counted(), await ads()]).toEqual([[52, 52, 52], 52]);
  expect(await listAnomalies(pool, true)).toEqual([]);
  const limits = { podcastEpisodes: 50, episodes: 500, addressDownloads: 2_000 };
  const released = new Set([keyDay('listener', 'glutton', '2025-11-02')]);
  expect(await stored(pool)).toEqual(recounted(facts, { limits, released }));

  // Later downloads of a released day count too.
  await record(spree('glutton', 1, 51));
  expect(await counted()).toEqual([53, 53, 53]);
  await decide('reject');
  expect([await counted(), await ads()]).toEqual([[1, 1, 1], 1]);
  expect(await listAnomalies(pool, false)).toEqual([{ ...held, downloads: 52, decision: 'reject' }]);
  const { rows } = await pool.query('select decision, decided_by from anomaly_decision order by id');
  expect(rows).toEqual([
    { decision: 'release', decided_by: 'Ada' },
    { decision: 'reject', decided_by: 'Ada' },
  ]);
  const { totals, ledgers } = await totalsAndLedgers(pool);
  expect(totals).toEqual(ledgers);
});

test('a day that is not held cannot be decided', async () => {
  await record([seen(), ...spree('glutton', 3)]);
  await expect(decide('release')).rejects.toMatchObject({ code: 'not_found' });
  await expect(decide('release', 'address', 'nobody')).rejects.toMatchObject({ code: 'not_found' });
  expect((await pool.query('select 1 from anomaly_decision')).rowCount).toBe(0);
  expect((await pool.query(`select 1 from velocity_day where key = 'nobody'`)).rowCount).toBe(0);
});

test('two thousand listeners of one address count; with one more none counts, unless the safe list holds the address', async () => {
  const crowd = (from: number, to: number, safe: boolean) =>
    Array.from({ length: to - from }, (_, nth) =>
      fact({
        fact_id: `${safe} ${from + nth}`,
        listener_key: `${safe} ${from + nth}`,
        address_key: safe ? 'dormitory' : 'address',
        ...(safe && { address_safe: true }),
      }),
    );
  await record([seen(), ...crowd(0, 2_000, false), ...crowd(0, 2_001, true)]);
  expect(await counted()).toEqual([4_001, 4_001, 4_001]);
  await record(crowd(2_000, 2_001, false));
  expect(await counted()).toEqual([2_001, 2_001, 2_001]);
  const { rows } = await pool.query('select distinct held from session where held is not null');
  expect(rows).toEqual([{ held: 'velocity_address' }]);
  await decide('release', 'address', 'address');
  expect(await counted()).toEqual([4_002, 4_002, 4_002]);
});

test.each([35, 37, 39, 41, 43])(
  'decisions amid late facts give what recount gives with them (seed %i)',
  async (seed) => {
    const limits = { podcastEpisodes: 1, episodes: 2, addressDownloads: 1_000 };
    const facts = randomFacts(seed);
    const [first, ...rest] = batches(shuffledTwice(facts, seed), 25);
    await recordFacts(pool, first!, lists, memory, limits);
    const released = new Set<string>();
    for (const one of rest) {
      await recordFacts(pool, one, lists, memory, limits);
      const [anomaly] = await listAnomalies(pool, true);
      if (anomaly === undefined) continue;
      const decision = anomaly.key.startsWith('b') ? 'reject' : 'release';
      await decideAnomaly(pool, { ...anomaly, decision, decidedBy: 'Ada', reason: 'Looked at.' }, lists.listsVersion);
      if (decision === 'release') released.add(keyDay(anomaly.kind, anomaly.key, anomaly.day));
    }
    expect(released.size).toBeGreaterThan(0);
    expect(await stored(pool)).toEqual(recounted(facts, { limits, released }));
  },
);
