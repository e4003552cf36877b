import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { labelEvery, moveByKey, nearestPoint, ticksUpTo, withRoom } from './axis.ts';

describe('the marks of an axis', () => {
  test.each([
    [0, [0, 1]],
    [1, [0, 1]],
    [3, [0, 1, 2, 3]],
    [9_400, [0, 2_500, 5_000, 7_500, 10_000]],
    [170_640, [0, 50_000, 100_000, 150_000, 200_000]],
  ])('up to %i are %j', (most, ticks) => expect(ticksUpTo(most)).toEqual(ticks));

  test('they begin at 0, are whole, lie evenly, and nothing exceeds the last', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1e9 }), (most) => {
        const ticks = ticksUpTo(most);
        const step = ticks[1]!;
        expect(ticks.every((tick, place) => Number.isInteger(tick) && tick === place * step)).toBe(true);
        expect(ticks.at(-1)).toBeGreaterThanOrEqual(most);
        expect(ticks.length).toBeLessThanOrEqual(6);
      }),
    );
  });
});

test('labels stand as close as they have room', () => {
  expect([labelEvery(30, 1100, 60), labelEvery(30, 300, 60), labelEvery(1, 300, 60)]).toEqual([2, 6, 1]);
});

test('of labels that would lie over each other the first stays', () => {
  const labels = [0, 20, 90].map((x) => ({ x, text: 'S2 E1' }));
  expect(withRoom(labels, 7).map(({ x }) => x)).toEqual([0, 90]);
});

test('the nearest point is one of them, wherever one points', () => {
  expect([-50, 0, 49, 51, 1000].map((x) => nearestPoint(x, 3, 0, 200))).toEqual([0, 0, 0, 1, 2]);
  expect([nearestPoint(5, 1, 10, 10), nearestPoint(5, 0, 0, 10)]).toEqual([0, undefined]);
});

describe('keys', () => {
  test.each([
    ['ArrowLeft', undefined, 29],
    ['ArrowRight', undefined, 29],
    ['ArrowLeft', 0, 0],
    ['ArrowRight', 29, 29],
    ['PageUp', 29, 26],
    ['PageDown', 2, 5],
    ['Home', 12, 0],
    ['End', 12, 29],
    ['a', 12, undefined],
  ])('%s from %s leads to %s of 30 points', (key, at, to) => expect(moveByKey(key, at, 30)).toBe(to));

  test('nothing moves where there is no point', () => expect(moveByKey('Home', undefined, 0)).toBeUndefined());
});
