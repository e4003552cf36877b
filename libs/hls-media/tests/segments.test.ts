import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  aacFrameRate,
  bitRates,
  breakCells,
  cellGrid,
  durationTicks,
  firstFrames,
  scheduleBreaks,
  segmentsOf,
  type CellIndex,
  type PlannedBreak,
} from '../src/index.ts';

const timescale = 48_000;
const frame = 1024;

/** Cells of a content are 2 to 4 s long; those of an intro and an outro may be shorter. */
const track = fc
  .array(fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 94, max: 188 }) }, fc.integer({ min: 1, max: 94 })), {
    minLength: 1,
    maxLength: 150,
  })
  .map((frames): CellIndex => {
    let offset = 605;
    let start = 0;
    const cells = frames.map((count) => {
      const cell = [offset, 96 + count * 500, start, count * frame] as const;
      offset += cell[1];
      start += cell[3];
      return cell;
    });
    return { timescale, init: 605, bytes: offset, cells };
  });
const planned = fc.array(
  fc.record({
    key: fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,8}$/),
    position: fc.constantFrom('pre', 'mid', 'post'),
    contentMs: fc.nat(400_000),
  } satisfies { [K in keyof PlannedBreak]: unknown }),
  { maxLength: 8 },
);

test('for any schedule, segments partition the cells in order, are at most 6 s long, and each break begins one', () => {
  fc.assert(
    fc.property(track, planned, fc.nat(20_000_000), (index, breaks, contentStart) => {
      const schedule = scheduleBreaks(index, contentStart % durationTicks(index), breaks);
      const segments = segmentsOf(index, breakCells(index, schedule));
      let cell = 0;
      for (const { offset, length, start, duration } of segments) {
        expect([offset, start]).toEqual([index.cells[cell]![0], index.cells[cell]![2]]);
        let bytes = 0;
        let ticks = 0;
        for (; bytes < length; cell++) {
          bytes += index.cells[cell]![1];
          ticks += index.cells[cell]![3];
        }
        expect([bytes, ticks]).toEqual([length, duration]);
        expect(duration / timescale).toBeLessThanOrEqual(6);
      }
      expect(cell).toBe(index.cells.length);

      const begins = segments.map(({ start }) => Math.round((start * 1000) / timescale));
      for (const { position, startMs } of schedule) if (position !== 'post') expect(begins).toContain(startMs);
    }),
  );
});

test.each([
  ['sound', aacFrameRate],
  ['30 pictures a second', { frames: 30, seconds: 1 }],
  ['29.97 pictures a second', { frames: 30_000, seconds: 1001 }],
  ['one picture in two seconds', { frames: 1, seconds: 2 }],
])('segments of %s are at most 6 s long, wherever its cells begin', (_, rate) => {
  const markers = fc.array(fc.nat(650_000), { maxLength: 20 });
  fc.assert(
    fc.property(fc.integer({ min: 100_000, max: 30_000_000 }), markers, (samples, markersMs) => {
      const starts = firstFrames(cellGrid(samples, markersMs, []), rate);
      const end = Math.ceil((samples * rate.frames) / (48_000 * rate.seconds));
      const cells = starts.map((start, i) => {
        const count = (starts[i + 1] ?? end) - start;
        return [605 + i, 1, start * rate.seconds, count * rate.seconds] as const;
      });
      expect(cells.filter(([, , , ticks]) => ticks < 1)).toEqual([]);
      const segments = segmentsOf({ timescale: rate.frames, init: 605, bytes: 605 + cells.length, cells });
      for (const { duration } of segments) expect(duration / rate.frames).toBeLessThanOrEqual(6);
    }),
  );
});

test('a segment ends only where the next cell would make it longer than 6 s', () => {
  fc.assert(
    fc.property(track, (index) => {
      const segments = segmentsOf(index);
      segments.slice(1).forEach(({ start }, i) => {
        const [, , , next] = index.cells.find(([, , from]) => from === start)!;
        expect(segments[i]!.duration + next).toBeGreaterThan(6 * timescale);
      });
    }),
  );
});

test('a schedule is in order, inside of the presentation, and has each break at most once; a mid-roll moves to the nearest cell', () => {
  fc.assert(
    fc.property(track, planned, fc.nat(2_000_000), (index, breaks, start) => {
      const contentStart = start % durationTicks(index);
      const schedule = scheduleBreaks(index, contentStart, breaks);
      const endMs = (durationTicks(index) * 1000) / timescale;
      expect(schedule.length).toBeLessThanOrEqual(breaks.length);
      const times = schedule.map(({ startMs }) => startMs);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      for (const { position, startMs } of schedule) {
        if (position === 'pre') expect(startMs).toBe(0);
        else expect(endMs - startMs).toBeGreaterThanOrEqual(2499.5);
        if (position === 'post') expect(endMs - startMs).toBeLessThanOrEqual(2500.5);
      }
      const distances = (ms: number) => index.cells.map(([, , from]) => Math.abs((from * 1000) / timescale - ms));
      for (const { key, position, contentMs } of breaks) {
        if (position !== 'mid') continue;
        const placed = scheduleBreaks(index, contentStart, [{ key, position, contentMs }]);
        const ms = (contentStart * 1000) / timescale + contentMs;
        for (const { startMs } of placed)
          expect(Math.abs(startMs - ms)).toBeLessThanOrEqual(Math.min(...distances(ms)) + 0.5);
      }
    }),
  );
});

const cellsOf = (...frames: readonly number[]): CellIndex => {
  let start = 0;
  const cells = frames.map((count, i) => {
    const cell = [605 + i * 1000, 1000, start, count * frame] as const;
    start += cell[3];
    return cell;
  });
  return { timescale, init: 605, bytes: 605 + frames.length * 1000, cells };
};

test('a break nearer than 2.5 s to the end is left out, and so is a post-roll of a shorter presentation', () => {
  // Cells at 0, 2, 4 and 6 s; the end is at 8 s.
  const index = { ...cellsOf(), cells: [0, 2, 4, 6].map((s) => [605, 1, s * 48_000, 96_000] as const) };
  const mid = (contentMs: number): PlannedBreak => ({ key: 'mid-1', position: 'mid', contentMs });
  expect(scheduleBreaks(index, 0, [mid(4900)])).toEqual([{ key: 'mid-1', position: 'mid', startMs: 4000 }]);
  expect(scheduleBreaks(index, 0, [mid(5100)])).toEqual([]);
  const post = { key: 'post', position: 'post', contentMs: 8000 } as const;
  expect(scheduleBreaks(index, 0, [post])).toEqual([{ key: 'post', position: 'post', startMs: 5500 }]);
  expect(scheduleBreaks(cellsOf(100), 0, [post])).toEqual([]);
});

test('the peak rate is that of the segment with most bytes for its time, the average that of all', () => {
  const index: CellIndex = {
    timescale: 1000,
    init: 100,
    bytes: 9100,
    cells: [
      [100, 3000, 0, 4000],
      [3100, 6000, 4000, 4000],
    ],
  };
  expect(bitRates(index)).toEqual({ peak: 12_000, average: 9000 });
});
