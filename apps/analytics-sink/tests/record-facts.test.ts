import { describe, expect, test } from '@jest/globals';
import { completeUntilMs } from '@longwave/audience-store';
import { retryTransient } from '@longwave/event-bus';
import type { DeliveryEvent, DeliveryFact } from '@longwave/events';
import type { TestDatabase } from '@longwave/fleet';
import type { Pool } from '@longwave/postgres';
import { batches, fact, lists, randomFacts, seen, shuffledTwice, totalBytes } from '@longwave/test-kit/delivery-facts';
import { createCountingMemory, recordFacts } from '../src/counting/record-facts.ts';
import { recounted, stored, totalsAndLedgers } from './_counts.ts';
import { emptyTables, useTables } from './_tables.ts';

let database: TestDatabase;
let pool: Pool;

useTables((tables) => ({ database, pool } = tables));

const record = (facts: readonly DeliveryFact[], memory = createCountingMemory()) =>
  recordFacts(pool, facts, lists, memory);

/** Limits so low that the few listeners of random facts are held now and then. */
const tight = { podcastEpisodes: 1, episodes: 2, addressDownloads: 3 };
const none = new Set<string>();

/** The totals that queries read are the sums of the ledgers, and none is below zero. */
async function expectSoundLedgers(): Promise<void> {
  const { totals, ledgers, negative } = await totalsAndLedgers(pool);
  expect(totals).toEqual(ledgers);
  expect(negative).toEqual([]);
}

describe('incremental counting equals counting from all facts at once, in all windows', () => {
  test.each([1, 2, 3, 4, 5, 6])('in any order, with every fact delivered twice (seed %i)', async (seed) => {
    const facts = randomFacts(seed);
    const expected = recounted(facts);
    expect(expected.downloads.length).toBeGreaterThan(2);
    expect(expected.rolling.length).toBeGreaterThan(1);
    for (const batch of batches(shuffledTwice(facts, seed), 1 + (seed % 9))) await record(batch);
    expect(await stored(pool)).toEqual(expected);
    await expectSoundLedgers();
    expect((await pool.query('select 1 from pending_fact')).rowCount).toBe(0);
  });

  test.each([7, 8, 9, 10])('with limits that hold some of it (seed %i)', async (seed) => {
    const facts = randomFacts(seed);
    const expected = recounted(facts, { limits: tight, released: none });
    expect(new Set(expected.downloads.map((row) => row['held'])).size).toBeGreaterThan(1);
    const memory = createCountingMemory();
    for (const batch of batches(shuffledTwice(facts, seed), 1 + (seed % 5)))
      await recordFacts(pool, batch, lists, memory, tight);
    expect(await stored(pool)).toEqual(expected);
    await expectSoundLedgers();
  });

  test.each([11, 12, 13])('with four consumers at once (seed %i)', async (seed) => {
    const facts = randomFacts(seed);
    const work = batches(shuffledTwice(facts, seed), 7);
    const consumer = async () => {
      const memory = createCountingMemory();
      for (let batch = work.pop(); batch !== undefined; batch = work.pop()) {
        const own = batch;
        await retryTransient(
          () => recordFacts(pool, own, lists, memory, tight),
          new AbortController().signal,
          () => undefined,
        );
      }
    };
    await Promise.all([consumer(), consumer(), consumer(), consumer()]);
    expect(await stored(pool)).toEqual(recounted(facts, { limits: tight, released: none }));
    await expectSoundLedgers();
    expect((await pool.query('select 1 from pending_fact')).rowCount).toBe(0);
  });

  test('over changes of secrets that a listener crosses by listening every day', async () => {
    // Each day half an hour earlier than the day before, so that what is counted depends on the first day of all.
    const facts = [
      seen(),
      ...Array.from({ length: 34 }, (_, nth) => {
        const at = new Date(Date.parse('2025-09-29T20:00:00Z') + nth * 23.5 * 3_600_000).toISOString();
        const month = Number(at.slice(5, 7));
        return fact({
          fact_id: `fct_${nth}`,
          started_at: at,
          published_at: '2025-09-01T00:00:00.000Z',
          listener_key: `key of ${month}`,
          ...(Number(at.slice(8, 10)) < 3 && { previous_listener_key: `key of ${month - 1}` }),
        });
      }),
    ];
    const expected = recounted(facts);
    expect(expected.rolling).toHaveLength(17);
    for (const batch of batches(shuffledTwice(facts, 5), 3)) await record(batch);
    expect(await stored(pool)).toEqual(expected);
  });
});

test('a fact links two keys of a listener for its own episode alone', async () => {
  const previous = { listener_key: 'old', episode_id: 'ep_2', started_at: '2025-10-31T23:00:00.000Z' };
  const facts = [
    seen(),
    fact({ fact_id: 'fct_1', ...previous }),
    fact({ fact_id: 'fct_2', listener_key: 'new', episode_id: 'ep_2', started_at: '2025-11-01T10:00:00.000Z' }),
    fact({
      fact_id: 'fct_3',
      listener_key: 'new',
      previous_listener_key: 'old',
      started_at: '2025-11-01T10:00:00.000Z',
    }),
  ];
  for (const one of facts) await record([one]);
  expect(await stored(pool)).toEqual(recounted(facts));
  expect((await stored(pool)).rolling).toHaveLength(3);
});

