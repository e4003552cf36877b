import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { gunzipSync } from 'node:zlib';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { idToUuid, newId } from '@longwave/ids';
import { createPool, transaction, type Pool } from '@longwave/postgres';
import { until } from '@longwave/test-kit';
import type { NewDecision } from '../src/decisions/stored-decision.ts';
import { holdErasures } from '../src/sample/erased-code-table.ts';
import { createForgetSampled } from '../src/sample/forget-sampled.ts';
import { unpackSample } from '../src/sample/packed-sample.ts';
import { findPlayListeners } from '../src/sample/play-listener-table.ts';
import { createPlayListeners } from '../src/sample/play-listeners.ts';
import { findSampledHour, insertSampledHour } from '../src/sample/play-sample-table.ts';
import { createSampleHours } from '../src/sample/sample-hours.ts';
import { listenerCode, listSecrets } from '../src/sample/sample-secret-table.ts';
import { createValueCounts } from '../src/sample/value-counts.ts';
import { decisionOf, filledAnswer, insertInto, readerOf } from './_decision.ts';

const hour = new Date('2026-11-20T10:00:00Z');
const hourMs = 3_600_000;
const minute = 60_000;
const workspaceId = newId('ws');
const other = newId('ws');
const podcastId = newId('pod');
const lineItemId = newId('li');
const buckets = Array.from({ length: 129 }, (_, at) => Buffer.alloc(16, at + 1).toString('hex'));
const [erased, rest] = [buckets[0]!, buckets.slice(1)];

let database: TestDatabase;
let pool: Pool;
let now = new Date(hour.getTime() + 2 * hourMs);
const decisions: NewDecision[] = [];

const forgetting = () => createForgetSampled(pool, createPlayListeners(pool), () => now);
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
  // 200 plays: two of each of 49 listeners from Saxony, one of 80 from Hesse; one app that nobody else has.
  for (let at = 0; at < 200; at++) {
    const region = at < 98 ? 'DE-SN' : at < 178 ? 'DE-HE' : '';
    decisions.push(play(workspaceId, at, { region, ...(at === 0 && { app: 'Homemade' }) }));
  }
  for (let at = 0; at < 10; at++) decisions.push(play(other, at));
  await insertInto(pool)(decisions);
  const listeners = createPlayListeners(pool);
  for (const [at, decision] of decisions.entries()) {
    const place = decision.workspaceId === other ? at - 200 : at;
    listeners.add({ ...decision, bucket: buckets[place < 98 ? place % 49 : place < 178 ? place - 49 : place - 178]! });
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
  expect([plays.length, (await playsOf(other)).length]).toEqual([200, 10]);
  expect(new Set(plays.map(({ weight }) => weight))).toEqual(new Set([1]));
  expect(plays.every(({ lineItemIds, breaks }) => lineItemIds[0] === lineItemId && breaks.length === 1)).toBe(true);
  expect(plays.every(({ atMs }) => atMs % (5 * minute) === 0)).toBe(true);
  expect(await sampling().sampleNext()).toBe(false);
});

test('a value that fewer than 50 people of a day have is hidden, however often they play', async () => {
  const plays = await playsOf();
  const count = (of: (play: (typeof plays)[number]) => string) =>
    Object.fromEntries([...Map.groupBy(plays, of)].map(([value, list]) => [value, list.length]));
  expect(count((one) => one.region)).toEqual({ other: 98, 'DE-HE': 80, '': 22 });
  expect(count((one) => one.app)).toEqual({ other: 1, Overcast: 199 });
  expect(new Set((await playsOf(other)).map(({ region, country }) => `${region} ${country}`))).toEqual(
    new Set(['other other']),
  );
});

