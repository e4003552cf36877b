import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { methodologyVersion, recount } from '@longwave/audience';
import type { ByteRangeServed } from '@longwave/events';
import { dataFolder, fact, lists, seen, shuffledTwice, totalBytes } from '@longwave/test-kit/delivery-facts';
import { randomMediaFacts } from '@longwave/test-kit/media-facts';
import fc from 'fast-check';
import { bareEnvironment } from '@longwave/test-kit';
import { countFacts } from '../src/recount/count-facts.ts';
import { writeFactFile, type FileEntry } from '../src/recount/fact-file.ts';
import type { Tally } from '../src/recount/tally.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(path.join(os.tmpdir(), 'count-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Counts facts as if they were in a file, with so many in memory at most. */
async function countAll(facts: readonly FileEntry[], maxFacts?: number): Promise<Tally> {
  const file = async function* () {
    yield facts.map((one) => ({ entry: one, line: JSON.stringify(one) }));
  };
  const counted = await countFacts(
    [file()],
    lists.userAgents,
    { fromMs: undefined, toMs: undefined },
    {
      temporaryFolder: folder,
      onFacts: () => undefined,
      ...(maxFacts !== undefined && { maxFacts }),
    },
  );
  expect(readdirSync(folder)).toEqual([]);
  return counted;
}

const monthOf = (at: Date) => at.toISOString().slice(0, 7);
const twoDaysMs = 48 * 3_600_000;

/** Requests of few listeners over half a year, most of them near the changes of secrets. */
const requests = fc.array(
  fc.record({
    listener: fc.constantFrom('a', 'b', 'c', 'd'),
    month: fc.integer({ min: 0, max: 5 }),
    minutes: fc.integer({ min: -2 * 24 * 60, max: 4 * 24 * 60 }),
    from: fc.integer({ min: 0, max: 20 }).map((n) => n * 100_000),
    length: fc.integer({ min: 1, max: 12 }).map((n) => n * 100_000),
  }),
  { minLength: 300, maxLength: 300 },
);

function halfYear(seed: number) {
  const [list = []] = fc.sample(requests, { seed, numRuns: 1 });
  const served = list.map((one, index) => {
    const at = new Date(Date.UTC(2025, 6 + one.month) + one.minutes * 60_000);
    const before = new Date(at.getTime() - twoDaysMs);
    return fact({
      fact_id: `fct_${index}`,
      started_at: at.toISOString(),
      published_at: '2025-01-01T00:00:00.000Z',
      listener_key: `${one.listener} ${monthOf(at)}`,
      ...(monthOf(before) !== monthOf(at) && { previous_listener_key: `${one.listener} ${monthOf(before)}` }),
      written: [[one.from, Math.min(one.from + one.length, totalBytes)]],
    });
  });
  return [...served, seen()];
}

describe('counting in pieces equals counting all at once', () => {
  const ofHalfYear = [1, 2, 3, 4].map((seed) => ['over many changes of secrets', seed, halfYear(seed), 300] as const);
  const ofPlays = [1, 2].map((seed) => ['with plays that join keys', seed, randomMediaFacts(seed), undefined] as const);
  test.each([...ofHalfYear, ...ofPlays])('however small the pieces, %s (seed %i)', async (_, seed, facts, eligible) => {
    const { sessions, rollingDownloads } = recount(facts, lists.userAgents);
    const expected = {
      calendar_utc: sessions.filter(({ session }) => session.download !== undefined).length,
      first_touch_24h: rollingDownloads.filter(({ rollingDownload }) => rollingDownload.firstTouch).length,
      last_touch_24h: rollingDownloads.filter(({ rollingDownload }) => rollingDownload.lastTouch).length,
      ads: sessions.flatMap(({ session }) => session.download?.ads ?? []).length,
    };
    expect(expected.calendar_utc).toBeGreaterThan(2);
    for (const maxFacts of [1, 40, undefined]) {
      const { windows, ads, facts: judged } = await countAll(shuffledTwice(facts, seed), maxFacts);
      const downloads = (window: keyof typeof windows) =>
        [...windows[window].days.values()].reduce((sum, one) => sum + one.downloads, 0);
      expect({
        calendar_utc: downloads('calendar_utc'),
        first_touch_24h: downloads('first_touch_24h'),
        last_touch_24h: downloads('last_touch_24h'),
        ads: [...ads.values()].reduce((sum, one) => sum + one.delivered, 0),
      }).toEqual(expected);
      expect([...judged]).toEqual([['eligible', eligible ?? expect.any(Number)]]);
    }
  });

  test('a listener counts once in a place, and twice under the keys of two months', async () => {
    const at = (fact_id: string, started_at: string, listener_key: string) =>
      fact({ fact_id, started_at, listener_key });
    const { windows } = await countAll([
      seen(),
      at('f1', '2025-11-02T10:00:00.000Z', 'november'),
      at('f2', '2025-11-05T10:00:00.000Z', 'november'),
      at('f3', '2025-12-05T10:00:00.000Z', 'december'),
    ]);
    expect([...windows.calendar_utc.podcasts.values()]).toEqual([{ downloads: 3, listeners: 2 }]);
  });
});

