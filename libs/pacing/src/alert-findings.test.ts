import { expect, test } from '@jest/globals';
import { missingAtEnd, unusuallyUnfilled } from './alert-findings.ts';

test.each([
  ['the middle 98 % of the goal and the lower end 90 %: not at risk', { p50: 980, p10: 900 }, undefined],
  ['less in the middle', { p50: 979, p10: 900 }, 21],
  ['less at the lower end alone', { p50: 1_000, p10: 899 }, 101],
  ['nothing at all', { p50: 0, p10: 0 }, 1_000],
])('a line item with %s', (_name, given, missing) => {
  expect(missingAtEnd({ goal: 1_000, ...given })).toBe(missing);
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
