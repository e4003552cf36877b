import { expect, test } from '@jest/globals';
import { missingToPublish } from './missing-to-publish.ts';

const open = (...given: Parameters<typeof missingToPublish>) =>
  missingToPublish(...given).flatMap(({ point, isDone }) => (isDone ? [] : [point]));

test('a draft whose file is on its way lacks the file and the encoding, whatever was encoded before', () => {
  expect(open({ title: 'A' }, undefined, { phase: 'sending' })).toEqual(['notes', 'file', 'encoded']);
  expect(open({ title: 'A', description: 'N' }, { state: 'encoded' }, { phase: 'sending' })).toEqual([
    'file',
    'encoded',
  ]);
});

test('a draft lacks less and less', () => {
  const notes = { title: 'A', description: 'N' };
  expect(open(notes, undefined, undefined)).toEqual(['file', 'encoded']);
  expect(open(notes, undefined, { phase: 'sent' })).toEqual(['encoded']);
  expect(open(notes, { state: 'encoding' }, undefined)).toEqual(['encoded']);
  expect(open(notes, { state: 'encoded' }, undefined)).toEqual([]);
  expect(open({ title: ' ' }, { state: 'encoded' }, undefined)).toEqual(['title', 'notes']);
});
