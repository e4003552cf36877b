import { expect, test } from '@jest/globals';
import { chapters as chaptersOfCatalog } from '@longwave/command-catalog';
import fc from 'fast-check';
import { listChapters } from './list-chapters.ts';

test('chapters are sorted, cut to the audio, one to a time, and end where a pause follows', () => {
  const found = [
    { startSeconds: 30, endSeconds: 40, title: 'c' },
    { startSeconds: -1, endSeconds: 10, title: 'a' },
    { startSeconds: 10, endSeconds: 10, title: 'empty' },
    { startSeconds: 10, endSeconds: 20.5, title: 'b' },
    { startSeconds: 60, endSeconds: 70, title: 'after the end' },
  ];
  expect(listChapters(found, 60_000)).toEqual([
    { start_ms: 0, title: 'a' },
    { start_ms: 10_000, title: 'b', end_ms: 20_500 },
    { start_ms: 30_000, title: 'c', end_ms: 40_000 },
  ]);
  expect(listChapters([{ startSeconds: 30, endSeconds: 90, title: 'c' }], 60_000)).toEqual([
    { start_ms: 30_000, title: 'c' },
  ]);
});

test('titles are one line of clean text; one without a title is named by its number', () => {
  const titles = ['a\r\n\tb\0c ', '\u202Edesrever', ' \n', '👩‍👩‍👧'.repeat(60), 'x'.repeat(255), '\uD800 half'];
  const found = titles.map((title, index) => ({ startSeconds: index, endSeconds: Number.NaN, title }));
  expect(listChapters(found, 60_000).map(({ title }) => title)).toEqual([
    'a b c',
    'desrever',
    'Chapter 3',
    `${'👩‍👩‍👧'.repeat(31)}…`,
    'x'.repeat(255),
    '\uFFFD half',
  ]);
});

test('whatever a file states, the catalog accepts the list', () => {
  const chapter = fc.record({
    startSeconds: fc.double({ noDefaultInfinity: true, noNaN: true }),
    endSeconds: fc.double(),
    title: fc.string({ unit: 'binary', maxLength: 400 }),
  });
  fc.assert(
    fc.property(fc.array(chapter, { maxLength: 30 }), fc.integer({ min: 1, max: 1e8 }), (found, durationMs) => {
      const listed = listChapters(found, durationMs);
      expect(chaptersOfCatalog.parse(listed)).toEqual(listed);
    }),
  );
  const many = Array.from({ length: 1500 }, (_, i) => ({ startSeconds: i, endSeconds: i + 1, title: 'x' }));
  expect(listChapters(many, 1e9)).toHaveLength(1000);
});
