import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { gunzipSync } from 'node:zlib';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { idToUuid, newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';
import type { NewDecision } from '../src/decisions/stored-decision.ts';
import { createForgetSampled } from '../src/sample/forget-sampled.ts';
import { unpackSample } from '../src/sample/packed-sample.ts';
import { createPlayListeners } from '../src/sample/play-listeners.ts';
import { findSampledHour } from '../src/sample/play-sample-table.ts';
import { createSampleHours } from '../src/sample/sample-hours.ts';
import { listSecrets } from '../src/sample/sample-secret-table.ts';
import { decisionOf, filledAnswer, insertInto, readerOf } from './_decision.ts';

const hour = new Date('2026-11-20T10:00:00Z');
const hourMs = 3_600_000;
const minute = 60_000;
const workspaceId = newId('ws');
const other = newId('ws');
const podcastId = newId('pod');
const lineItemId = newId('li');
const buckets = Array.from({ length: 30 }, (_, at) => Buffer.alloc(16, at + 1).toString('hex'));

let database: TestDatabase;
let pool: Pool;
let now = new Date(hour.getTime() + 2 * hourMs);
const decisions: NewDecision[] = [];
/** Bucket of the listener by decision. */
const bucketOf = new Map<string, string>();

const sampling = () => createSampleHours(pool, readerOf(pool), () => now);
const playsOf = async (ws = workspaceId, at = hour) => unpackSample((await findSampledHour(pool, ws, at))!);
/** A decision of a play at a place of the hour, with other values of its context. */
function play(ws: string, at: number, context: Partial<NewDecision['inputs']['context']> = {}): NewDecision {
  const decisionId = newId('dec');
  const atMs = hour.getTime() + at * 7_000 + 123;
  const made = decisionOf({ decisionId, workspaceId: ws, atMs, answer: filledAnswer(decisionId, lineItemId) });
  const { inputs } = made;
  return { ...made, inputs: { ...inputs, context: { ...inputs.context, podcastId, region: 'DE-BY', ...context } } };
}

beforeAll(async () => {
  database = await startTestDatabase({ schema: 'serving', migrations: 'apps/internal-serving/prisma' });
  pool = createPool(database.url, 'serving', { name: 'test', max: 4 });
  // 120 plays of 30 listeners; 49 of them from Saxony, 50 from Hesse; one app that nobody else has.
  for (let at = 0; at < 120; at++) {
    const region = at < 49 ? 'DE-SN' : at < 99 ? 'DE-HE' : '';
    decisions.push(play(workspaceId, at, { region, ...(at === 0 && { app: 'Homemade' }) }));
  }
  for (let at = 0; at < 10; at++) decisions.push(play(other, at));
  await insertInto(pool)(decisions);
  const listeners = createPlayListeners(pool);
  for (const [at, decision] of decisions.entries()) {
    const bucket = buckets[at % buckets.length]!;
    bucketOf.set(decision.decisionId, bucket);
    listeners.add({ ...decision, bucket });
  }
  await listeners.flush();
});
afterAll(async () => {
  await pool.end();
  await database[Symbol.asyncDispose]();
});

test('an hour is sampled once, whoever asks, with all its plays where a podcast has few', async () => {
  await Promise.all([sampling().sampleNext(), sampling().sampleNext()]);
  while (await sampling().sampleNext());
  const plays = await playsOf();
  expect([plays.length, (await playsOf(other)).length]).toEqual([120, 10]);
  expect(new Set(plays.map(({ weight }) => weight))).toEqual(new Set([1]));
  expect(plays.every(({ lineItemIds, breaks }) => lineItemIds[0] === lineItemId && breaks.length === 1)).toBe(true);
  expect(plays.every(({ atMs }) => atMs % (5 * minute) === 0)).toBe(true);
  expect(await sampling().sampleNext()).toBe(false);
});

test('a value that fewer than 50 plays of a day have is hidden', async () => {
  const plays = await playsOf();
  const count = (of: (play: (typeof plays)[number]) => string) =>
    Object.fromEntries([...Map.groupBy(plays, of)].map(([value, list]) => [value, list.length]));
  expect(count((one) => one.region)).toEqual({ other: 49, 'DE-HE': 50, '': 21 });
  expect(count((one) => one.app)).toEqual({ other: 1, Overcast: 119 });
});

test('no stored byte has an id of a decision, a key of a listener or the secret', async () => {
  const { rows } = await pool.query<{ packed: Buffer; listeners: Buffer[]; rest: string }>(
    `select packed, listeners, row_to_json(play_sample)::text || (select coalesce(string_agg(row_to_json(h)::text, ''), '') from play_hour h) as rest
     from play_sample`,
  );
  const bytes = Buffer.concat(
    rows.flatMap(({ packed, listeners, rest }) => [packed, gunzipSync(packed), ...listeners, Buffer.from(rest)]),
  );
  const secrets = await listSecrets(pool);
  for (const { decisionId, atMs } of decisions) {
    const uuid = idToUuid(decisionId);
    expect(bytes.includes(decisionId)).toBe(false);
    expect(bytes.includes(uuid)).toBe(false);
    expect(bytes.includes(uuid.replaceAll('-', ''))).toBe(false);
    expect(bytes.includes(Buffer.from(uuid.replaceAll('-', ''), 'hex'))).toBe(false);
    expect(bytes.includes(String(atMs))).toBe(false);
  }
  for (const hex of [...buckets, ...secrets.map((secret) => secret.toString('hex'))]) {
    expect(bytes.includes(hex)).toBe(false);
    expect(bytes.includes(Buffer.from(hex, 'hex'))).toBe(false);
    expect(bytes.includes(Buffer.from(hex, 'hex').toString('base64'))).toBe(false);
  }
  expect([secrets.length, rows.every(({ listeners }) => listeners.every((code) => code.length === 6))]).toEqual([
    1,
    true,
  ]);
});

test('plays of one listener have one code, and erasing blanks it in that workspace alone', async () => {
  const codes = (await playsOf()).map(({ listener }) => listener.toString('hex'));
  expect(new Set(codes).size).toBe(buckets.length);
  const forget = createForgetSampled(pool, createPlayListeners(pool));
  const [erased] = buckets;
  // Four plays in the sample; their codes that waited for it are still there, too.
  expect(await forget(workspaceId, [erased!])).toBe(8);
  expect(await forget(workspaceId, [erased!])).toBe(0);
  const after = (await playsOf()).map(({ listener }) => listener.toString('hex'));
  expect(after.filter((code) => code === '')).toHaveLength(4);
  expect(after.filter((code) => code !== '')).toEqual(codes.filter((code) => after.includes(code)));
  expect((await playsOf(other)).every(({ listener }) => listener.length === 6)).toBe(true);
});

test('codes that were sampled are removed; two days after a month its secret is destroyed; after 90 days plays are gone and sums stay', async () => {
  const count = async (table: string) =>
    Number((await pool.query<{ n: string }>(`select count(*) as n from ${table}`)).rows[0]!.n);
  const at = async (time: string) => {
    now = new Date(time);
    while ((await sampling().removeOld(100)) === 100);
    return [
      await count('play_listener'),
      await count('sample_secret'),
      await count('play_sample'),
      await count('play_hour'),
    ];
  };
  const sums = await count('play_hour');
  expect(await at('2026-11-20T13:59:00Z')).toEqual([expect.any(Number), 1, 2, sums]);
  expect(await at('2026-11-20T14:30:00Z')).toEqual([0, 1, 2, sums]);
  expect(await at('2026-12-01T23:59:00Z')).toEqual([0, 1, 2, sums]);
  expect(await at('2026-12-03T00:00:01Z')).toEqual([0, 0, 2, sums]);
  expect(await at('2027-02-18T10:00:01Z')).toEqual([0, 0, 0, sums]);
});
