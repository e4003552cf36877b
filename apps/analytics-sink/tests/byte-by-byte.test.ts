import { describe, expect, test } from '@jest/globals';
import type { DeliveryFact } from '@longwave/events';
import type { TestDatabase } from '@longwave/fleet';
import type { Pool } from '@longwave/postgres';
import { lists } from '@longwave/test-kit/delivery-facts';
import fc from 'fast-check';
import { reconcileAds } from '../src/ads/reconcile-ads.ts';
import { createCountingMemory, recordFacts } from '../src/counting/record-facts.ts';
import { countByteByByte, tinyFacts, tinyRecords, type TinyRecord } from './_byte-by-byte.ts';
import { recounted, stored } from './_counts.ts';
import { emptyTables, useTables } from './_tables.ts';

let database: TestDatabase;
let pool: Pool;
let admin: Pool;

useTables((tables) => ({ database, pool, admin } = tables));

const range = { from: new Date('2025-10-30T00:00Z'), to: new Date('2025-11-09T00:00Z') };

const record = (facts: readonly DeliveryFact[]) => recordFacts(pool, facts, lists, createCountingMemory());

async function countedBoth(records: readonly TinyRecord[]) {
  const facts = tinyFacts(records);
  await record(facts);
  const { hours: _hours, ...counted } = await stored(pool);
  const { hours: _recountedHours, ...recount } = recounted(facts);
  return { counted, recounted: recount };
}

/** One listen of the long file: bytes `from` up to `to`, in the given minute. */
const listen = (minutes: number, decision: TinyRecord['decision'], from: number, to: number): TinyRecord => ({
  ...{ listener: 'a', episode: 'ep_1', minutes, seconds: 0, file: 'long', decision },
  from,
  length: to - from,
});

describe('bytes are credited to the ads of the decision that they were made for, and to no other', () => {
  test.each<readonly [string, readonly TinyRecord[], readonly string[]]>([
    ['a header without a serving, then all of it with one', [listen(0, undefined, 0, 1), listen(1, 'A', 0, 20)], ['A']],
    ['half of an ad with its serving, half without', [listen(0, 'A', 0, 2), listen(1, undefined, 2, 20)], []],
    ['a header under one serving, all of it under another', [listen(0, 'A', 0, 1), listen(1, 'B', 0, 20)], ['B']],
    ['half of an ad under each of two servings', [listen(0, 'A', 0, 2), listen(1, 'B', 2, 20)], []],
    [
      'all of it under two servings, the later whole first',
      [listen(0, 'A', 0, 2), listen(1, 'B', 0, 20), listen(2, 'A', 2, 20)],
      ['B'],
    ],
  ])('%s', async (_case, records, decisions) => {
    const expected = decisions.map((decision) => `srv ${decision} long pre`);
    const { counted, recounted: again } = await countedBoth(records);
    const preRolls = ({ ads }: typeof counted) =>
      ads.map((row) => String(row['serving_id'])).filter((serving) => serving.endsWith('pre'));
    expect(preRolls(counted)).toEqual(expected);
    expect(preRolls(again)).toEqual(expected);
    expect(counted.billed.map((row) => row['serving_id'])).toEqual(expect.arrayContaining(expected));
    expect(counted.downloads).toHaveLength(1);
  });
});

test('counting and recounting equal an implementation that shares no code with them', async () => {
  await fc.assert(
    fc.asyncProperty(tinyRecords, fc.nat(), async (records, seed) => {
      await emptyTables(database);
      const expected = countByteByByte(records);
      const facts = tinyFacts(records);
      const [arrived = []] = fc.sample(fc.shuffledSubarray(facts, { minLength: facts.length }), { seed, numRuns: 1 });
      for (let at = 0; at < arrived.length; at += 5) await record(arrived.slice(at, at + 5));
      const { hours: _hours, ...counted } = await stored(pool);
      const { hours: _recountedHours, ...recount } = recounted(facts);
      expect(counted).toEqual(expected);
      expect(recount).toEqual(expected);
      const { delivered, covered, findings } = await reconcileAds(pool, 'ws_1', range);
      expect({ delivered, covered }).toEqual({ delivered: expected.ads.length, covered: expected.ads.length });
      expect(findings.filter(({ check }) => check !== 'billed_without_decision')).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test('recounting alone equals it over thousands of listens', () => {
  fc.assert(
    fc.property(tinyRecords, (records) => {
      const { hours: _hours, ...recount } = recounted(tinyFacts(records));
      expect(recount).toEqual(countByteByByte(records));
    }),
    { numRuns: 1_500 },
  );
});

test('reconciling finds an ad that was credited with the bytes of another decision', async () => {
  await record(tinyFacts([listen(0, 'A', 0, 1), listen(1, 'B', 0, 20)]));
  expect((await reconcileAds(pool, 'ws_1', range)).covered).toBe(2);
  await admin.query(`update ad_delivered set serving_id = replace(serving_id, 'srv B', 'srv A')`);
  const { covered, findings } = await reconcileAds(pool, 'ws_1', range);
  expect(covered).toBe(0);
  expect(findings.find(({ check }) => check === 'delivered_without_bytes')?.count).toBe(2);
});
