import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { changedSearch, nextSort, pageOf, parseSort, parseTableSearch, sortRows, sortText } from './table-rows.ts';

const rows = [
  { id: 1, title: 'Episode 10', downloads: 5 },
  { id: 2, title: 'episode 9', downloads: null },
  { id: 3, title: 'Äther', downloads: 70 },
  { id: 4, title: 'Zebra', downloads: 5 },
];
const ids = (sorted: readonly { readonly id: number }[]) => sorted.map(({ id }) => id);

test('texts are ordered as the language is read: numbers by their value, accents beside their letter, without case', () => {
  expect(ids(sortRows(rows, ({ title }) => title, false, 'de'))).toEqual([3, 2, 1, 4]);
});

test('empty cells come last in both orders, and equal rows keep theirs', () => {
  expect(ids(sortRows(rows, ({ downloads }) => downloads, true, 'en'))).toEqual([3, 1, 4, 2]);
  expect(ids(sortRows(rows, ({ downloads }) => downloads, false, 'en'))).toEqual([1, 4, 3, 2]);
});

test('sorting keeps every row', () => {
  const cells = fc.array(fc.option(fc.oneof(fc.integer(), fc.string()), { nil: undefined }));
  fc.assert(
    fc.property(cells, fc.boolean(), (values, descending) => {
      const sorted = sortRows(
        values.map((value, id) => ({ id, value })),
        ({ value }) => value,
        descending,
        'en',
      );
      expect(ids(sorted).toSorted((a, b) => a - b)).toEqual(values.map((_, id) => id));
    }),
  );
});

test('the pages of a table have every row once, in order', () => {
  fc.assert(
    fc.property(fc.nat({ max: 120 }), fc.integer({ min: 1, max: 50 }), (count, size) => {
      const all = Array.from({ length: count }, (_, place) => place);
      const { pages } = pageOf(all, 1, size);
      const shown = Array.from({ length: pages }, (_, page) => pageOf(all, page + 1, size).rows);
      expect(shown.flat()).toEqual(all);
    }),
  );
});

test('a page that is no longer there is the last one, and no page is the first', () => {
  expect(pageOf([1, 2, 3], 9, 2)).toMatchObject({ rows: [3], page: 2, from: 3, to: 3 });
  expect(pageOf([], Number.NaN, 2)).toMatchObject({ rows: [], page: 1, pages: 1, from: 0, to: 0 });
});

test('the order of an address is read back as it was written, and an unknown column has none', () => {
  for (const sort of [
    { key: 'title', descending: false },
    { key: 'date', descending: true },
  ])
    expect(parseSort(sortText(sort), ['title', 'date'])).toEqual(sort);
  expect(parseSort('-secret', ['title'])).toBeUndefined();
  expect(parseSort(undefined, ['title'])).toBeUndefined();
});

test('a column that is pressed again turns round; another one begins as it wishes', () => {
  const first = nextSort(undefined, 'downloads', true);
  expect(first).toEqual({ key: 'downloads', descending: true });
  expect(nextSort(first, 'downloads', true).descending).toBe(false);
  expect(nextSort(first, 'title', false)).toEqual({ key: 'title', descending: false });
});

test('a changed search leaves the rest of the address alone, and empty values out', () => {
  const former = { q: 'salt', sort: '-date', page: 3 };
  expect(changedSearch(former, { q: '', page: 1 })).toEqual({ sort: '-date' });
  expect(changedSearch(former, { state: 'draft' })).toEqual({ ...former, state: 'draft' });
});

test('an address with anything in it opens a table', () => {
  expect(parseTableSearch({ q: 1984, sort: '-date', page: '3', state: '', other: 'x' })).toEqual({
    q: '1984',
    sort: '-date',
    page: 3,
  });
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('q', 'state', 'sort', 'page'), fc.anything()), (search) => {
      const { page = 2 } = parseTableSearch(search);
      expect(page).toBeGreaterThan(1);
    }),
  );
});
