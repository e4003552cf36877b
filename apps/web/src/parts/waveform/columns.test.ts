import { describe, expect, test } from '@jest/globals';
import { columnsOf, parsePeaks, reduce } from './columns.ts';

/** Pairs that a seed gives, the same each time. */
function pairsOf(count: number): Int8Array {
  const data = new Int8Array(count * 2);
  let seed = 7;
  const next = () => (seed = (seed * 16_807) % 2_147_483_647) % 128;
  for (let at = 0; at < data.length; at += 2) data.set([-next(), next()], at);
  return data;
}

const extremes = (data: Int8Array, from: number, to: number) => {
  const [min, max] = [0, 1].map((part) => Array.from(data).filter((_, at) => at % 2 === part));
  return [Math.min(0, ...min!.slice(from, to)), Math.max(0, ...max!.slice(from, to))];
};

test.each([1, 2, 3, 5, 64, 1000])(
  'each reduction of %i pairs has half as many, and the last one the loudest of all',
  (count) => {
    const data = pairsOf(count);
    const levels = reduce(data);
    levels.slice(1).forEach((level, at) => expect(level.length / 2).toBe(Math.ceil(levels[at]!.length / 4)));
    expect(levels.at(-1)).toHaveLength(2);
    expect([...levels.at(-1)!]).toEqual(extremes(data, 0, count));
  },
);

describe('columns', () => {
  const data = pairsOf(1000);
  const levels = reduce(data);

  test.each([
    [0, 1000, 300],
    [0, 1000, 7],
    [120.4, 640.9, 110],
    [10, 12, 40],
  ])('from pair %d to %d, each of %d has every peak that it touches', (from, to, count) => {
    const columns = columnsOf(levels, from, to, count);
    const step = (to - from) / count;
    for (let column = 0; column < count; column += 1) {
      const first = Math.floor(from + column * step);
      const [min, max] = extremes(data, first, Math.max(first + 1, Math.ceil(from + (column + 1) * step)));
      expect(columns[column * 2]).toBeLessThanOrEqual(min!);
      expect(columns[column * 2 + 1]).toBeGreaterThanOrEqual(max!);
    }
  });

  test('of one pair each are the pairs themselves', () => {
    expect(columnsOf(levels, 0, 1000, 1000)).toEqual(data);
  });

  test('are silent where the sound has ended', () => {
    expect([...columnsOf(levels, 990, 1010, 20)].slice(20)).toEqual(Array.from({ length: 20 }, () => 0));
  });

  test('three hours are drawn in less than 8 ms', () => {
    const long = reduce(pairsOf(3 * 3600 * 20));
    columnsOf(long, 0, 216_000, 400);
    const timed = (turn: number) => {
      const begin = performance.now();
      columnsOf(long, turn, 216_000, 1200);
      return performance.now() - begin;
    };
    expect(Math.min(...[0, 1, 2, 3, 4].map(timed))).toBeLessThan(8);
  });
});

test('a file of another version or depth is refused', () => {
  const file = { version: 2, bits: 8, sample_rate: 48_000, samples_per_pixel: 2400, data: [-1, 1] };
  expect(parsePeaks(file)).toEqual({ data: Int8Array.of(-1, 1), pairMs: 50 });
  for (const wrong of [null, {}, { ...file, version: 1 }, { ...file, bits: 16 }, { ...file, samples_per_pixel: 0 }])
    expect(() => parsePeaks(wrong)).toThrow(TypeError);
});
