import { expect, test } from '@jest/globals';
import { mapCategory, parseExplicit, parseFeedDate } from './feed-values.ts';

test.each([
  ['Mon, 01 Jun 2020 06:00:00 GMT', '2020-06-01T06:00:00.000Z'],
  ['1 Jun 2020 06:00 EST', '2020-06-01T11:00:00.000Z'],
  ['Monday, 1 June 2020 06:00:00 -0730', '2020-06-01T13:30:00.000Z'],
  ['Mon, 01 Jun 99 06:00:00 +0000', '1999-06-01T06:00:00.000Z'],
  ['01-Jun-2020', '2020-06-01T00:00:00.000Z'],
  ['2020-06-01', '2020-06-01T00:00:00.000Z'],
  ['2020-06-01 06:00:00', '2020-06-01T06:00:00.000Z'],
  ['2020-06-01T06:00:00+02:00', '2020-06-01T04:00:00.000Z'],
])('the date %s is %s', (text, expected) => {
  expect(parseFeedDate(text)?.toISOString()).toBe(expected);
});

test.each(['yesterday', '2 days ago', 'June 2020', '32 Jun 2020', '1 Foo 2020', '', '2020-13-01', undefined])(
  '%s is no date',
  (text) => {
    expect(parseFeedDate(text)).toBeUndefined();
  },
);

test('explicit is read in all its historic forms', () => {
  expect(['yes', 'True', 'explicit'].map(parseExplicit)).toEqual([true, true, true]);
  expect(['no', 'false', 'Clean'].map(parseExplicit)).toEqual([false, false, false]);
  expect(['maybe', '', undefined].map(parseExplicit)).toEqual([undefined, undefined, undefined]);
});

test('a category is Apple’s, or the parent when the subcategory is not, or nothing', () => {
  expect(mapCategory('TV &  film', 'after shows')).toBe('TV & Film > After Shows');
  expect(mapCategory('Science', 'Alchemy')).toBe('Science');
  expect(mapCategory('Gossip', 'Stars')).toBeUndefined();
});
