import { expect, test } from '@jest/globals';
import { countriesIn, countryOf, requestOf } from './listening-as.ts';
import {
  blocksOf,
  breaksOf,
  chaptersInFile,
  losersOf,
  peaksInFile,
  placeInFile,
  reasonOf,
  type Candidate,
} from './played.ts';
import type { Preview } from './preview-query.ts';

/** An intro of 2 s, content of 20 s with an ad of 4 s at 10 s, and an outro of 1 s. */
const timeline: Preview['timeline'] = {
  ...{ version: 1, preview: true, duration_ms: 27_000 },
  parts: [
    { kind: 'intro', start_ms: 0, duration_ms: 2000 },
    { kind: 'content', start_ms: 2000, duration_ms: 10_000, content_start_ms: 0 },
    {
      ...{ kind: 'break', key: 'm', position: 'mid', start_ms: 12_000, duration_ms: 4000 },
      slots: [{ slot: 0, start_ms: 12_000, duration_ms: 4000 }],
    },
    { kind: 'content', start_ms: 16_000, duration_ms: 10_000, content_start_ms: 10_000 },
    { kind: 'outro', start_ms: 26_000, duration_ms: 1000 },
  ],
};
const asked = (key: string, position: 'pre' | 'mid' | 'post', positionMs: number, maxSlots = 1) => ({
  ...{ key, position, position_ms: positionMs, max_slots: maxSlots, max_duration_ms: 60_000 },
});
const ad = { break_key: 'm', slot: 0, advertiser: { id: 'adv_1', name: 'Tea' }, line_item: null, creative: null };
const preview = {
  timeline,
  breaks: [asked('pre', 'pre', 0), asked('m', 'mid', 10_000, 2), asked('n', 'mid', 15_000), asked('e', 'post', 20_000)],
  ads: [ad],
};

test('every slot that was to be filled is there: with its ad at its time of the file, or empty where it would stand', () => {
  expect(breaksOf(preview)).toEqual([
    { key: 'pre', kind: 'pre', number: 1, atMs: 0, ads: [], empty: 1 },
    { key: 'm', kind: 'mid', number: 1, atMs: 12_000, ads: [{ ...ad, startMs: 12_000, durationMs: 4000 }], empty: 1 },
    { key: 'n', kind: 'mid', number: 2, atMs: 21_000, ads: [], empty: 1 },
    { key: 'e', kind: 'post', number: 1, atMs: 27_000, ads: [], empty: 1 },
  ]);
});

const candidate = (verdict: Candidate['verdict']): Candidate => ({
  ...{ break_key: 'm', verdict, codes: [verdict], tier: 2, rank: null, line_item: null },
});
test.each<[Candidate['verdict'][], string]>([
  [['won', 'outranked'], 'no_more_line_items'],
  [['won', 'separated_advertiser', 'capped'], 'no_fit'],
  [['capped', 'no_lease'], 'no_lease'],
  [['policy_frequency', 'targeting_country'], 'capped'],
  [['paced_out'], 'paced_out'],
  [['targeting_country', 'no_rendition'], 'no_rendition'],
  [['targeting_country', 'not_active'], 'no_matching_line_item'],
  [['halted', 'not_active'], 'halted'],
  [['not_active'], 'no_active_line_item'],
])(
  'a break whose candidates were %j has its empty slots for the reason %s, whatever the play’s',
  (verdicts, reason) => {
    expect(reasonOf(verdicts.map(candidate), 'no_plan', false)).toBe(reason);
  },
);

test('where no candidate tells, the reason of the play is that of its first empty break; winners are no candidates for an empty slot', () => {
  expect([reasonOf([], 'no_plan', true), reasonOf(null, 'capped', true), reasonOf(null, 'capped', false)]).toEqual([
    ...['no_plan', 'capped', null],
  ]);
  expect(losersOf([candidate('won'), candidate('outranked')])).toEqual([candidate('outranked')]);
});

test('what is not the recording lies to scale between its pieces', () => {
  expect(blocksOf(timeline)).toEqual([
    { kind: 'intro', startMs: 0, endMs: 2000 },
    { kind: 'break', startMs: 12_000, endMs: 16_000 },
    { kind: 'outro', startMs: 26_000, endMs: 27_000 },
  ]);
});

test('times of the recording move behind the intro and the ads, with chapters and peaks', () => {
  expect([0, 9999, 10_000, 15_000, 20_000].map((ms) => placeInFile(timeline, ms))).toEqual([
    ...[2000, 11_999, 16_000, 21_000, 26_000],
  ]);
  const chapters = [
    { title: 'Ebb', startMs: 0, endMs: 12_000 },
    { title: 'Flow', startMs: 12_000, endMs: 20_000 },
  ];
  expect(chaptersInFile(chapters, timeline)).toEqual([
    { title: 'Ebb', startMs: 2000, endMs: 18_000 },
    { title: 'Flow', startMs: 18_000, endMs: 26_000 },
  ]);
  const peaks = { data: Int8Array.from(Array.from({ length: 20 }, (_, at) => [-at - 1, at + 1]).flat()), pairMs: 1000 };
  const { data } = peaksInFile(peaks, timeline);
  expect(data).toHaveLength(54);
  const louder = Array.from({ length: 27 }, (_, at) => data[at * 2 + 1]);
  expect(louder).toEqual([
    0,
    0,
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    0,
    0,
    0,
    0,
    ...[11, 12, 13, 14, 15, 16, 17, 18, 19, 20],
    0,
  ]);
});

test('one listens from the country of the browser, else from Germany, and asks for what the lists know', () => {
  expect([countryOf(['en-GB', 'de']), countryOf(['en', 'pt-BR']), countryOf(['en', '??']), countryOf([])]).toEqual([
    ...['GB', 'BR', 'DE', 'DE'],
  ]);
  expect(requestOf({ country: 'DE', app: '', device: 'computer' })).toEqual({ country: 'DE', device: 'computer' });
  expect(requestOf({ country: 'DE', app: 'Overcast', device: 'iphone', at: '2026-12-01T08:00:00Z' })).toEqual({
    ...{ country: 'DE', app: 'Overcast', device: 'mobile', operating_system: 'iOS', at: '2026-12-01T08:00:00Z' },
  });
  const german = countriesIn('de');
  expect(german.find(({ code }) => code === 'DE')?.name).toBe('Deutschland');
  expect(new Set(german.map(({ code }) => code)).size).toBe(249);
});
