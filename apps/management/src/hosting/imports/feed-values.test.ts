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
  ['Wed, 21 Oct 2015 07:28:00 GMT+0000', '2015-10-21T07:28:00.000Z'],
  ['Wed, 21 Oct 2015 07:28:00 UTC-03:30', '2015-10-21T10:58:00.000Z'],
  ['Wed, 21 Oct 2015 07:28:00 +0000 (UTC)', '2015-10-21T07:28:00.000Z'],
  ['Wed, 21 Oct 2015 (a Wednesday) 07:28:00 -0500 (Eastern (US))', '2015-10-21T12:28:00.000Z'],
  ['Wed, 21 Oct 2015 7:28:00 PM EST', '2015-10-22T00:28:00.000Z'],
  ['Wed, 21 Oct 2015 7:28:00 PM', '2015-10-21T19:28:00.000Z'],
  ['Wed Oct 21 07:28:00 2015', '2015-10-21T07:28:00.000Z'],
  ['Wed Oct 21 07:28:00 EDT 2015', '2015-10-21T11:28:00.000Z'],
  ['Wed Oct 21 2015 07:28:00 GMT+0200 (Central European Summer Time)', '2015-10-21T05:28:00.000Z'],
  ['October 21, 2015 07:28', '2015-10-21T07:28:00.000Z'],
])('the date %s is %s', (text, expected) => {
  expect(parseFeedDate(text)?.toISOString()).toBe(expected);
});

test.each([
  'yesterday',
  '2 days ago',
  'June 2020',
  '32 Jun 2020',
  '1 Foo 2020',
  '32 Jun 2020 7:28 PM',
  'Episode 2020 at 07:28',
  '10/11/2020 07:28',
  '(',
  '('.repeat(1_000_000),
  '',
  '2020-13-01',
  undefined,
])('%.40s is no date', (text) => {
  expect(parseFeedDate(text)).toBeUndefined();
});

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
