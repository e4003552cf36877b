import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ByteRangeServed } from '@longwave/events';
import type { TestDatabase } from '@longwave/fleet';
import type { Pool } from '@longwave/postgres';
import { batches, fact, lists, randomFacts, seen, shuffledTwice } from '@longwave/test-kit/delivery-facts';
import { described, inParts, mediaFact, randomMediaFacts } from '@longwave/test-kit/media-facts';
import { decideAnomaly } from '../src/velocity/decide-anomaly.ts';
import { createCountingMemory, recordFacts } from '../src/counting/record-facts.ts';
import { runRecount } from './_recount-program.ts';
import { useTables } from './_tables.ts';

let database: TestDatabase;
let pool: Pool;
let folder: string;

useTables((tables) => ({ database, pool } = tables));
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'recount-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function recountTool(...args: string[]) {
  const run = await runRecount(database, args);
  return { ...run, json: () => JSON.parse(run.out) as CountedJson };
}

interface CountedJson {
  readonly windows: {
    readonly calendar_utc: {
      readonly podcasts: readonly { podcast_id: string; downloads: number; listeners: number }[];
      readonly episodes: readonly { episode_id: string; downloads: number }[];
      readonly days: readonly { episode_id: string; day: string; downloads: number }[];
    };
  };
  readonly ads: readonly { line_item_id: string; delivered: number; billable: number }[];
  readonly facts: Record<string, number>;
  readonly differing: number;
  readonly figures: readonly { section: string; key: string[]; measure: string; stored: number; recounted: number }[];
}

const inFolder = (name: string) => path.join(folder, name);

/** Exports what is stored and compares a count of the file with it. */
async function exportAndCompare(...range: string[]) {
  const file = inFolder(`facts${range.join('')}.jsonl.gz`);
  expect(await recountTool('export', '--out', file, ...range)).toMatchObject({
    code: 0,
    err: expect.stringMatching(/facts/),
  });
  return recountTool('compare', file, '--json');
}

/** Exports and compares each day by itself, two at once; answers the figures of each. */
async function expectEqualDays(days: readonly string[]) {
  const figures: CountedJson['figures'][] = [];
  for (const pair of batches(days, 2))
    figures.push(
      ...(await Promise.all(
        pair.map(async (day) => {
          const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
          return (await exportAndCompare('--from', day, '--to', next)).json().figures;
        }),
      )),
    );
  for (const one of figures) expect(one.filter(({ stored, recounted }) => stored !== recounted)).toEqual([]);
  return figures;
}

describe('a count of exported facts equals what the service counted, in every number', () => {
  test.each([1, 2, 3, 4, 6, 7])(
    'recorded late, twice and in any order, over a change of secrets (seed %i)',
    async (seed) => {
      const memory = createCountingMemory();
      for (const batch of batches(shuffledTwice(randomFacts(seed), seed), 7))
        await recordFacts(pool, batch, lists, memory);
      const compared = await exportAndCompare();
      expect(compared.json().figures.filter((one) => one.stored !== one.recounted)).toEqual([]);
      expect(compared.code).toBe(0);
      expect(compared.json().figures.find((one) => one.section === 'podcasts')!.stored).toBeGreaterThan(2);
      expect(compared.json().figures.filter((one) => one.section === 'ads').length).toBeGreaterThan(0);
    },
  );

  test.each([1, 2, 3, 4])('and so does every day of it, from a file of that day alone (seed %i)', async (seed) => {
    await recordFacts(pool, randomFacts(seed), lists, createCountingMemory());
    await expectEqualDays(['2025-10-30', '2025-10-31', '2025-11-01', '2025-11-02', '2025-11-03', '2025-11-04']);
  });
});

test('plays of HLS whose keys are one listener are counted alike, from all facts and from a day', async () => {
  await recordFacts(pool, randomMediaFacts(1), lists, createCountingMemory());
  const compared = await exportAndCompare();
  expect(compared.json().figures.filter((one) => one.stored !== one.recounted)).toEqual([]);
  expect(compared.json().figures.find((one) => one.section === 'podcasts')!.stored).toBeGreaterThan(2);
  await expectEqualDays(['2025-10-31', '2025-11-01']);
});

test('bytes of a track that is not described wait in both, and so do those of one that is described in part', async () => {
  const facts = (['audio', 'video', 'ad_video'] as const).map((track) => mediaFact(track, { fact_id: track }));
  const [first, , last] = inParts(described.video);
  const parts = [...inParts(described.audio), first!, last!];
  await recordFacts(pool, [seen(), ...parts, ...facts], lists, createCountingMemory());
  const compared = await exportAndCompare();
  expect(compared.json().figures).toContainEqual(
    expect.objectContaining({ section: 'facts', key: ['waiting'], stored: 2, recounted: 2 }),
  );
  expect(compared.code).toBe(0);
});