test('no stored byte has an id or a digest of a decision, a key of a listener or the secret; the search finds what is there', async () => {
  const { rows } = await pool.query<{ packed: Buffer; listeners: Buffer[]; rest: string }>(
    `select packed, listeners, row_to_json(play_sample)::text || (select coalesce(string_agg(row_to_json(h)::text, ''), '') from play_hour h) as rest
     from play_sample`,
  );
  const bytes = Buffer.concat(
    rows.flatMap(({ packed, listeners, rest }) => [packed, gunzipSync(packed), ...listeners, Buffer.from(rest)]),
  );
  const secrets = await listSecrets(pool);
  const finds = (hex: string) =>
    [hex, Buffer.from(hex, 'hex'), Buffer.from(hex, 'hex').toString('base64')].map((form) => bytes.includes(form));
  const [code] = (await playsOf()).map(({ listener }) => listener.toString('hex'));
  expect([bytes.includes(podcastId), bytes.includes('Overcast'), finds(code!)[1]]).toEqual([true, true, true]);
  for (const { decisionId, atMs, requestDigest } of decisions) {
    expect(finds(requestDigest)).toEqual([false, false, false]);
    const uuid = idToUuid(decisionId);
    expect(bytes.includes(decisionId)).toBe(false);
    expect(bytes.includes(uuid)).toBe(false);
    expect(bytes.includes(uuid.replaceAll('-', ''))).toBe(false);
    expect(bytes.includes(Buffer.from(uuid.replaceAll('-', ''), 'hex'))).toBe(false);
    expect(bytes.includes(String(atMs))).toBe(false);
  }
  for (const hex of [...buckets, ...secrets.map((secret) => secret.toString('hex'))]) {
    expect(finds(hex)).toEqual([false, false, false]);
  }
  expect([secrets.length, rows.every(({ listeners }) => listeners.every((code) => code.length === 6))]).toEqual([
    1,
    true,
  ]);
});

test('plays of one listener have one code in a workspace and another one elsewhere, and erasing blanks it in that workspace alone', async () => {
  const codesIn = async (ws: typeof workspaceId) => (await playsOf(ws)).map(({ listener }) => listener.toString('hex'));
  const codes = await codesIn(workspaceId);
  expect(new Set(codes).size).toBe(buckets.length);
  expect((await codesIn(other)).filter((code) => codes.includes(code))).toEqual([]);
  // Three plays in the sample; their codes that waited for it are still there, too.
  expect(await forgetting()(workspaceId, [erased])).toBe(6);
  expect(await forgetting()(workspaceId, [erased])).toBe(0);
  const after = await codesIn(workspaceId);
  expect(after.filter((code) => code === '')).toHaveLength(3);
  expect(after.filter((code) => code !== '')).toEqual(codes.filter((code) => after.includes(code)));
  expect((await codesIn(other)).every((code) => code.length === 12)).toBe(true);
});

test('another node that still has plays of an erased listener in memory stores their codes no more; those of later plays it does', async () => {
  await pool.query('update erased_code set erased_at = $1', [new Date(hour.getTime() + 20 * minute)]);
  const node = createPlayListeners(pool);
  const plays = [10, 30].map((minutes) => ({
    decisionId: newId('dec'),
    workspaceId,
    atMs: hour.getTime() + minutes * minute,
  }));
  for (const one of plays) node.add({ ...one, bucket: erased });
  await node.flush();
  const stored = await findPlayListeners(
    pool,
    plays.map(({ decisionId }) => idToUuid(decisionId)),
  );
  expect([...stored.keys()]).toEqual([idToUuid(plays[1]!.decisionId)]);
});

