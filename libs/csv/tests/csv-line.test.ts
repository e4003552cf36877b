import { expect, test } from '@jest/globals';
import { csvLine } from '../src/index.ts';

test('fields with commas, quotes or line ends are quoted, and quotes are doubled', () => {
  expect(csvLine(['plain', 'a,b', 'say "hi"', 'two\nlines', 7])).toBe('plain,"a,b","say ""hi""","two\nlines",7\r\n');
});

test.each(['=1+1', '+49', '-3', '@SUM(A1)', '\tx'])('%j is no formula for a spreadsheet', (text) => {
  expect(csvLine([text])).toBe(`'${text}\r\n`);
});

test('a negative number stays a number', () => {
  expect(csvLine([-3])).toBe('-3\r\n');
});
