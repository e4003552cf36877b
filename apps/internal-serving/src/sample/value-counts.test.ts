import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createValueCounts, sumDay, type CountedPlay } from './value-counts.ts';

const play = (listener: number | undefined, country = 'DE'): CountedPlay => {
  const code = Buffer.alloc(listener === undefined ? 0 : 6);
  if (listener !== undefined) code.writeUInt32BE(listener, 2);
  return { podcastId: 'pod_1', country, region: '', device: '', operatingSystem: '', app: '', listener: code };
};
const countsOf = (plays: readonly CountedPlay[]) => {
  const counts = createValueCounts();
  for (const one of plays) counts.add(one);
  return counts;
};
const month = '2026-11';

test('a value is common only where at least 50 listeners had it, in however many plays and hours', () => {
  const hour = fc.array(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { maxLength: 80 });
  fc.assert(
    fc.property(fc.array(hour, { maxLength: 4 }), (hours) => {
      const day = sumDay(
        hours.map((codes) => ({ month, counts: countsOf([...codes, ...codes].map((code) => play(code))) })),
      );
      const people = new Set(hours.flat()).size;
      expect(day.common.has('country\nDE') && people < 50).toBe(false);
      expect(day.podcasts['pod_1'] ?? 0).toBe(2 * hours.flat().length);
    }),
  );
});

test('fifty listeners with different marks are enough, 49 are not, and plays without a listener are nobody', () => {
  const common = (listeners: number) =>
    sumDay([{ month, counts: countsOf(Array.from({ length: listeners }, (_, at) => play(at))) }]).common.has(
      'country\nDE',
    );
  expect([common(49), common(50)]).toEqual([false, true]);
  const nobody = Array.from({ length: 500 }, () => play(undefined));
  expect(sumDay([{ month, counts: countsOf(nobody) }]).common.size).toBe(0);
});

test('a listener who has another code after the end of a month is not counted twice', () => {
  const half = countsOf(Array.from({ length: 30 }, (_, at) => play(at)));
  const other = countsOf(Array.from({ length: 30 }, (_, at) => play(500 + at)));
  expect(
    sumDay([
      { month, counts: half },
      { month, counts: other },
    ]).common.size,
  ).toBe(1);
  expect(
    sumDay([
      { month, counts: half },
      { month: '2026-12', counts: other },
    ]).common.size,
  ).toBe(0);
});
