import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { recount } from '@longwave/audience';
import type { DeliveryFact } from '@longwave/events';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { createPool, type Pool } from '@longwave/postgres';
import { completeUntilMs } from '../src/fact-table.ts';
import { createCountingMemory, recordFacts } from '../src/record-facts.ts';
import { retryTransient } from '@longwave/event-bus';
import { batches, fact, lists, randomFacts, seen, shuffledTwice, totalBytes } from './_facts.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await startTestDatabase({ schema: 'audience', migrations: 'apps/analytics-sink/prisma' });
  pool = createPool(database.url, 'audience', { name: 'test' });
});
afterAll(async () => {
  await pool?.end();
  await database?.stop();
});
beforeEach(async () => {
  for (const table of ['user_agent', 'layout', 'fact', 'pending_fact', 'listener_episode', 'served_request', 'session'])
    await pool.query(`delete from ${table}`);
  for (const table of ['ad_delivered', 'download_hour', 'download_audience_hour', 'restatement'])
    await pool.query(`delete from ${table}`);
});

const record = (facts: readonly DeliveryFact[], memory = createCountingMemory()) =>
  recordFacts(pool, facts, lists, memory);

/** Downloads, ads and hours as stored, in one order. */
async function stored() {
  const read = async (sql: string) => (await pool.query<Record<string, unknown>>(sql)).rows;
  return {
    downloads: await read(
      `select listener_key, episode_id, window_on::text, started_at, arrangement_id, credited_ms::int, content_ms::int,
         duplicate_arrangements from session where counted order by 1, 2, 3`,
    ),
    ads: await read(
      `select listener_key, episode_id, window_on::text, serving_id from ad_delivered order by 1, 2, 3, 4`,
    ),
    hours: await read(`select episode_id, hour, downloads::int from download_hour where downloads <> 0 order by 1, 2`),
  };
}

/** The same numbers by the reference method from the facts alone. */
function recounted(facts: readonly DeliveryFact[]): Awaited<ReturnType<typeof stored>> {
  const counted = recount(facts, lists.userAgents).sessions.filter(({ session }) => session.download !== undefined);
  const key = (row: Record<string, unknown>) => `${row['listener_key']} ${row['episode_id']} ${row['window_on']}`;
  const place = ({ episodeId, session }: (typeof counted)[number]) => ({
    listener_key: session.first.listenerKey,
    episode_id: episodeId,
    window_on: session.windowOn,
  });
  const downloads = counted.map((one) => ({
    ...place(one),
    started_at: new Date(one.session.first.startedAtMs),
    arrangement_id: one.session.download!.arrangementId,
    credited_ms: one.session.download!.creditedMs,
    content_ms: one.session.download!.contentMs,
    duplicate_arrangements: one.session.download!.duplicateArrangements.length,
  }));
  const ads = counted.flatMap((one) =>
    one.session.download!.ads.map((ad) => ({ ...place(one), serving_id: ad.servingId })),
  );
  const hourOf = (at: Date) => `${at.toISOString().slice(0, 13)}:00:00.000Z`;
  const byHour = Map.groupBy(downloads, (row) => `${row.episode_id} ${hourOf(row.started_at)}`);
  const hours = [...byHour.values()].map((rows) => ({
    episode_id: rows[0]!.episode_id,
    hour: new Date(hourOf(rows[0]!.started_at)),
    downloads: rows.length,
  }));
  const by =
    <R>(text: (row: R) => string) =>
    (a: R, b: R) =>
      text(a) < text(b) ? -1 : 1;
  return {
    downloads: downloads.sort(by(key)),
    ads: ads.sort(by(key)),
    hours: hours.sort(by((row) => `${row.episode_id} ${row.hour.toISOString()}`)),
  };
}

describe('incremental counting equals counting from all facts at once', () => {
  test.each([1, 2, 3, 4, 5, 6])('in any order, with every fact delivered twice (seed %i)', async (seed) => {
    const facts = randomFacts(seed);
    const expected = recounted(facts);
    expect(expected.downloads.length).toBeGreaterThan(2);
    for (const batch of batches(shuffledTwice(facts, seed), 1 + (seed % 9))) await record(batch);
    expect(await stored()).toEqual(expected);
    expect((await pool.query('select 1 from pending_fact')).rowCount).toBe(0);
  });

  test.each([11, 12, 13])('with four consumers at once (seed %i)', async (seed) => {
    const facts = randomFacts(seed);
    const work = batches(shuffledTwice(facts, seed), 7);
    const consumer = async () => {
      const memory = createCountingMemory();
      for (let batch = work.pop(); batch !== undefined; batch = work.pop()) {
        const own = batch;
        await retryTransient(
          () => record(own, memory),
          new AbortController().signal,
          () => undefined,
        );
      }
    };
    await Promise.all([consumer(), consumer(), consumer(), consumer()]);
    expect(await stored()).toEqual(recounted(facts));
    expect((await pool.query('select 1 from pending_fact')).rowCount).toBe(0);
  });
});