test('a download that a late fact moved to the day before is counted there by both', async () => {
  const memory = createCountingMemory();
  await recordFacts(pool, [seen(), fact({ fact_id: 'f2', started_at: '2025-11-03T00:05:00.000Z' })], lists, memory);
  const early = fact({ fact_id: 'f1', started_at: '2025-11-02T23:58:00.000Z', written: [[161_000, 200_000]] });
  await recordFacts(pool, [early], lists, memory);
  expect((await pool.query('select 1 from restatement')).rowCount).toBe(1);
  const compared = await exportAndCompare();
  expect(compared.json().figures).toContainEqual(
    expect.objectContaining({ section: 'days', key: ['ws_1', 'pod_1', 'ep_1', '2025-11-02'], stored: 1, recounted: 1 }),
  );
  expect(compared.code).toBe(0);
});

test('a listener of every day is followed back as far as it takes, over a change of secrets', async () => {
  // Every 20 hours: each 24 h have a request, so which rolling downloads count follows from the first one.
  const served = Array.from({ length: 30 }, (_, n) => {
    const at = new Date(Date.UTC(2025, 9, 20, 10) + n * 20 * 3_600_000);
    const [month, before] = [at, new Date(at.getTime() - 48 * 3_600_000)].map((one) => one.toISOString().slice(0, 7));
    return fact({
      fact_id: `f${n}`,
      started_at: at.toISOString(),
      listener_key: `listener ${month}`,
      ...(month !== before && { previous_listener_key: `listener ${before}` }),
    });
  });
  await recordFacts(pool, [seen(), ...served], lists, createCountingMemory());
  const days = ['2025-10-29', '2025-10-31', '2025-11-01', '2025-11-02', '2025-11-08', '2025-11-12'];
  for (const figures of await expectEqualDays(days)) expect(figures.length).toBeGreaterThan(3);
});

describe('velocity', () => {
  const episodesOf = (podcast: string, count: number, changes: Partial<ByteRangeServed> = {}) =>
    Array.from({ length: count }, (_, n) =>
      fact({ fact_id: `${podcast} ${n}`, podcast_id: podcast, episode_id: `${podcast} ep_${n}`, ...changes }),
    );

  test('a recount holds what the service holds, and neither holds what a person has released', async () => {
    await recordFacts(pool, [seen(), ...episodesOf('pod_1', 51)], lists, createCountingMemory());
    const held = await exportAndCompare();
    expect(held.json().figures).toContainEqual(
      expect.objectContaining({ section: 'held', key: ['velocity_listener'], stored: 51, recounted: 51 }),
    );
    expect(held.code).toBe(0);
    await decideAnomaly(
      pool,
      {
        kind: 'listener',
        key: 'listener',
        day: '2025-11-02',
        decision: 'release',
        reason: 'a school',
        decidedBy: 'acc_1',
      },
      lists.listsVersion,
    );
    const released = await exportAndCompare();
    expect(released.code).toBe(0);
    expect(released.json().figures).toContainEqual(
      expect.objectContaining({ section: 'podcasts', measure: 'downloads', stored: 51, recounted: 51 }),
    );
  });

  test('a file of one podcast has the days of its keys that are held for downloads of another podcast, and no other keys', async () => {
    await recordFacts(
      pool,
      [
        seen(),
        ...episodesOf('pod_1', 3),
        ...episodesOf('pod_2', 51, { workspace_id: 'ws_2' }),
        ...episodesOf('pod_3', 51, { workspace_id: 'ws_2', listener_key: 'stranger' }),
      ],
      lists,
      createCountingMemory(),
    );
    const compared = await exportAndCompare('--workspace', 'ws_1', '--podcast', 'pod_1');
    expect(compared.code).toBe(0);
    expect(compared.json().figures).toContainEqual(
      expect.objectContaining({ section: 'held', stored: 3, recounted: 3 }),
    );
    expect(gunzipSync(readFileSync(inFolder('facts--workspacews_1--podcastpod_1.jsonl.gz'))).toString()).not.toMatch(
      /ws_2|pod_2|stranger/,
    );
  });
});

test('a serving that was billed before the range is delivered in it, and not billed again', async () => {
  const days = ['2025-11-02', '2025-11-12'].map((day) => fact({ fact_id: day, started_at: `${day}T10:00:00.000Z` }));
  await recordFacts(pool, [seen(), ...days], lists, createCountingMemory());
  const compared = await exportAndCompare('--from', '2025-11-12');
  expect(compared.code).toBe(0);
  const adsOf = (measure: string) =>
    compared.json().figures.find((one) => one.section === 'ads' && one.measure === measure)?.recounted;
  expect([adsOf('delivered'), adsOf('billable')]).toEqual([1, 0]);
});

