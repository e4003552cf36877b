import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { growthOf, linear } from '@longwave/test-kit/growth-of';
import fc from 'fast-check';
import {
  countRollingDownloads,
  recount,
  userAgentDigest,
  type Recount,
  type ServedRequest,
  type Window,
} from '../src/index.ts';
import { caseFacts, fact, layouts, lists, seen, type CountingCase } from './_facts.ts';

type WindowCase = Omit<CountingCase, 'downloads'> & { readonly [window in Window]: readonly string[] };

const cases = JSON.parse(readFileSync(new URL('../cases/windows.json', import.meta.url), 'utf8')) as WindowCase[];

/** The starts of each window's downloads, oldest first. */
function countedStarts({ sessions, rollingDownloads }: Recount): { readonly [window in Window]: readonly number[] } {
  const starts = (of: readonly { readonly startedAtMs: number }[]) =>
    of.map((one) => one.startedAtMs).sort((a, b) => a - b);
  return {
    calendar_utc: starts(sessions.filter((one) => one.session.download).map((one) => one.session.first)),
    first_touch_24h: starts(
      rollingDownloads.filter((one) => one.rollingDownload.firstTouch).map((one) => one.rollingDownload.first),
    ),
    last_touch_24h: starts(
      rollingDownloads.filter((one) => one.rollingDownload.lastTouch).map((one) => one.rollingDownload.first),
    ),
  };
}

describe('three windows of the same facts', () => {
  test.each(cases)('$name', (one) => {
    const counted = countedStarts(recount(caseFacts({ ...one, downloads: [] }), lists.userAgents));
    for (const window of ['calendar_utc', 'first_touch_24h', 'last_touch_24h'] as const)
      expect([window, counted[window]]).toEqual([window, one[window].map((at) => Date.parse(at))]);
  });

  test('PTMG: ten requests by six user agents behind one address are six downloads in every window', () => {
    const agents = Array.from({ length: 6 }, (_, nth) => `Overcast/3.${nth} (+http://overcast.fm/; iOS podcast app)`);
    const facts = Array.from({ length: 10 }, (_, nth) => {
      const userAgent = agents[nth % agents.length]!;
      return fact({
        fact_id: `fct_${nth}`,
        request_id: `req_${nth}`,
        listener_key: `address and ${userAgent}`,
        user_agent_digest: userAgentDigest(userAgent),
        started_at: `2026-11-02T${10 + nth}:00:00.000Z`,
      });
    });
    const counted = countedStarts(recount([...agents.map(seen), ...facts], lists.userAgents));
    expect(Object.values(counted).map((starts) => starts.length)).toEqual([6, 6, 6]);
  });
});

const hourMs = 3_600_000;
const [parts, total] = [layouts['long']!, layouts['long']!.at(-1)!.to];

/** Requests of one listener over some days, dense and sparse. */
const requests = fc.array(
  fc.record({
    minutes: fc.integer({ min: 0, max: 5 * 24 * 60 }),
    arrangement: fc.constantFrom('arr_1', 'arr_2'),
    from: fc.integer({ min: 0, max: 20 }).map((n) => n * 100_000),
    length: fc.integer({ min: 1, max: 12 }).map((n) => n * 100_000),
  }),
  { maxLength: 24 },
);
const toRequests = (list: typeof requests extends fc.Arbitrary<infer L> ? L : never): ServedRequest[] =>
  list.map((one, nth) => ({
    requestId: `req_${nth}`,
    listenerKey: 'listener',
    arrangementId: one.arrangement,
    layout: { totalBytes: total, parts },
    startedAtMs: one.minutes * 60_000,
    written: [[one.from, Math.min(one.from + one.length, total)]],
  }));

/** The requests that begin rolling downloads, by the definition: tries every first and every last request, the earliest first. */
function rollingDownloadsByDefinition(all: readonly ServedRequest[]): string[] {
  const ordered = [...all].sort((a, b) => a.startedAtMs - b.startedAtMs || (a.requestId < b.requestId ? -1 : 1));
  const seconds = (run: readonly ServedRequest[]) => {
    const bytes = new Set(run.flatMap(({ written: [piece] }) => hundredths(piece![0], piece![1])));
    return bytes.size * (1000 / 16_000);
  };
  const hundredths = (from: number, to: number) => {
    const media = Math.max(from, 1000);
    return Array.from({ length: Math.max(0, (to - media) / 1000) }, (_, nth) => media + nth * 1000);
  };
  const firsts: string[] = [];
  for (let first = 0; first < ordered.length; first++)
    for (let last = first; last < ordered.length; last++) {
      const run = ordered.slice(first, last + 1);
      if (ordered[last]!.startedAtMs - ordered[first]!.startedAtMs >= 24 * hourMs) break;
      if (!['arr_1', 'arr_2'].some((name) => seconds(run.filter((one) => one.arrangementId === name)) >= 60)) continue;
      firsts.push(ordered[first]!.requestId);
      first = last;
      break;
    }
  return firsts;
}

test('rolling downloads are those of the definition, however many requests they take', () => {
  fc.assert(
    fc.property(requests, (list) => {
      const all = toRequests(list);
      expect(countRollingDownloads(all).map((rollingDownload) => rollingDownload.first.requestId)).toEqual(
        rollingDownloadsByDefinition(all),
      );
    }),
    { numRuns: 300 },
  );
});

test('nothing reaches across a gap of 24 h, so the requests after it are counted by themselves', () => {
  fc.assert(
    fc.property(requests, (list) => {
      const ordered = toRequests(list).sort((a, b) => a.startedAtMs - b.startedAtMs);
      const parts: ServedRequest[][] = [];
      for (const request of ordered) {
        const last = parts.at(-1);
        if (last && request.startedAtMs - last.at(-1)!.startedAtMs < 24 * hourMs) last.push(request);
        else parts.push([request]);
      }
      expect(parts.flatMap((part) => countRollingDownloads(part))).toEqual(countRollingDownloads(ordered));
    }),
  );
});

test('counted starts of a rolling window are at least 24 h apart', () => {
  fc.assert(
    fc.property(requests, (list) => {
      const rollingDownloads = countRollingDownloads(toRequests(list));
      for (const window of ['firstTouch', 'lastTouch'] as const) {
        const starts = rollingDownloads
          .filter((rollingDownload) => rollingDownload[window])
          .map((rollingDownload) => rollingDownload.first.startedAtMs);
        starts.forEach((at, nth) => nth > 0 && expect(at - starts[nth - 1]!).toBeGreaterThanOrEqual(24 * hourMs));
      }
      expect(rollingDownloads.some((rollingDownload) => rollingDownload.firstTouch)).toBe(rollingDownloads.length > 0);
    }),
  );
});

test('small ranges of one listener are counted in time proportional to their number', () => {
  const many = Array.from({ length: 100_000 }, (_, nth): ServedRequest => {
    const from = 1000 + ((nth * 16_000) % 2_080_000);
    return {
      requestId: String(nth).padStart(6, '0'),
      listenerKey: 'listener',
      arrangementId: 'arr_1',
      layout: { totalBytes: total, parts },
      startedAtMs: nth * 500,
      written: [[from, from + 16_000]],
    };
  });
  const counting = (size: number) => () =>
    expect(countRollingDownloads(many.slice(0, size))).toHaveLength(Math.floor(size / 60));
  expect(growthOf(counting, many.length)).toBeLessThan(linear);
});
