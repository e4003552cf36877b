import { expect, test } from '@jest/globals';
import { toCsv } from './csv.ts';

test('commas, quotes and lines stay in their cell, numbers have no separators, nothing is empty', () => {
  expect(
    toCsv(
      ['Title', 'Downloads'],
      [
        ['Salt, "rope", radio\nand fog', 12_480],
        ['A', undefined],
      ],
    ),
  ).toBe('Title,Downloads\r\n"Salt, ""rope"", radio\nand fog",12480\r\nA,\r\n');
});

test.each(['=1+1', '+1', '-1', '@sum', '\tx'])('%j is a text, no formula of a spreadsheet', (text) => {
  expect(toCsv([], [[text]])).toBe(`\r\n'${text}\r\n`);
});

test('a number below 0 stays a number', () => expect(toCsv(['n'], [[-0.08]])).toBe('n\r\n-0.08\r\n'));
