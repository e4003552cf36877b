import { cutPoint, durationMsOfFrames, framesOfSamples, type Silence } from '@longwave/audio';
import { expect, test } from '@jest/globals';
import { growthOf, linear } from '@longwave/test-kit/growth-of';
import fc from 'fast-check';
import { aacFrameRate, aacFramesOfSamples, cellGrid, firstFrames } from './index.ts';

const samples = fc.oneof(fc.integer({ min: 1, max: 400_000 }), fc.integer({ min: 1, max: 30_000_000 }));
const markers = fc.array(fc.nat(650_000), { maxLength: 8 });
/** In order and apart from each other, as the encoder finds them. */
const silences = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 9000 }), fc.integer({ min: 300, max: 4000 })), { maxLength: 80 })
  .map((spans) => {
    let at = 0;
    return spans.map(([gap, length]): Silence => [(at += gap), (at += length)]);
  });
const endOf = (length: number) => length / 48;

test('cells follow each other from 0 to the end, each at least 2 s and less than 4 s long', () => {
  fc.assert(
    fc.property(samples, markers, silences, (length, markersMs, found) => {
      const grid = cellGrid(length, markersMs, found);
      expect(grid[0]).toBe(0);
      const lengths = grid.map((ms, index) => (grid[index + 1] ?? endOf(length)) - ms);
      const tooShort = lengths.filter((ms) => ms < Math.min(2000, endOf(length)) - 1e-6);
      expect(tooShort).toEqual([]);
      expect(lengths.filter((ms) => ms >= 4000)).toEqual([]);
    }),
  );
});

test('the grid depends on neither the order of markers nor that of silences', () => {
  fc.assert(
    fc.property(samples, markers, silences, (length, markersMs, found) => {
      expect(cellGrid(length, markersMs.toReversed(), found.toReversed())).toEqual(cellGrid(length, markersMs, found));
    }),
  );
});

test('a cell begins exactly where the MP3 is cut for the first marker, wherever silences are', () => {
  fc.assert(
    fc.property(samples, fc.nat(650_000), silences, (length, markerMs, found) => {
      const cut = durationMsOfFrames(cutPoint(markerMs, framesOfSamples(length), found));
      fc.pre(cut >= 2000 && cut <= endOf(length) - 2000);
      expect(cellGrid(length, [markerMs], found)).toContain(cut);
    }),
  );
});

test('where no cell begins in the middle of a silence, one begins less than 2 s away in a silence as long, at a cut or at an end', () => {
  fc.assert(
    fc.property(samples, markers, silences, (length, markersMs, found) => {
      const grid = cellGrid(length, markersMs, found);
      const cuts = markersMs.map((ms) => durationMsOfFrames(cutPoint(ms, framesOfSamples(length), found)));
      const middleOf = ([from, to]: Silence) => (from + to) / 2;
      for (const silence of found) {
        const middle = middleOf(silence);
        const isTaken = (ms: number) => grid.includes(ms) && Math.abs(ms - middle) < 2000;
        const atLeastAsLong = found.filter(([from, to]) => to - from >= silence[1] - silence[0]).map(middleOf);
        expect(endOf(length) - middle < 2000 || [0, ...cuts, ...atLeastAsLong].some(isTaken)).toBe(true);
      }
    }),
  );
});

test('the longest silences are taken first, and gaps are split evenly', () => {
  // 500 ms at 3 s loses against 900 ms at 4.5 s; the marker at 10.2 s moves to the frame of the MP3 nearest to 11 s.
  const found: Silence[] = [
    [2750, 3250],
    [4050, 4950],
    [10_800, 11_200],
  ];
  const grid = cellGrid(20 * 48_000, [10_200], found);
  const cut = 10_992;
  const between = (from: number, to: number, parts: number) =>
    Array.from({ length: parts }, (_, part) => from + ((to - from) * part) / parts);
  expect(grid).toEqual([...between(0, 4500, 2), ...between(4500, cut, 3), ...between(cut, 20_000, 4)]);
});

test('rounded to frames, cells keep their order and hold at least one frame each', () => {
  fc.assert(
    fc.property(samples, markers, silences, (length, markersMs, found) => {
      const grid = cellGrid(length, markersMs, found);
      const starts = firstFrames(grid, aacFrameRate);
      const lengths = starts.map((start, index) => (starts[index + 1] ?? aacFramesOfSamples(length)) - start);
      expect(lengths.filter((frames) => frames < 1)).toEqual([]);
      const offMs = starts.map((frame, index) => Math.abs((frame * 1024) / 48 - grid[index]!));
      expect(Math.max(...offMs)).toBeLessThanOrEqual(1024 / 48 / 2 + 1e-6);
    }),
  );
});

test('the work grows no faster than the silences, as short and as close as speech has them', () => {
  const gridding = (count: number) => {
    const found = Array.from({ length: count }, (_, at): Silence => [at * 1500 + 1000, at * 1500 + 1300]);
    return () => void cellGrid(count * 1500 * 48, [], found);
  };
  // Five hours.
  expect(growthOf(gridding, 12_000)).toBeLessThan(linear);
});
