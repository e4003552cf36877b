import { expect, test } from '@jest/globals';
import { createReportLimit } from './report-limit.ts';

const pause = { servingId: 'srv_1', event: 'pause', adDurationMs: 10_000 } as const;
const times = (count: number) => Array.from({ length: count });

test('a serving has 32 times as many reports of a kind as can happen, and no more', () => {
  const { tryKeep } = createReportLimit();
  expect(times(100).filter(() => tryKeep(pause))).toHaveLength(64);
  expect(times(100).filter(() => tryKeep({ ...pause, event: 'complete' }))).toHaveLength(32);
  expect(tryKeep({ ...pause, servingId: 'srv_2' })).toBe(true);
});

test('a report that could not be kept takes no place', () => {
  const { tryKeep, release } = createReportLimit();
  for (const _time of times(200)) {
    expect(tryKeep(pause)).toBe(true);
    release(pause);
  }
});
