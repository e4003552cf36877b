import { expect, test } from '@jest/globals';
import { judgeAchievements } from './achievements.ts';
import thresholds from './achievements.json' with { type: 'json' };

test('a milestone is reached with its last download, and the next one is named', () => {
  expect(judgeAchievements([10, 100], 9)).toEqual({
    value: 9,
    next: { threshold: 10, remaining: 1 },
    objects: [
      { threshold: 10, reached: false },
      { threshold: 100, reached: false },
    ],
  });
  expect(judgeAchievements([10, 100], 10).next).toEqual({ threshold: 100, remaining: 90 });
  expect(judgeAchievements([10, 100], 100)).toMatchObject({
    next: null,
    objects: [{ reached: true }, { reached: true }],
  });
});

test('the milestones of every kind go up', () => {
  for (const kind of ['downloads', 'episodes', 'countries'] as const)
    expect(thresholds[kind].toSorted((a, b) => a - b)).toEqual(thresholds[kind]);
});
