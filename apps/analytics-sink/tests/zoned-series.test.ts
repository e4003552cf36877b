import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { createPool, type Pool } from '@longwave/postgres';
import { fact, lists, randomFacts, seen } from '@longwave/test-kit/delivery-facts';
import { countSeries } from '../src/queries/count-series.ts';
import { createCountingMemory, recordFacts } from '../src/counting/record-facts.ts';
import { resolveTimeZone } from '../src/queries/zoned-queries.ts';

let database: TestDatabase;
let pool: Pool;

/** Listener, then the instant of the download; a listener has one download an episode and UTC day. */
const downloads = [
  ['anna', '2025-10-25T21:59:59.999Z'],
  ['anna', '2025-10-26T00:30:00.000Z'],
  ['bert', '2025-10-26T01:30:00.000Z'],
  ['carl', '2025-10-26T22:59:59.999Z'],
  ['anna', '2025-10-27T12:00:00.000Z'],
  ['dora', '2025-11-02T18:29:59.999Z'],
  ['emil', '2025-11-02T18:30:00.000Z'],
  ['dora', '2025-11-03T00:00:00.000Z'],
  ['emil', '2025-11-03T18:29:59.999Z'],
  ['emil', '2025-11-04T18:30:00.000Z'],
] as const;

beforeAll(async () => {
  database = await startTestDatabase({ schema: 'audience', migrations: 'apps/analytics-sink/prisma' });
  pool = createPool(database.url, 'audience', { name: 'test', copies: true });
  const facts = downloads.map(([listener, at], nth) =>
    fact({ fact_id: `fct_${nth}`, started_at: at, at, listener_key: listener }),
  );
  const varied = randomFacts(21).map((one) =>
    one.kind === 'byte_range_served' ? { ...one, podcast_id: 'pod_2' } : one,
  );
  await recordFacts(pool, [seen(), ...facts, ...varied], lists, createCountingMemory());
});
afterAll(async () => {
  await pool?.end();
  await database?.stop();
});

const series = async (unit: 'hour' | 'day' | 'week' | 'month', from: string, to: string, zone?: string) => {
  const scope = { workspaceId: 'ws_1', podcastId: 'pod_1', episodeId: undefined };
  const counts = await countSeries(pool, scope, { from: new Date(from), to: new Date(to) }, unit, zone);
  return counts.map(({ startMs, downloads: count, listeners }) => [
    new Date(startMs).toISOString().slice(0, unit === 'hour' ? 16 : 10),
    Number(count),
    Number(listeners),
  ]);
};

test('days of a zone begin and end at its midnights, also the one of 25 hours', async () => {
  expect(await series('day', '2025-10-24T22:00Z', '2025-10-27T23:00Z', 'Europe/Paris')).toEqual([
    ['2025-10-25', 1, 1],
    ['2025-10-26', 3, 3],
    ['2025-10-27', 1, 1],
  ]);
});

test('days of a zone that is half an hour off are exact', async () => {
  expect(await series('day', '2025-11-01T18:30Z', '2025-11-04T18:30Z', 'Asia/Kolkata')).toEqual([
    ['2025-11-02', 1, 1],
    ['2025-11-03', 3, 2],
    ['2025-11-04', 0, 0],
  ]);
});

test('weeks and months are those of the zone', async () => {
  expect(await series('week', '2025-10-26T18:30Z', '2025-11-09T18:30Z', 'Asia/Kolkata')).toEqual([
    ['2025-10-27', 3, 3],
    ['2025-11-03', 4, 2],
  ]);
  expect(await series('month', '2025-10-01T07:00Z', '2025-12-01T08:00Z', 'America/Los_Angeles')).toEqual([
    ['2025-10-01', 5, 3],
    ['2025-11-01', 5, 2],
  ]);
});

test('hours follow each other from the start of the range on, through the one that clocks show twice', async () => {
  expect(await series('hour', '2025-10-25T23:00Z', '2025-10-26T02:00Z', 'Europe/Paris')).toEqual([
    ['2025-10-25T23:00', 0, 0],
    ['2025-10-26T00:00', 1, 1],
    ['2025-10-26T01:00', 1, 1],
  ]);
  expect(await series('hour', '2025-11-02T17:30Z', '2025-11-02T19:30Z', 'Asia/Kolkata')).toEqual([
    ['2025-11-02T17:30', 1, 1],
    ['2025-11-02T18:30', 1, 1],
  ]);
});

test('in UTC counting from sessions and from rollups is the same', async () => {
  for (const unit of ['hour', 'day', 'week', 'month'] as const) {
    const scope = { workspaceId: 'ws_1', podcastId: 'pod_2', episodeId: undefined };
    const range = { from: new Date('2025-10-30T00:00Z'), to: new Date('2025-11-06T00:00Z') };
    const rolledUp = await countSeries(pool, scope, range, unit, undefined);
    expect(rolledUp.some((bucket) => bucket.downloads > 0n)).toBe(true);
    expect(await countSeries(pool, scope, range, unit, 'UTC')).toEqual(rolledUp);
  }
});

test('a name without a slash has its summer time, and a refusal names an unknown zone', async () => {
  // PostgreSQL's abbreviation CET would be an hour late here.
  const summer = ['2025-10-24T22:00Z', '2025-10-25T22:00Z'] as const;
  expect(await series('day', ...summer, resolveTimeZone('CET'))).toEqual([['2025-10-25', 1, 1]]);
  expect(resolveTimeZone('Asia/Kolkata')).toBe('Asia/Kolkata');
  for (const name of ['Mars/Olympus', '+02:00', ''])
    expect(() => resolveTimeZone(name)).toThrow(`"${name}" is not the name of an IANA time zone.`);
  await expect(series('day', ...summer, 'Mars/Olympus')).rejects.toThrow('"Mars/Olympus" is not the name');
});
