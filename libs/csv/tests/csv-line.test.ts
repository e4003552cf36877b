import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { csvLine, isFormula } from '../src/index.ts';

test('fields with commas, quotes or line ends are quoted, and quotes are doubled', () => {
  expect(csvLine(['plain', 'a,b', 'say "hi"', 'two\nlines', 7])).toBe('plain,"a,b","say ""hi""","two\nlines",7\r\n');
});

test.each(['=1+1', '+49', '-3', '@SUM(A1)', '＝1+1', '＋49', '－3', '＠SUM(A1)', '﹦1+1', ' =1+1'])(
  '%j is no formula for a spreadsheet',
  (text) => {
    expect(csvLine([text])).toBe(`'${text}\r\n`);
    expect(isFormula(text)).toBe(true);
  },
);

test('no part of a text is a formula for a spreadsheet that separates cells by semicolons or tabs', () => {
  expect(csvLine(['\tx'])).toBe(`"'\tx"\r\n`);
  expect(csvLine(['Spring', 'a;=1+1'])).toBe(`Spring,"a;'=1+1"\r\n`);
  const text = fc.string({
    unit: fc.constantFrom('a', ' ', '"', "'", ',', ';', '\t', '\n', '=', '-', '＝', '@'),
    maxLength: 12,
  });
  fc.assert(
    fc.property(text, text, (one, two) => {
      for (const cell of csvLine([one, two]).split(/[;\t\r\n]/)) expect(cell).not.toMatch(/^[\s"]*[=+\-@＝＋－＠]/);
    }),
  );
});

test('a negative number stays a number', () => {
  expect(csvLine([-3])).toBe('-3\r\n');
});
