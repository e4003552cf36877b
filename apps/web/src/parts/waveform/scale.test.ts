import { expect, test } from '@jest/globals';
import { fittingLabels, pixelOf, revealing, ticksOf, timeAt, zoomed } from './scale.ts';

const whole = { startMs: 0, lengthMs: 2_892_000 };

test('a time is where its pixel is, and the other way round', () => {
  for (const ms of [0, 1, 1_002_300, 2_892_000]) expect(timeAt(whole, 1140, pixelOf(whole, 1140, ms))).toBe(ms);
  expect(pixelOf({ startMs: 60_000, lengthMs: 60_000 }, 300, 90_000)).toBe(150);
});

test('what is looked at closer stays where it was, and nothing beyond the sound is shown', () => {
  const near = zoomed(whole, whole.lengthMs, 4, 1_002_300);
  expect(near.lengthMs).toBe(723_000);
  expect(pixelOf(near, 1000, 1_002_300)).toBeCloseTo(pixelOf(whole, 1000, 1_002_300));
  expect(zoomed(whole, whole.lengthMs, 8, 0).startMs).toBe(0);
  const last = zoomed(whole, whole.lengthMs, 8, whole.lengthMs);
  expect(last.startMs + last.lengthMs).toBe(whole.lengthMs);
  expect(zoomed(near, whole.lengthMs, 0.01, 1_002_300)).toEqual(whole);
});

test('a view is as long as the sound where the sound is short', () => {
  expect(zoomed({ startMs: 0, lengthMs: 5000 }, 5000, 2, 1000)).toEqual({ startMs: 0, lengthMs: 5000 });
});

test('a view follows a time that leaves it, and no other', () => {
  const view = { startMs: 100_000, lengthMs: 60_000 };
  expect(revealing(view, 500_000, 130_000)).toBe(view);
  expect(revealing(view, 500_000, 170_000)).toEqual({ startMs: 155_000, lengthMs: 60_000 });
  expect(revealing(view, 500_000, 499_000)).toEqual({ startMs: 440_000, lengthMs: 60_000 });
});

test('an axis has round times, at least so far apart as their texts are wide', () => {
  expect(ticksOf(whole, 1140)).toEqual([0, 300, 600, 900, 1200, 1500, 1800, 2100, 2400, 2700].map((s) => s * 1000));
  expect(ticksOf({ startMs: 61_000, lengthMs: 10_000 }, 360)).toEqual([62_000, 64_000, 66_000, 68_000, 70_000]);
  expect(ticksOf({ startMs: 0, lengthMs: 36e6 }, 100)).toEqual([0, 28_800_000]);
});

test('of labels that would lie over each other the chosen one is shown, then those from the left', () => {
  const labels = [
    { key: 'pre', px: 10, widthPx: 60 },
    { key: 'mid', px: 40, widthPx: 50 },
    { key: 'late', px: 400, widthPx: 50 },
  ];
  expect([...fittingLabels(labels, undefined)]).toEqual(['pre', 'late']);
  expect([...fittingLabels(labels, 'mid')]).toEqual(['mid', 'late']);
});
