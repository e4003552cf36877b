import { expect, test } from '@jest/globals';
import { rowOf, sumOf } from './side-by-side.ts';
import type { Series } from './series-data.ts';

const of = (counts: readonly number[], history_window?: Series['meta']['history_window']): Series => ({
  meta: {
    timerange: { from: '2026-11-20T00:00:00Z', to: '2026-11-22T00:00:00Z' },
    ...{ aggregation_granularity: 'day', window: 'calendar_utc', methodology_version: '1' },
    ...{ complete_until: '2026-11-22T12:04:00Z', provisional_from: '2026-11-21T00:00:00Z' },
    ...(history_window && { history_window }),
  },
  objects: counts.map((downloads) => ({ date: '2026-11-20', downloads, listeners: downloads })),
});
const podcast = { id: 'pod_1', title: 'Harbour Light' };
const cut = { from: '2026-08-24T00:00:00Z', requested_from: '2026-05-26T00:00:00Z', days: 90 };

test('a podcast has its downloads, their course, and how far they are from the time before', () => {
  expect(rowOf(podcast, of([8, 4]), of([5, 5]))).toEqual({
    ...{ ...podcast, downloads: 12, before: 10, change: expect.closeTo(0.2), course: [8, 4] },
  });
  expect(rowOf(podcast, of([8, 4]), of([5, 5], cut))).toMatchObject({ before: undefined, change: undefined });
});

test('podcasts are added up once all of them are there', () => {
  const [a, b] = [rowOf(podcast, of([8]), of([5])), rowOf(podcast, of([2]), of([1]))];
  expect(sumOf([a, b])).toEqual({ downloads: 10, before: 6 });
  expect(sumOf([a, rowOf(podcast, undefined, undefined)])).toEqual({ downloads: undefined, before: undefined });
});
