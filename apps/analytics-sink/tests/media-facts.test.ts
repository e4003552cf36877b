import { describe, expect, test } from '@jest/globals';
import { maxKeysOfPlay } from '@longwave/audience';
import { completeUntilMs, factColumns, factOf, type FactRow } from '@longwave/audience-store';
import { retryTransient } from '@longwave/event-bus';
import type { DeliveryFact } from '@longwave/events';
import type { TestDatabase } from '@longwave/fleet';
import { transaction, type Pool } from '@longwave/postgres';
import { batches, fact, lists, seen, shuffledTwice } from '@longwave/test-kit/delivery-facts';
import { described, inParts, mediaFact, mediaPlayer, randomMediaFacts } from '@longwave/test-kit/media-facts';
import { reconcileAds } from '../src/ads/reconcile-ads.ts';
import { createCountingMemory, recordFacts } from '../src/counting/record-facts.ts';
import { insertTrackParts } from '../src/counting/track-table.ts';
import { collectListeners, eraseListeners } from '../src/erasure/erase-listeners.ts';
import { recounted, stored, totalsAndLedgers } from './_counts.ts';
import { emptyTables, useTables } from './_tables.ts';

let pool: Pool;
let database: TestDatabase;

useTables((tables) => ({ pool, database } = tables));

const record = (facts: readonly DeliveryFact[], memory = createCountingMemory()) =>
  recordFacts(pool, facts, lists, memory);

/** Every delivered ad has a counted download, and its cells or bytes in facts. */
async function expectSoundAds(): Promise<void> {
  const range = { from: new Date('2025-10-30T00:00Z'), to: new Date('2025-11-06T00:00Z') };
  const { delivered, covered, findings } = await reconcileAds(pool, 'ws_1', range);
  expect(delivered).toBeGreaterThan(0);
  expect(covered).toBe(delivered);
  expect(findings.filter(({ check }) => check !== 'billed_without_decision')).toEqual([]);
}

const known = [seen(), ...Object.values(described)];
const waiting = async () => (await pool.query('select 1 from pending_fact')).rowCount;

describe('incremental counting of plays and MP3 equals counting from all facts at once', () => {
  test.each([1, 2, 3, 4])('in any order, with every fact delivered twice (seed %i)', async (seed) => {
    const facts = randomMediaFacts(seed);
    const expected = recounted(facts);
    expect(expected.downloads.length).toBeGreaterThan(2);
    const memory = createCountingMemory();
    for (const batch of batches(shuffledTwice(facts, seed), 1 + (seed % 9))) await record(batch, memory);
    expect(await stored(pool)).toEqual(expected);
    const { totals, ledgers, negative } = await totalsAndLedgers(pool);
    expect([totals, negative]).toEqual([ledgers, []]);
    await expectSoundAds();
    expect(await waiting()).toBe(0);
  });

  test.each([11])('with four consumers at once (seed %i)', async (seed) => {
    const facts = randomMediaFacts(seed);
    const work = batches(shuffledTwice(facts, seed), 5);
    const consumer = async () => {
      const memory = createCountingMemory();
      for (let batch = work.pop(); batch !== undefined; batch = work.pop()) {
        const own = batch;
        const attempt = () => recordFacts(pool, own, lists, memory);
        await retryTransient(attempt, new AbortController().signal, () => undefined);
      }
    };
    await Promise.all([consumer(), consumer(), consumer(), consumer()]);
    expect(await stored(pool)).toEqual(recounted(facts));
    expect(await waiting()).toBe(0);
  });
});

const ad = {
  ...{ serving_id: 'srv_1', campaign_id: 'cmp_1', line_item_id: 'li_1', creative_id: 'crv_1', break_key: 'pre' },
  ...{ slot: 0, billable: true },
};

test('MP3 and HLS in one window are one download, and a serving of both is delivered and billed once', async () => {
  const played = [mediaFact('audio', { fact_id: 'm1' }), mediaFact('ad_audio', { fact_id: 'm2', ad })];
  await record([...known, ...played]);
  await record([fact({ fact_id: 'f1', started_at: '2025-11-02T11:00:00.000Z' })]);
  const { downloads, ads, billed } = await stored(pool);
  expect(downloads).toMatchObject([
    { arrangement_id: 'presentation_1', duplicate_arrangements: 1, credited_ms: 132_000 },
  ]);
  expect([ads, billed]).toMatchObject([[{ serving_id: 'srv_1', counted: true }], [{ serving_id: 'srv_1' }]]);
  await expectSoundAds();
});

test('bytes of a track wait for its description, hold back `complete_until`, and are counted when it comes', async () => {
  await record([
    seen(),
    mediaFact('audio', { fact_id: 'm1' }),
    fact({ fact_id: 'f1', episode_id: 'ep_2', started_at: '2025-11-02T20:00:00.000Z' }),
  ]);
  expect((await stored(pool)).downloads).toHaveLength(1);
  expect(await completeUntilMs(pool)).toBe(Date.parse('2025-11-02T10:00:00.000Z'));
  await record([described.audio]);
  expect((await stored(pool)).downloads).toHaveLength(2);
  expect((await pool.query('select distinct judgement from fact')).rows).toEqual([{ judgement: 'eligible' }]);
  expect(await completeUntilMs(pool)).toBeGreaterThan(Date.parse('2025-11-02T19:00:00.000Z'));
});

