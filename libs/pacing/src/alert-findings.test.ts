import { expect, test } from '@jest/globals';
import { missingAtEnd, missingOfDay, unusuallyUnfilled } from './alert-findings.ts';

test.each([
  ['the middle 98 % of the goal and the lower end 90 %: not at risk', { p50: 9_800, p10: 9_000 }, undefined],
  ['less in the middle', { p50: 9_799, p10: 9_000 }, 201],
  ['less at the lower end alone', { p50: 10_000, p10: 8_999 }, 1_001],
  ['nothing at all', { p50: 0, p10: 0 }, 10_000],
  ['no less than simulated units of 16 can tell: not at risk', { p50: 9_600, p10: 9_600, scale: 16 }, undefined],
  ['less than that', { p50: 9_599, p10: 9_599, scale: 16 }, 401],
])('a line item with %s', (_name, given, missing) => {
  expect(missingAtEnd({ goal: 10_000, scale: 1, ...given })).toBe(missing);
});

test.each([
  ['even at the upper end less than its least', { expected: 300, most: 480 }, 200],
  ['its least at the upper end', { expected: 300, most: 500 }, undefined],
  ['a few units less, which is chance', { expected: 480, most: 490 }, undefined],
  ['no less than simulated units of 100 can tell', { expected: 300, most: 480, scale: 100 }, undefined],
])('a day that is expected to have %s', (_name, given, missing) => {
  expect(missingOfDay({ wanted: 500, scale: 1, ...given })).toBe(missing);
});

test.each([
  ['30 % in a podcast without empty slots before: usual', [1_000, 300], [4_000, 0], undefined],
  ['31 %, and 20 % before', [1_000, 310], [4_000, 800], { percent: 31, usualPercent: 20 }],
  ['31 %, and 21 % before: usual', [1_000, 310], [4_000, 840], undefined],
  ['all of 99 slots: too few', [99, 99], [4_000, 0], undefined],
  ['all, and too few before', [1_000, 1_000], [99, 0], undefined],
] as const)('a week in which %s', (_name, [opportunities, unfilled], [before, unfilledBefore], expected) => {
  expect(unusuallyUnfilled({ opportunities, unfilled }, { opportunities: before, unfilled: unfilledBefore })).toEqual(
    expected,
  );
});
