import { describe, expect, test } from '@jest/globals';
import { flagDeed } from './flag-keys.ts';
import { joinOf, nextSilence, type Silences } from './snap.ts';

const silences: Silences = [
  [10_000, 10_600],
  [97_000, 99_000],
  [99_400, 99_700],
];

describe('the join of a break', () => {
  test.each([
    ['in no silence: between the nearest frames', 50_000, { atMs: 49_992, isInSilence: false }],
    ['near a silence: in its middle', 97_400, { atMs: 97_992, isInSilence: true }],
    ['between two: in the nearer one', 98_900, { atMs: 99_552, isInSilence: true }],
    ['two seconds away from the middle: still there', 8300, { atMs: 10_296, isInSilence: true }],
    ['a millisecond further: not moved', 8299, { atMs: 8304, isInSilence: false }],
    ['behind the end: at the end', 200_100, { atMs: 200_000, isInSilence: false }],
  ])('%s', (_where, ms, join) => {
    expect(joinOf(ms, silences, 200_000)).toEqual(join);
  });
});

test('the next silence is the one after a time, or before it', () => {
  expect([nextSilence(0, silences, true), nextSilence(10_300, silences, true)]).toEqual([10_300, 98_000]);
  expect([nextSilence(98_000, silences, false), nextSilence(99_600, silences, true)]).toEqual([10_300, undefined]);
});

test('keys move a break by tenths, seconds, frames and silences', () => {
  const press = (key: string, more = {}) =>
    flagDeed({ key, shiftKey: false, altKey: false, ...more }, 50_000, silences);
  expect(press('ArrowRight')).toEqual({ toMs: 50_100 });
  expect(press('ArrowLeft', { shiftKey: true })).toEqual({ toMs: 49_000 });
  expect(press('ArrowUp', { altKey: true })).toEqual({ toMs: 50_024 });
  expect(press('PageDown')).toEqual({ toMs: 40_000 });
  expect([press('s'), press('S', { shiftKey: true })]).toEqual([{ toMs: 98_000 }, { toMs: 10_300 }]);
  expect([press('Delete'), press('Enter'), press('x')]).toEqual(['remove', 'hear', undefined]);
});