test('facts are counted when the text of their user agent comes later', async () => {
  await record([fact({ fact_id: 'fct_1' })]);
  expect((await stored(pool)).downloads).toEqual([]);
  await record([seen()]);
  expect((await stored(pool)).downloads).toHaveLength(1);
  expect((await pool.query('select judgement from fact')).rows).toEqual([{ judgement: 'eligible' }]);
});

test('after a crash between storing facts and settling them, their redelivery counts them', async () => {
  const { country, region, lists_version, listener_key, user_agent_digest, workspace_id, podcast_id, episode_id } =
    fact({
      fact_id: 'fct_1',
    });
  const report: DeliveryEvent = {
    ...{ country, region, lists_version, listener_key, user_agent_digest, workspace_id, podcast_id, episode_id },
    ...{ campaign_id: 'cmp_1', line_item_id: 'li_1', creative_id: 'crv_1', break_key: 'pre', slot: 0 },
    ...{ kind: 'delivery_event', fact_id: 'evt_1', serving_id: 'srv_1', event: 'start', sequence: 0 },
    ...{ at: '2025-11-02T10:00:01.000Z', late: false, address_verdict: 'ok' },
  };
  await record([fact({ fact_id: 'fct_1' }), report]);
  // The other process: it searched for waiting facts before these were committed.
  const { user_agent_digest: digest, user_agent: text, at } = seen();
  await pool.query('insert into user_agent (digest, text, first_seen_at) values ($1, $2, $3)', [digest, text, at]);
  await record([fact({ fact_id: 'fct_1' }), report], createCountingMemory());
  expect((await stored(pool)).downloads).toHaveLength(1);
  const { rows } = await pool.query('select judgement from client_event');
  expect(rows).toEqual([{ judgement: 'eligible' }]);
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
  expect((await stored(pool)).downloads).toEqual([]);
});

test('an ad is counted only when its last byte is written and its download is valid', async () => {
  const ad: [number, number] = [1000, 161_000];
  await record([seen(), fact({ fact_id: 'fct_1', written: [ad] })]);
  expect((await stored(pool)).ads).toEqual([]);
  await record([fact({ fact_id: 'fct_2', written: [[161_000, 961_000]] })]);
  expect((await stored(pool)).ads).toHaveLength(1);
  await record([fact({ fact_id: 'fct_3', listener_key: 'other', written: [[1001, totalBytes]] })]);
  expect((await stored(pool)).downloads).toHaveLength(2);
  expect((await stored(pool)).ads).toHaveLength(1);
});

test('a download that a late fact moves to the day before is kept as a restatement', async () => {
  await record([seen(), fact({ fact_id: 'fct_2', started_at: '2025-11-03T00:05:00.000Z' })]);
  await record([fact({ fact_id: 'fct_1', started_at: '2025-11-02T23:58:00.000Z', written: [[161_000, 200_000]] })]);
  const { downloads, hours } = await stored(pool);
  expect(downloads.map((row) => row['window_on'])).toEqual(['2025-11-02']);
  const counted = { downloads: 1, first_touch_24h: 1, last_touch_24h: 1 };
  expect(hours).toEqual([{ episode_id: 'ep_1', hour: new Date('2025-11-02T23:00:00Z'), ...counted }]);
  const { rows } = await pool.query(`select kind, old->>'window_on' as window_on from restatement order by id`);
  expect(rows).toEqual([{ kind: 'download', window_on: '2025-11-03' }]);
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

describe('one listener with very many small ranges', () => {
  const ranges = (count: number, everyMs: number) =>
    Array.from({ length: count }, (_, nth) => {
      const from = (nth * 16_384) % (totalBytes - 16_384);
      return fact({
        fact_id: `fct_${nth}`,
        request_id: `req_${nth}`,
        status: 206,
        started_at: new Date(Date.parse('2025-11-02T10:00:00Z') + nth * everyMs).toISOString(),
        requested: [[from, from + 16_384]],
        written: [[from, from + 16_384]],
      });
    });

  test('is counted once from as many rows as the listening took minutes, as if all facts were counted at once', async () => {
    const facts = [seen(), ...ranges(20_000, 30)];
    const memory = createCountingMemory();
    for (const batch of batches(facts, 500)) await record(batch, memory);
    expect((await pool.query('select from served_request')).rowCount).toBe(10);
    expect((await stored(pool)).downloads).toHaveLength(1);
    expect(await stored(pool)).toEqual(recounted(facts));
  });

  test('has the place of its first range, in whatever order they come', async () => {
    const [one, two] = ranges(2, 1000).map((each, nth) => ({ ...each, country: ['DE', 'AT'][nth]! }));
    for (const order of [
      [one!, two!],
      [two!, one!],
    ]) {
      await emptyTables(database);
      for (const each of [seen(), ...order]) await record([each]);
      const { rows } = await pool.query('select country, started_at from served_request');
      expect(rows).toEqual([{ country: 'DE', started_at: new Date(one!.started_at) }]);
    }
  });
});