describe('velocity', () => {
  const downloadsOfAddress = (count: number, changes: Partial<ByteRangeServed>) =>
    Array.from({ length: count }, (_, n) =>
      fact({ fact_id: `${changes.address_key} ${n}`, listener_key: `${changes.address_key} ${n}`, ...changes }),
    );

  test('an address above its limit is held, even when its listeners are in different pieces; one at its limit or safe is not', async () => {
    const { windows, held, ads } = await countAll([
      seen(),
      ...downloadsOfAddress(2_001, { address_key: 'above', podcast_id: 'pod_above' }),
      ...downloadsOfAddress(2_000, { address_key: 'at', podcast_id: 'pod_at' }),
      ...downloadsOfAddress(2_001, { address_key: 'safe', podcast_id: 'pod_safe', address_safe: true }),
    ]);
    expect(held).toEqual(new Map([['velocity_address', 2_001]]));
    for (const { podcasts } of Object.values(windows))
      expect(Object.fromEntries(podcasts)).toEqual({
        '["ws_1","pod_at"]': { downloads: 2_000, listeners: 2_000 },
        '["ws_1","pod_safe"]': { downloads: 2_001, listeners: 2_001 },
      });
    // All of them are one serving, which is billed once.
    expect([...ads.values()]).toEqual([{ delivered: 4_001, billable: 1 }]);
  });

  test('a listener with more episodes of a podcast in a day than anybody hears is held', async () => {
    const facts = Array.from({ length: 51 }, (_, n) => fact({ fact_id: `f${n}`, episode_id: `ep_${n}` }));
    const { windows, held } = await countAll([seen(), ...facts]);
    expect(held).toEqual(new Map([['velocity_listener', 51]]));
    expect(windows.calendar_utc.podcasts.size).toBe(0);
  });
});

test('a large file is counted within a bounded memory, and its speed is reported', async () => {
  const listeners = 20_000;
  const perListener = 10;
  const file = path.join(folder, 'large.jsonl.gz');
  const batches = async function* () {
    yield [seen()];
    for (let listener = 0; listener < listeners; listener += 1)
      yield Array.from({ length: perListener }, (_, n): FileEntry => {
        const from = n * 208_100;
        return fact({
          fact_id: `fct_${listener}.${n}`,
          request_id: `req_${listener}.${Math.floor(n / 5)}`,
          listener_key: `listener ${listener}`,
          address_key: `address ${listener}`,
          episode_id: `ep_${listener % 50}`,
          written: [[from, from + 208_100]],
        });
      });
  };
  await writeFactFile(
    file,
    {
      kind: 'fact_file',
      format: 1,
      from: null,
      to: null,
      workspace_id: null,
      podcast_id: null,
      complete_until: null,
      exported_at: '2025-12-01T00:00:00.000Z',
      methodology_version: methodologyVersion,
      lists_version: lists.listsVersion,
    },
    batches(),
    () => undefined,
  );
  const counted = spawnSync(
    process.execPath,
    // The unpacked file is half as large again as this heap.
    [
      '--max-old-space-size=160',
      path.resolve(import.meta.dirname, '../src/cli/recount.ts'),
      'count',
      file,
      '--json',
      '--temp',
      folder,
    ],
    { encoding: 'utf8', env: { ...bareEnvironment, AUDIENCE_DATA: dataFolder } },
  );
  expect(counted.stderr).toMatch(/^count: 200,001 facts/m);
  const { windows, facts } = JSON.parse(counted.stdout) as {
    windows: { calendar_utc: { podcasts: unknown; episodes: unknown[] } };
    facts: unknown;
  };
  expect(windows.calendar_utc.podcasts).toEqual([
    { workspace_id: 'ws_1', podcast_id: 'pod_1', downloads: listeners, listeners },
  ]);
  expect(windows.calendar_utc.episodes).toHaveLength(50);
  expect(facts).toEqual({ eligible: listeners * perListener });
  expect(existsSync(file)).toBe(true);
}, 120_000);
