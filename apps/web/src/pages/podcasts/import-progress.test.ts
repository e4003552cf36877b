import { expect, test } from '@jest/globals';
import { progressOf } from './import-progress.ts';

const moved = {
  ...({
    feed_url: 'https://host.example/feed.xml',
    state: 'completed',
    publish: false,
    total: 60,
    created: 60,
  } as const),
  ...{ encoded: 40, published: 0, scheduled: 0, failed: 1, changed: [], lost: [], channel: { changed: [], lost: [] } },
};

test('an import is under way until every item is encoded or has failed', () => {
  expect(progressOf(moved)).toEqual({ done: 41, total: 60, isUnderway: true, drafts: 40 });
  expect(progressOf({ ...moved, encoded: 59 })).toMatchObject({ done: 60, isUnderway: false });
  expect(progressOf({ ...moved, state: 'running', total: 0, encoded: 0, failed: 0 })).toMatchObject({
    isUnderway: true,
  });
});

test('an import that failed as a whole goes on no more', () => {
  expect(progressOf({ ...moved, state: 'failed', encoded: 3 })).toMatchObject({ isUnderway: false });
});

test('what is published or scheduled is no draft', () => {
  expect(progressOf({ ...moved, encoded: 59, published: 57, scheduled: 2 }).drafts).toBe(0);
});
