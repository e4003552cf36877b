import { expect, test } from '@jest/globals';
import { chaptersOf, rowFault, rowOf, rowText, stretchesOfRows, textsOfChapters } from './chapters.ts';

const durationMs = 600_000;
const chapters = [
  { start_ms: 0, title: 'Hello', toc: false },
  { start_ms: 61_234, title: 'Fog, 1911', end_ms: 90_000, url: 'https://harbour.example/fog' },
  { start_ms: 300_500, title: 'Thanks', image_url: 'https://harbour.example/a.png' },
];
const texts = textsOfChapters(chapters);
const change = (at: number, changes: object) =>
  texts.map((text, place) => (place === at ? rowText({ ...rowOf(text), ...changes }) : text));

test('chapters come back as they were, with what the page does not show, to the millisecond', () => {
  expect(texts.map((text) => rowOf(text).start)).toEqual(['0:00.0', '1:01.234', '5:00.5']);
  expect(chaptersOf(texts)).toEqual(chapters);
});

test('they are saved in the order of their starts, and an end before its start goes', () => {
  expect(chaptersOf(change(1, { start: '7:00' })).map(({ title, end_ms }) => [title, end_ms])).toEqual([
    ['Hello', undefined],
    ['Thanks', undefined],
    ['Fog, 1911', undefined],
  ]);
});

test.each([
  ['soon', 'Hello', '', 'audio.chapter_time'],
  ['10:00', 'Hello', '', 'audio.chapter_outside'],
  ['5:00,5', 'Hello', '', 'audio.chapter_twice'],
  ['0:30', ' ', '', 'audio.chapter_title_missing'],
  ['0:30', 'Hello', 'javascript:alert(1)', 'audio.chapter_address'],
  ['0:30', 'Hello', 'https://harbour.example', undefined],
])('a row with start %s, title %s and address %s: %s', (start, title, url, fault) => {
  const rows = change(0, { start, title, url }).map(rowOf);
  expect(rowFault(rows[0]!, rows, durationMs)).toBe(fault);
});

test('while a start is typed the others are drawn', () => {
  expect(stretchesOfRows(change(1, { start: '1:' }), durationMs)).toEqual([
    { title: 'Hello', startMs: 0, endMs: 300_500 },
    { title: 'Thanks', startMs: 300_500, endMs: durationMs },
  ]);
});
