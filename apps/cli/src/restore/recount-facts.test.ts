import { expect, test } from '@jest/globals';
import { countDiffering } from './recount-facts.ts';

const downloads = (stored: number, recounted: number) => ({ section: 'podcasts', key: ['pod_1'], stored, recounted });
const facts = (judgement: string, stored: number, recounted: number) => ({
  ...{ section: 'facts', key: [judgement], stored, recounted },
});

test.each([
  ['no fact waits', [downloads(4, 5), facts('valid', 8, 8)], 1],
  ['a fact waits that a recount counts', [downloads(4, 5), facts('valid', 8, 9), facts('waiting', 1, 0)], 0],
  ['more differs than waits', [downloads(3, 5), facts('valid', 8, 9), facts('waiting', 1, 0)], 1],
])('numbers of a snapshot differ where %s', (_case, figures, differing) => {
  expect(countDiffering(figures)).toBe(differing);
});
