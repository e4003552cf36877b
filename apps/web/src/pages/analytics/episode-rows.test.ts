import { expect, test } from '@jest/globals';
import { rowsOf } from './episode-rows.ts';

const meta = {
  timerange: { from: '2026-10-24T00:00:00Z', to: '2026-11-23T00:00:00Z' },
  ...({ aggregation_granularity: 'day', window: 'calendar_utc', methodology_version: '1' } as const),
  ...{ complete_until: '2026-11-22T12:04:00Z', provisional_from: '2026-11-21T00:00:00Z' },
} as const;
const episode = (id: string, published_at: string | null, downloads: number) => ({
  ...{ episode_id: id, title: id, published_at, downloads },
});

test('episodes compare at the same age: one that is too young does not, nor does one that the plan does not show', () => {
  const published = ['2026-11-21', '2026-11-07', '2026-10-31', '2026-10-24'].map((day) => `${day}T06:00:00Z`);
  const atAge = { meta, objects: [80, 120, 100, 90].map((count, at) => episode(`ep_${at}`, published[at]!, count)) };
  const inRange = {
    objects: [
      ...atAge.objects.map((one) => ({ ...one, downloads: one.downloads * 2 })),
      episode('ep_old', '2020-01-01T06:00:00Z', 7),
    ],
  };
  const rows = rowsOf(inRange, atAge, 7);
  expect(rows.map(({ id, first, isYoung, against, inRange: all }) => [id, first, isYoung, against, all])).toEqual([
    ['ep_0', 80, true, undefined, 160],
    ['ep_1', 120, false, expect.closeTo(0.2), 240],
    ['ep_2', 100, false, 0, 200],
    ['ep_3', 90, false, expect.closeTo(-0.1), 180],
    ['ep_old', undefined, false, undefined, 7],
  ]);
});