test('an hour that is being sampled while its listener is erased is stored without the code', async () => {
  const later = [erased, rest[0]!].map((bucket) => ({ bucket, ...play(workspaceId, 600) }));
  await insertInto(pool)(later);
  const node = createPlayListeners(pool);
  await pool.query('delete from erased_code');
  for (const one of later) node.add(one);
  await node.flush();
  const next = new Date(hour.getTime() + hourMs);
  now = new Date(next.getTime() + 2 * hourMs);
  const { tryRead } = readerOf(pool);
  let isErased = false;
  const sampling = createSampleHours(
    pool,
    {
      // The codes of the page are read before its decisions.
      tryRead: async (row) => {
        if (!isErased) await forgetting()(workspaceId, [erased]);
        isErased = true;
        return tryRead(row);
      },
    },
    () => now,
  );
  while (await sampling.sampleNext());
  const codes = (await playsOf(workspaceId, next)).map(({ listener }) => listener.length);
  expect([isErased, codes.sort()]).toEqual([true, [0, 6]]);
});

test('an erasure waits for codes that are being inserted, and blanks them', async () => {
  const bucket = rest[1]!;
  const [secret] = await listSecrets(pool);
  const decisionId = newId('dec');
  const isWaiting = async () =>
    (await pool.query(`select from pg_locks where relation = 'erased_code'::regclass and not granted`)).rowCount === 1;
  let erasing: Promise<number> | undefined;
  await transaction(pool, async (tx) => {
    await holdErasures(tx);
    erasing = forgetting()(workspaceId, [bucket]);
    await Promise.race([erasing, until('the lock', isWaiting)]);
    await tx.query('insert into play_listener (decision_id, workspace_id, at, code) values ($1, $2, $3, $4)', [
      ...[idToUuid(decisionId), workspaceId, hour, listenerCode(secret!, { workspaceId, bucket })],
    ]);
  });
  // Three plays in the sample, their codes that waited for it, and the one that was being inserted.
  expect(await erasing).toBe(7);
  expect(await findPlayListeners(pool, [idToUuid(decisionId)])).toEqual(new Map());
});

test('codes that were sampled or erased are removed; two days after a month its codes are blanked and then its secret is destroyed; after 90 days plays are gone and sums stay', async () => {
  const count = async (table: string) =>
    Number((await pool.query<{ n: string }>(`select count(*) as n from ${table}`)).rows[0]!.n);
  const counts = async () => ({
    waiting: await count('play_listener'),
    erased: await count('erased_code'),
    coded: await count(`play_sample where exists (select from unnest(listeners) as one (code) where code <> '')`),
    secrets: await count('sample_secret'),
    hours: await count('play_sample'),
  });
  const at = async (time: string) => {
    now = new Date(time);
    while ((await sampling().removeOld(100)) === 100);
    return counts();
  };
  await pool.query('update erased_code set erased_at = $1', [hour]);
  const sums = await count('play_hour');
  const all = { waiting: 0, erased: 0, coded: 3, secrets: 1, hours: 3 };
  expect(await at('2026-11-20T13:59:00Z')).toEqual({ ...all, waiting: expect.any(Number), erased: expect.any(Number) });
  expect((await counts()).erased).toBeGreaterThan(0);
  expect(await at('2026-11-20T15:30:00Z')).toMatchObject({ waiting: 0 });
  expect(await at('2026-12-01T23:59:00Z')).toEqual(all);
  // What is blanked in one sweep is bounded; the secret goes with the last one.
  now = new Date('2026-12-03T00:00:01Z');
  expect([await sampling().removeOld(1), await counts()]).toEqual([1, { ...all, coded: 2 }]);
  expect(await at('2026-12-03T00:00:01Z')).toEqual({ ...all, coded: 0, secrets: 0 });
  // An hour that is sampled later still has no code.
  const late = { workspaceId: newId('ws'), counts: createValueCounts(), episodes: [], packed: Buffer.alloc(0) };
  await insertSampledHour(pool, { hour, month: '2026-11' }, { ...late, listeners: [Buffer.from('123456')] });
  expect((await findSampledHour(pool, late.workspaceId, hour))!.listeners).toEqual([Buffer.alloc(0)]);
  expect(await at('2027-02-18T12:00:01Z')).toEqual({ ...all, coded: 0, secrets: 0, hours: 0 });
  expect(await count('play_hour')).toBe(sums);
});