test('facts whose user agent is told later are counted when it is told', async () => {
  await record([fact({ fact_id: 'fct_1' })]);
  expect((await stored()).downloads).toEqual([]);
  await record([seen()]);
  expect((await stored()).downloads).toHaveLength(1);
  expect((await pool.query('select judgement from fact')).rows).toEqual([{ judgement: 'eligible' }]);
});

test('every fact keeps the code of the first rule that rejects it', async () => {
  await record([
    seen(),
    fact({ fact_id: 'fct_1', method: 'HEAD', written: [] }),
    fact({ fact_id: 'fct_2', requested: [[0, 2]], written: [[0, 2]], status: 206 }),
    fact({ fact_id: 'fct_3', address_verdict: 'dc_ip' }),
    fact({ fact_id: 'fct_4', user_agent_digest: null }),
  ]);
  const { rows } = await pool.query('select judgement from fact order by fact_id');
  expect(rows.map((row: { judgement: string }) => row.judgement)).toEqual(['method', 'probe', 'dc_ip', 'no_ua']);
  expect((await stored()).downloads).toEqual([]);
});

test('an ad is counted only when its last byte is written and its download is valid', async () => {
  const ad: [number, number] = [1000, 161_000];
  await record([seen(), fact({ fact_id: 'fct_1', written: [ad] })]);
  expect((await stored()).ads).toEqual([]);
  await record([fact({ fact_id: 'fct_2', written: [[161_000, 961_000]] })]);
  expect((await stored()).ads).toHaveLength(1);
  await record([fact({ fact_id: 'fct_3', listener_key: 'other', written: [[1001, totalBytes]] })]);
  expect((await stored()).downloads).toHaveLength(2);
  expect((await stored()).ads).toHaveLength(1);
});

test('a download that a late fact moves to the day before is kept as a restatement', async () => {
  await record([seen(), fact({ fact_id: 'fct_2', started_at: '2025-11-03T00:05:00.000Z' })]);
  await record([fact({ fact_id: 'fct_1', started_at: '2025-11-02T23:58:00.000Z', written: [[161_000, 200_000]] })]);
  const { downloads, hours } = await stored();
  expect(downloads.map((row) => row['window_on'])).toEqual(['2025-11-02']);
  expect(hours).toEqual([{ episode_id: 'ep_1', hour: new Date('2025-11-02T23:00:00Z'), downloads: 1 }]);
  const { rows } = await pool.query(`select kind, old->>'window_on' as window_on from restatement order by id`);
  expect(rows).toEqual([
    { kind: 'ad_delivered', window_on: '2025-11-03' },
    { kind: 'download', window_on: '2025-11-03' },
  ]);
});

test('counts are complete up to the newest fact less the settling time, or to the oldest fact that waits', async () => {
  expect(await completeUntilMs(pool)).toBe(0);
  await record([seen(), fact({ fact_id: 'fct_1', at: '2025-11-02T10:00:00.000Z' })]);
  expect(new Date(await completeUntilMs(pool)).toISOString()).toBe('2025-11-02T09:59:30.000Z');
  const waiting = fact({ fact_id: 'fct_2', started_at: '2025-11-02T09:00:00.000Z', user_agent_digest: 'f'.repeat(64) });
  await record([waiting]);
  expect(new Date(await completeUntilMs(pool)).toISOString()).toBe('2025-11-02T09:00:00.000Z');
});

test('a user agent under another digest than its own is refused', async () => {
  await expect(record([{ ...seen(), user_agent: 'Other/1' }])).rejects.toThrow(RangeError);
});

test('facts are recorded at some hundreds a second at least', async () => {
  const facts = Array.from({ length: 5_000 }, (_, index) => {
    const from = (index % 5) * 400_000;
    return fact({
      fact_id: `fct_${index}`,
      request_id: `req_${Math.floor(index / 5)}`,
      listener_key: `listener ${Math.floor(index / 25)}`,
      episode_id: `ep_${index % 3}`,
      written: [[from, Math.min(from + 400_000, totalBytes)]],
    });
  });
  const memory = createCountingMemory();
  await record([seen()], memory);
  const startedAt = performance.now();
  for (const batch of batches(facts, 500)) await record(batch, memory);
  const perSecond = Math.round(facts.length / ((performance.now() - startedAt) / 1000));
  process.stdout.write(`analytics-sink: ${perSecond} facts/s, one consumer, batches of 500\n`);
  expect(perSecond).toBeGreaterThan(200);
});
