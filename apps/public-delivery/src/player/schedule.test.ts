import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Break, Segment } from './playlists.ts';
import { aheadSeconds, clock, dueBreak, loadLimit, nextSegment, staleSpans, type Span } from './schedule.ts';

/** Segments without a gap. */
const segmentsOf = (lengths: readonly number[]): Segment[] => {
  let end = 0;
  return lengths.map((seconds, index) => {
    const start = end;
    end += seconds;
    return { url: 'x', offset: index, length: 1, start, end };
  });
};
const breaksAt = (...places: readonly number[]): Break[] => places.map((at) => ({ at, listUrl: String(at) }));
const lengths = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 60 });

test('from any place the segments to the limit are loaded in order, each once, and none before it is needed', () => {
  fc.assert(
    fc.property(lengths, fc.nat(300), fc.nat(300), (each, position, limit) => {
      const segments = segmentsOf(each);
      const loaded: Span[] = [];
      const order: Segment[] = [];
      for (;;) {
        const next = nextSegment(segments, loaded, position, limit);
        if (!next) break;
        order.push(next);
        loaded.push([next.start, next.end]);
      }
      expect(order).toEqual(
        segments.filter(({ start, end }) => end > position && start < Math.min(limit, position + aheadSeconds)),
      );
    }),
  );
});

test('a segment of which a piece was removed is loaded again', () => {
  const segments = segmentsOf([4, 4]);
  expect(nextSegment(segments, [[1, 8]], 0, Infinity)).toBe(segments[0]);
  expect(nextSegment(segments, [[0.02, 7.98]], 0, Infinity)).toBeUndefined();
});

test('what was loaded stays half a minute behind and a minute ahead, and nothing else does', () => {
  expect(staleSpans([[0, 90]], 60)).toEqual([[0, 30]]);
  expect(staleSpans([[0, 10], [200, 260]], 50)).toEqual([[0, 10], [200, 260]]); // prettier-ignore
  expect(staleSpans([[30, 120]], 60)).toEqual([]);
  expect(staleSpans([[0, 300]], 100)).toEqual([[0, 70], [160, 300]]); // prettier-ignore
});

test('a break is due from its place on until it was played; of several that are jumped over the last one is', () => {
  const breaks = breaksAt(0, 8, 20, Infinity);
  const [pre, first, second, post] = breaks as [Break, Break, Break, Break];
  const played = new Set<Break>();
  expect(dueBreak(breaks, played, 0)).toBe(pre);
  expect(loadLimit(breaks, played)).toBe(0);
  played.add(pre);
  expect([dueBreak(breaks, played, 7.9), loadLimit(breaks, played)]).toEqual([undefined, 8]);
  expect(dueBreak(breaks, played, 8)).toBe(first);
  expect(dueBreak(breaks, played, 30)).toBe(second);
  for (const each of [first, second]) played.add(each);
  expect([dueBreak(breaks, played, 30), loadLimit(breaks, played)]).toEqual([undefined, Infinity]);
  expect(dueBreak(breaks, played, Infinity)).toBe(post);
});

test.each([
  [0, '0:00'],
  [62.9, '1:02'],
  [3602, '1:00:02'],
  [NaN, '0:00'],
  [-1, '0:00'],
])('%d s are shown as %s', (seconds, text) => expect(clock(seconds)).toBe(text));
