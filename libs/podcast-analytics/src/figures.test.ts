import { expect, test } from '@jest/globals';
import { changeSince, shareOf, withShares } from './figures.ts';

test('shares are parts of the whole; parts of zero are zero', () => {
  expect(withShares([{ downloads: 2 }, { downloads: 1 }])).toEqual([
    { downloads: 2, share: 0.666667 },
    { downloads: 1, share: 0.333333 },
  ]);
  expect(shareOf(0, 0)).toBe(0);
});

test('change is relative to the earlier count and unknown without one', () => {
  expect(changeSince(200, 250)).toBe(0.25);
  expect(changeSince(3, 2)).toBe(-0.3333);
  expect(changeSince(5, 0)).toBe(-1);
  expect(changeSince(0, 7)).toBeNull();
  expect(changeSince(undefined, 7)).toBeNull();
});
