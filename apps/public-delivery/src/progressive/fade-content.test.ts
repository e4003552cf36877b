import { expect, test } from '@jest/globals';
import { fadeSpans } from './fade-content.ts';

const mid = (contentMs: number) => ({ position: 'mid' as const, contentMs });
const minute = { durationMs: 60_000 };

test('without the setting nothing fades', () => {
  expect(fadeSpans(minute, [mid(24_000)], { breakFadeMs: 0, silences: [] })).toEqual([]);
});

test('content fades out before a break and in behind it, but not where the break lies in a silence, before or behind it all', () => {
  const breaks = [
    { position: 'pre' as const, contentMs: 0 },
    mid(12_000),
    mid(24_000),
    { position: 'post' as const, contentMs: 60_000 },
  ];
  expect(fadeSpans(minute, breaks, { breakFadeMs: 250, silences: [[11_800, 12_200]] })).toEqual([
    { contentMs: 23_760, durationMs: 240, direction: 'out' },
    { contentMs: 24_000, durationMs: 240, direction: 'in' },
  ]);
});

test('a fade takes at most a third of what lies between two breaks', () => {
  expect(fadeSpans(minute, [mid(24_000), mid(24_240)], { breakFadeMs: 1_000, silences: [] })).toEqual([
    { contentMs: 23_016, durationMs: 984, direction: 'out' },
    { contentMs: 24_000, durationMs: 72, direction: 'in' },
    { contentMs: 24_168, durationMs: 72, direction: 'out' },
    { contentMs: 24_240, durationMs: 984, direction: 'in' },
  ]);
});