test('bytes of a track wait for every part of its description, whichever comes last, and are counted once', async () => {
  for (const last of [0, 1, 2]) {
    await emptyTables(database);
    const parts = inParts(described.audio);
    const memory = createCountingMemory();
    await record([seen(), mediaFact('audio', { fact_id: 'm1' })], memory);
    for (const part of [...parts.toSpliced(last, 1), ...parts.toSpliced(last, 1)]) await record([part], memory);
    expect([(await stored(pool)).downloads.length, await waiting()]).toEqual([0, 1]);
    // Another process, which has read nothing before.
    await record([parts[last]!]);
    await record([mediaFact('audio', { fact_id: 'm2', listener_key: 'bert', play_id: 'play_2' })], memory);
    await record(parts, memory);
    expect((await stored(pool)).downloads).toMatchObject([{ credited_ms: 120_000 }, { credited_ms: 120_000 }]);
    expect(await waiting()).toBe(0);
  }
});

test('facts that wait for a user agent and a track are counted when the second of them comes', async () => {
  for (const order of [
    [seen(), described.audio],
    [described.audio, seen()],
  ]) {
    await emptyTables(database);
    await record([mediaFact('audio', { fact_id: 'm1' })]);
    await record([order[0]!]);
    expect((await stored(pool)).downloads).toEqual([]);
    await record([order[1]!]);
    expect((await stored(pool)).downloads).toHaveLength(1);
  }
});

test('after a crash between storing facts and settling them, their redelivery counts them', async () => {
  const played = mediaFact('audio', { fact_id: 'm1' });
  await record([seen(), played]);
  // The other process: it searched for waiting facts before these were committed.
  await transaction(pool, (tx) => insertTrackParts(tx, inParts(described.audio)));
  await record([played]);
  expect((await stored(pool)).downloads).toHaveLength(1);
  expect(await waiting()).toBe(0);
});

test('a description that is repeated counts what an earlier process left waiting', async () => {
  await record([seen(), mediaFact('audio', { fact_id: 'm1' })]);
  const parts = inParts(described.audio);
  await transaction(pool, (tx) => insertTrackParts(tx, parts));
  await record([parts[1]!]);
  expect((await stored(pool)).downloads).toHaveLength(1);
});

test('keys are one listener until the token has more of them than a listener has; then each counts for itself', async () => {
  await record(known);
  const network = (nth: number) =>
    mediaFact('audio', { fact_id: `m${nth}`, listener_key: `key ${nth}`, play_address_key: `network ${nth}` });
  const facts: DeliveryFact[] = [...known];
  for (const nth of Array.from({ length: maxKeysOfPlay + 2 }, (_, index) => index)) {
    facts.push(network(nth));
    await record([network(nth)]);
    expect((await stored(pool)).downloads).toHaveLength(nth < maxKeysOfPlay ? 1 : nth + 1);
  }
  expect(await stored(pool)).toEqual(recounted(facts));
});

test('playlists and lists of ads are read and count nowhere', async () => {
  const { fact_id, at, workspace_id, podcast_id, episode_id, presentation, play_id, listener_key, user_agent_digest } =
    mediaFact('audio', { fact_id: 'p1' });
  const listed = { at, workspace_id, podcast_id, episode_id, presentation, play_id, listener_key, user_agent_digest };
  await record([
    { kind: 'playlist_served', fact_id, ...listed, which: 'main' },
    { kind: 'asset_list_served', fact_id: 'p2', ...listed, break_key: 'pre', assets: ['srv_1'] },
  ]);
  expect(await stored(pool)).toEqual(recounted([]));
  expect((await pool.query('select 1 from fact')).rowCount).toBe(0);
});

test.each([1, 2])(
  'erasing a listener takes the keys that a play joined to it, changes no number, and a recount gives the same rows (seed %i)',
  async (seed) => {
    await record(randomMediaFacts(seed));
    // One that waits for its track.
    await record([mediaFact('audio', { fact_id: 'm1', track: 'later', listener_key: 'home Overc 10' })]);
    const numbers = async () => {
      const { downloads, rolling, ads, billed, hours } = await stored(pool);
      return { sizes: [downloads, rolling, ads, billed].map((rows) => rows.length), hours };
    };
    const before = await numbers();
    const name = { erasureId: 'lde_1', workspaceId: 'ws_1' };
    const keys = await collectListeners(pool, name, ['home Overc 10']);
    await eraseListeners(pool, name);
    expect(await numbers()).toEqual(before);
    const { rows } = await pool.query<FactRow>(
      `select ${factColumns} from fact f join layout l on l.digest = f.layout_digest`,
    );
    const facts = [...rows.map(factOf), seen(), seen(mediaPlayer), ...Object.values(described)];
    expect(await stored(pool)).toEqual(recounted(facts));
    expect(keys.length).toBeGreaterThan(2);
    const { rows: left } = await pool.query<{ text: string }>(
      'select payload::text as text from pending_fact union all select to_jsonb(f)::text from fact f',
    );
    const texts = left.map(({ text }) => text);
    expect(texts.filter((text) => keys.some((key) => text.includes(`"${key}"`)))).toEqual([]);
    expect(texts.filter((text) => /"play_address_key":\s*"home"/.test(text) && text.includes('later'))).toEqual([]);
  },
);
