import { expect, test } from '@jest/globals';
import { breaksFault, breaksOf, markersOf, moved, placeFor, textsOf, textsOfMarkers, withBreak } from './breaks.ts';

const durationMs = 600_000;
const markers = [
  { key: 'end', kind: 'post' as const, position_ms: durationMs, max_slots: 1 },
  { key: 'b', kind: 'mid' as const, position_ms: 400_000, max_slots: 2 },
  { key: 'a', kind: 'mid' as const, position_ms: 100_000, max_slots: 3 },
];
const breaks = breaksOf(textsOfMarkers(markers));

test('markers are breaks in the order of the audio, with mid-rolls numbered, and come back as they were', () => {
  expect(breaks.map(({ key, number }) => [key, number])).toEqual([
    ['a', 1],
    ['b', 2],
    ['end', 0],
  ]);
  expect(markersOf(textsOf(breaks))).toEqual([markers[2], markers[1], markers[0]]);
});

test('a new mid-roll stands where it may, else in the middle of the longest stretch', () => {
  expect(placeFor(breaks, 250_000.4, durationMs)).toBe(250_000);
  expect([0, 105_000, durationMs].map((ms) => placeFor(breaks, ms, durationMs))).toEqual([250_000, 250_000, 250_000]);
  expect(placeFor([], 0, durationMs)).toBe(300_000);
});

test('each break has a key of its own, and there is one before and one behind the episode', () => {
  const once = withBreak([], 'mid', 1000, durationMs);
  const twice = withBreak(once.breaks, 'mid', 90_000, durationMs);
  expect([once.key, twice.key]).toEqual(['mid', 'mid-2']);
  const pre = withBreak(twice.breaks, 'pre', 5, durationMs);
  expect(pre.breaks.at(-1)).toEqual({ key: 'pre', kind: 'pre', positionMs: 0, slots: 1 });
  expect(withBreak(pre.breaks, 'pre', 5, durationMs)).toEqual(pre);
});

test('a mid-roll stays inside the audio, and other breaks cannot be moved', () => {
  const placeOf = (key: string, toMs: number) =>
    moved(breaks, key, toMs, durationMs).find((each) => each.key === key)?.positionMs;
  expect([placeOf('a', -5), placeOf('a', 700_000), placeOf('end', 5)]).toEqual([1, durationMs - 1, durationMs]);
});

test('mid-rolls closer than ten seconds are a fault', () => {
  expect(breaksFault(breaks)).toBeUndefined();
  expect(breaksFault(moved(breaks, 'a', 390_001, durationMs))).toBe('audio.too_close');
  expect(breaksFault(moved(breaks, 'a', 390_000, durationMs))).toBeUndefined();
});
