import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createRowReader, findDelimiter, type CsvRow } from '../src/index.ts';

function rowsOf(text: string, delimiter = ',', options?: { readonly strict?: boolean }): readonly CsvRow[] {
  const rows: CsvRow[] = [];
  const reader = createRowReader(delimiter, (row) => rows.push(row), options);
  for (const [at, line] of text.split('\n').entries()) reader.feed(line, at + 1);
  reader.end();
  return rows;
}

const cellsOf = (rows: readonly CsvRow[]) => rows.map((row) => ('cells' in row ? row.cells : row.problem));

/** A cell as RFC 4180 writes it. */
const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;

test.each([{ strict: true }, { strict: false }])(
  'any cells that are quoted as in RFC 4180 are read as they were, with delimiters, quotes and line ends inside, %j',
  (options) => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'é', ',', '"', '\n', ' ', '='), maxLength: 12 });
    const table = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(table, (rows) => {
        const text = rows.map((cells) => cells.map(quoted).join(',')).join('\n');
        expect(cellsOf(rowsOf(text, ',', options))).toEqual(rows);
      }),
    );
  },
);

test('a row has the number of its first line, and empty lines between rows are none', () => {
  expect(rowsOf('a,b\n\n"c\nd",e\nf,g')).toEqual([
    { line: 1, cells: ['a', 'b'] },
    { line: 3, cells: ['c\nd', 'e'] },
    { line: 5, cells: ['f', 'g'] },
  ]);
});

test('a quote at a place where RFC 4180 has none stands for itself, and is refused by a strict reader', () => {
  expect(cellsOf(rowsOf('5" disc,x\n"a"b,c'))).toEqual([
    ['5" disc', 'x'],
    ['ab', 'c'],
  ]);
  expect(cellsOf(rowsOf('5" disc,x\n"a"b,c\nd,e', ',', { strict: true }))).toEqual([
    'a quote inside a cell',
    'a quote inside a cell',
    ['d', 'e'],
  ]);
});

test('a quote that does not end spoils its own line alone', () => {
  const rows = rowsOf(['"open,1', ...Array.from({ length: 60 }, (_, at) => `row ${at},2`)].join('\n'));
  expect(rows[0]).toEqual({ line: 1, problem: 'a quote that does not end' });
  expect(rows.slice(1).map((row) => 'cells' in row)).toEqual(Array(60).fill(true));
});

test.each([',', ';', '\t', '|'])('a header that is divided by %j says so', (delimiter) =>
  expect(findDelimiter(['day', 'line item', 'impressions'].join(delimiter))).toBe(delimiter),
);
