import { expect, test } from '@jest/globals';
import { whyNoNumbers } from './why-no-numbers.ts';

const title = (...of: Parameters<typeof whyNoNumbers>) => whyNoNumbers(...of)?.title;

test.each([
  ['draft', 'analytics.not_published'],
  ['published', undefined],
  ['unpublished', 'analytics.podcast_offline'],
  ['archived', 'analytics.podcast_archived'],
] as const)('a podcast that is %s says why it has no numbers: %s', (state, why) => {
  expect(title({ analytics: 'available', state }, 'published')).toBe(why);
});

test.each([
  ['scheduled', 'analytics.episode_not_published'],
  ['unpublished', 'analytics.episode_offline'],
  ['archived', 'analytics.episode_archived'],
] as const)('an episode that is %s says why it has no numbers: %s', (state, why) => {
  expect(title({ analytics: 'available', state: 'published' }, state)).toBe(why);
});

test('what the person may not see is said before what state it is in', () => {
  expect(title({ analytics: 'not_permitted', state: 'archived' })).toBe('analytics.not_permitted');
  expect(title({ analytics: 'not_in_plan', state: 'draft' })).toBe('analytics.not_in_plan');
});
