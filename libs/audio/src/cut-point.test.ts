import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { durationMsOfFrames } from './canonical.ts';
import { cutPoint } from './cut-point.ts';

const frames = 5_000;
const lengthMs = durationMsOfFrames(frames);

test.each<[string, number, [number, number][], number]>([
  ['the nearest frame boundary without silences', 10_000, [], 417],
  ['the middle of a silence two seconds later', 10_000, [[11_900, 12_100]], 500],
  ['the middle of a silence two seconds earlier', 14_000, [[11_900, 12_100]], 500],
  ['no silence whose middle is farther away', 9_999, [[11_900, 12_100]], 417],
  ['not the edge of a long silence, when its middle is too far', 10_000, [[9_900, 30_000]], 417],
  [
    'the nearer of two silences',
    10_000,
    [
      [8_800, 9_200],
      [10_700, 10_900],
    ],
    450,
  ],
  [
    'the earlier of two as near',
    10_000,
    [
      [9_400, 9_600],
      [10_400, 10_600],
    ],
    396,
  ],
  ['inside of the silence that the audio begins with', 0, [[0, 400]], 8],
  ['never more than the end', 200_000, [], frames],
])('the cut is %s', (_name, timeMs, silences, expected) => {
  expect(cutPoint(timeMs, frames, silences)).toBe(expected);
});

const silencesOf = fc
  .uniqueArray(fc.nat(lengthMs), { maxLength: 60 })
  .map((edges) => edges.toSorted((a, b) => a - b))
  .map((edges) =>
    edges.flatMap((start, i): [number, number][] => (i % 2 || i + 1 >= edges.length ? [] : [[start, edges[i + 1]!]])),
  );

test('a cut lies on a frame boundary inside of the audio, at most two seconds and half a frame from its time', () => {
  fc.assert(
    fc.property(fc.nat(lengthMs), silencesOf, (timeMs, silences) => {
      const cut = cutPoint(timeMs, frames, silences);
      expect(Number.isInteger(cut) && cut >= 0 && cut <= frames).toBe(true);
      expect(Math.abs(durationMsOfFrames(cut) - timeMs)).toBeLessThanOrEqual(2_012);
    }),
  );
});

test('a cut that moved to a silence lies in it', () => {
  fc.assert(
    fc.property(fc.nat(lengthMs), silencesOf, (timeMs, silences) => {
      const long = silences.filter(([start, end]) => end - start >= 24);
      const cutMs = durationMsOfFrames(cutPoint(timeMs, frames, long));
      const moved = Math.abs(cutMs - timeMs) > 12;
      if (moved) expect(long.some(([start, end]) => start <= cutMs && cutMs <= end)).toBe(true);
    }),
  );
});
