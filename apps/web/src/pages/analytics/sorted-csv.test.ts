import { expect, test } from '@jest/globals';
import { sortedCsv } from './sorted-csv.ts';

const rows = [
  { title: 'Fog', downloads: 3 },
  { title: 'Brass', downloads: 9 },
];
const columns = [
  { key: 'title', sortBy: ({ title }: { readonly title: string }) => title },
  { key: 'downloads', sortBy: ({ downloads }: { readonly downloads: number }) => downloads },
  { key: 'course' },
];
const file = [
  { name: 'Podcast', cell: ({ title }: { readonly title: string }) => title },
  { name: 'Time zone', cell: () => 'UTC' },
];
const titlesBy = (sort: string | undefined) =>
  sortedCsv(rows, columns, sort, { key: 'downloads', descending: true }, 'en', file);

test('a file has the rows in the order of the table, with the zone of their days', () => {
  expect(titlesBy('-title')).toBe('Podcast,Time zone\r\nFog,UTC\r\nBrass,UTC\r\n');
});

test.each([undefined, 'course', 'else'])('sorted by %s, it is as at first', (sort) => {
  expect(titlesBy(sort)).toBe('Podcast,Time zone\r\nBrass,UTC\r\nFog,UTC\r\n');
});