test('files that overlap give the numbers of one file, and a part of them the numbers of that part', async () => {
  await recordFacts(pool, randomFacts(7), lists, createCountingMemory());
  const whole = inFolder('whole.jsonl');
  const [first, second] = [inFolder('first.jsonl'), inFolder('second.jsonl.gz')];
  await recountTool('export', '--out', whole);
  await recountTool('export', '--out', first, '--from', '2025-10-30', '--to', '2025-11-01');
  await recountTool('export', '--out', second, '--from', '2025-11-01', '--to', '2025-11-05');
  const one = (await recountTool('count', whole, '--json', '--window', 'all')).json();
  const both = (await recountTool('count', second, first, '--json', '--window', 'all')).json();
  expect({ windows: both.windows, ads: both.ads, facts: both.facts }).toEqual({
    windows: one.windows,
    ads: one.ads,
    facts: one.facts,
  });
  const day = ['--from', '2025-11-02', '--to', '2025-11-03'];
  const part = (await recountTool('count', whole, '--json', ...day)).json();
  const days = part.windows.calendar_utc.days;
  expect(days).toEqual(one.windows.calendar_utc.days.filter((row) => row.day === '2025-11-02'));
  expect(days.length).toBeGreaterThan(0);
});

test('a file of one podcast holds nothing of another workspace or podcast', async () => {
  const other = { podcast_id: 'pod_2', episode_id: 'ep_9', workspace_id: 'ws_2' };
  await recordFacts(
    pool,
    [seen(), fact({ fact_id: 'f1' }), fact({ fact_id: 'f2', ...other })],
    lists,
    createCountingMemory(),
  );
  const file = inFolder('one.jsonl');
  await recountTool('export', '--out', file, '--workspace', 'ws_1', '--podcast', 'pod_1');
  expect(readFileSync(file, 'utf8')).not.toMatch(/ws_2|pod_2|ep_9/);
  expect((await recountTool('compare', file)).code).toBe(0);
  expect((await recountTool('count', file, '--json')).json().windows.calendar_utc.podcasts).toMatchObject([
    { podcast_id: 'pod_1', downloads: 1 },
  ]);
});

test('a changed number is found, with exit code 1, unless the tolerance covers it', async () => {
  const many = Array.from({ length: 100 }, (_, n) => fact({ fact_id: `f${n}`, listener_key: `listener ${n}` }));
  await recordFacts(pool, [seen(), ...many], lists, createCountingMemory());
  await pool.query('update download_hour set downloads = downloads + 4');
  const file = inFolder('facts.jsonl');
  await recountTool('export', '--out', file);
  const strict = await recountTool('compare', file);
  expect(strict).toMatchObject({ code: 1 });
  expect(strict.out).toMatch(/ws_1 pod_1 +downloads +104 +100 +-4 +← differs/);
  expect((await recountTool('compare', file, '--tolerance', '5')).code).toBe(0);
});

test('facts that came after the export are a difference of facts', async () => {
  const memory = createCountingMemory();
  await recordFacts(pool, [seen(), fact({ fact_id: 'f1' })], lists, memory);
  const file = inFolder('facts.jsonl');
  await recountTool('export', '--out', file);
  await recordFacts(pool, [fact({ fact_id: 'f2', listener_key: 'other' })], lists, memory);
  const compared = await recountTool('compare', file, '--json');
  expect(compared.code).toBe(1);
  expect(compared.json().figures).toContainEqual(
    expect.objectContaining({ section: 'facts', key: ['eligible'], stored: 2, recounted: 1, differs: true }),
  );
});

test('every fact is counted once under the rule that judged it', async () => {
  const facts: ByteRangeServed[] = [
    fact({ fact_id: 'f1' }),
    fact({ fact_id: 'f2', method: 'HEAD', written: [] }),
    fact({ fact_id: 'f3', address_verdict: 'dc_ip' }),
    fact({ fact_id: 'f4', user_agent_digest: 'f'.repeat(64) }),
    fact({ fact_id: 'f5', user_agent_digest: null }),
  ];
  await recordFacts(pool, [seen(), ...facts], lists, createCountingMemory());
  const file = inFolder('facts.jsonl');
  await recountTool('export', '--out', file);
  const { facts: judged } = (await recountTool('count', file, '--json')).json();
  expect(judged).toEqual({ dc_ip: 1, eligible: 1, method: 1, no_ua: 1, waiting: 1 });
  expect((await recountTool('compare', file)).code).toBe(0);
});
