import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createSilenceFinder, maxSilences, type Silence } from './silence.ts';

const find = (parts: readonly Int16Array[], rate: number, channels: number) => {
  const finder = createSilenceFinder(rate, channels);
  for (const part of parts) finder.push(part);
  return finder.finish();
};

test('a span is silent while every channel stays below −50 dBFS, for at least 300 ms', () => {
  const rate = 1000;
  const stereo = (spans: readonly (readonly [ms: number, left: number, right: number])[]) =>
    Int16Array.from(spans.flatMap(([ms, left, right]) => Array.from({ length: ms }, () => [left, right]).flat()));
  const found = (...spans: (readonly [number, number, number])[]) => find([stereo(spans)], rate, 2);
  expect(found([400, 0, 0])).toEqual([[0, 400]]);
  expect(found([100, 9000, 0], [300, 103, -103], [50, 0, 9000], [299, 0, 0], [1, -9000, 0])).toEqual([[100, 400]]);
  expect(found([400, 0, 104], [400, -104, 0], [400, 20, -20])).toEqual([[800, 1200]]);
  // One channel against the other sounds, though their mean does not.
  expect(found([1000, 5000, -5000])).toEqual([]);
  expect(find([], rate, 2)).toEqual([]);
});

test('silences are those of a look at every millisecond, in chunks of any sizes and in any number of channels', () => {
  const runs = fc.array(fc.record({ samples: fc.nat(2500), loud: fc.boolean() }), { maxLength: 12 });
  fc.assert(
    fc.property(runs, fc.constantFrom(1, 2), fc.integer({ min: 1, max: 3000 }), (spans, channels, size) => {
      const rate = 4000;
      const loud = spans.flatMap((span) => Array<boolean>(span.samples).fill(span.loud));
      const samples = Int16Array.from(loud.flatMap((is) => Array<number>(channels).fill(is ? -8000 : 60)));
      const expected: Silence[] = [];
      const isQuiet = loud.map((is) => !is);
      for (let from = 0, to = 0; from < loud.length; from = to) {
        while (to < loud.length && isQuiet[to] === isQuiet[from]) to++;
        const span = [Math.ceil(from / 4), Math.floor(to / 4)] as const;
        if (isQuiet[from] && span[1] - span[0] >= 300) expected.push(span);
      }
      const parts = Array.from({ length: Math.ceil(loud.length / size) }, (_, i) =>
        samples.subarray(i * size * channels, (i + 1) * size * channels),
      );
      expect(find(parts, rate, channels)).toEqual(expected);
    }),
  );
});

test('of more silences than the limit the longest stay, in order', () => {
  const finder = createSilenceFinder(1000, 1);
  const count = maxSilences + 50;
  const lengthOf = (i: number) => (i % 41 === 0 ? 300 : 301 + (i % 7));
  for (let i = 0; i < count; i++) finder.push(Int16Array.from([9000, ...Array<number>(lengthOf(i)).fill(0)]));
  const found = finder.finish();
  expect(found).toHaveLength(maxSilences);
  expect(found).toEqual(found.toSorted((a, b) => a[0] - b[0]));
  expect(found.filter(([start, end]) => end - start === 300)).toHaveLength(0);
});
