import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { maxFileBytes, readCounts } from './read-counts.ts';

const columns = { line_item: 'Line', creative: 'Ad', day: 'Date', units: 'Count' };
const read = (text: string | Uint8Array) => readCounts(typeof text === 'string' ? Buffer.from(text) : text, columns);
const header = 'Date,Line,Ad,Count,Note\n';
const findingsOf = async (text: string | Uint8Array) => {
  const outcome = await read(text);
  return 'findings' in outcome ? outcome.findings.map(({ line, code }) => [line, code]) : outcome.rows;
};

test('columns are found by their names, whatever stands between the cells, with a byte order mark, CRLF, quotes and commas in numbers', async () => {
  const row = { line: 2, lineItem: 'L 1', creative: 'a"b', day: '2026-10-01', units: 1_234_567 };
  for (const text of [
    `\ufeff${header.replace('\n', '\r\n')}2026-10-01,"L 1","a""b","1,234,567",=1+1\r\n`,
    'Count;Note;Line;Ad;Date\n1234567;"two\nlines";L 1;"a""b";2026-10-01',
    'Line\tAd\tDate\tCount\n L 1 \t"a""b"\t2026-10-01\t1,234,567\n\n',
  ])
    expect(await read(text)).toEqual({ rows: [row] });
});

test.each([
  ['a header without a column', 'Date,Line,Count\n2026-10-01,x,1\n', [[1, 'missing_column']]],
  ['a column twice', 'Date,Line,Ad,Count,Count\n2026-10-01,x,a,1,2\n', [[1, 'duplicate_column']]],
  [
    'too few and too many cells',
    `${header}2026-10-01,x,a\n2026-10-01,x,a,1,n,m\n`,
    [
      [2, 'wrong_columns'],
      [3, 'wrong_columns'],
    ],
  ],
  [
    'formulas in ids',
    `${header}2026-10-01,=HYPERLINK(1),a,1,n\n2026-10-01,x,@a,1,n\n`,
    [
      [2, 'formula'],
      [3, 'formula'],
    ],
  ],
  ['a quote that never ends', `${header}2026-10-01,x,a,1,n\n2026-10-01,"x,a,1,n\n`, [[3, 'broken_quotes']]],
  [
    'quotes inside of cells',
    `${header}2026-10-01,x"y,a,1,n\n2026-10-01,x,a,"12"3,n\n`,
    [
      [2, 'broken_quotes'],
      [3, 'broken_quotes'],
    ],
  ],
  [
    'no whole numbers',
    `${header}2026-10-01,x,a,-5,n\n2026-10-01,x,a,1.5,n\n2026-10-01,x,a,"1,23",n\n2026-10-01,x,a,1e3,n\n2026-10-01,x,a,9999999999999,n\n`,
    [2, 3, 4, 5, 6].map((line) => [line, 'not_a_count']),
  ],
  [
    'no dates',
    `${header}01.10.2026,x,a,1,n\n2026-02-30,x,a,1,n\n`,
    [
      [2, 'not_a_date'],
      [3, 'not_a_date'],
    ],
  ],
  ['a line of totals', `${header}2026-10-01,,a,1,n\n`, [[2, 'empty_id']]],
  ['control characters', `${header}2026-10-01,x\u0000,a,1,n\n`, [[2, 'control_character']]],
  ['nothing', '', [[1, 'empty_file']]],
])('a file with %s is refused with the line', async (_what, text, found) =>
  expect(await findingsOf(text)).toEqual(found),
);

test('a row without a serving is found by its other columns; where there are none, it is no row', async () => {
  const text = 'Serving,Line,Count\nsrv_1,x,1\n,y,2\n';
  expect(await readCounts(Buffer.from(text), { serving: 'Serving', line_item: 'Line', units: 'Count' })).toEqual({
    rows: [
      { line: 2, serving: 'srv_1', lineItem: 'x', units: 1 },
      { line: 3, lineItem: 'y', units: 2 },
    ],
  });
  expect(await readCounts(Buffer.from(text), { serving: 'Serving', units: 'Count' })).toMatchObject({
    findings: [{ line: 3, code: 'empty_id' }],
  });
});

test('what is no UTF-8 is refused with its line: Latin-1, UTF-16, half a character', async () => {
  const latin1 = Buffer.from(`${header}2026-10-01,Käse,a,1,n\n`, 'latin1');
  expect(await findingsOf(latin1)).toEqual([[2, 'not_utf8']]);
  expect((await findingsOf(Buffer.from(`\ufeff${header}`, 'utf16le')))[0]).toEqual([1, 'not_utf8']);
  expect(await findingsOf(Buffer.concat([Buffer.from(`${header}x,`), Buffer.from([0xe2, 0x82])]))).toEqual([
    [2, 'not_utf8'],
  ]);
});

test('size, rows, columns and lengths are bounded, and so are the findings', async () => {
  expect(await findingsOf(new Uint8Array(maxFileBytes + 1))).toEqual([[undefined, 'file_too_large']]);
  expect(await findingsOf(`${header}${'2026-10-01,x,a,1,n\n'.repeat(200_001)}`)).toEqual([[200_002, 'too_many_rows']]);
  expect(await findingsOf(`${header.trim()}${',x'.repeat(200)}\n`)).toEqual([[1, 'too_many_columns']]);
  expect(await findingsOf(`${header}2026-10-01,${'x'.repeat(256)},a,1,n\n`)).toEqual([[2, 'id_too_long']]);
  expect(await findingsOf(`${header}2026-10-01,${'x'.repeat(70_000)},a,1,n\n`)).toEqual([[2, 'line_too_long']]);
  expect(await findingsOf(`${header}${'2026-10-01,x,a,?,n\n'.repeat(5_000)}`)).toHaveLength(100);
});

test('no bytes make it throw, and findings never repeat the file', async () => {
  const secret = 'XYZZY';
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.boolean(), async (bytes, isBehind) => {
      const outcome = await read(isBehind ? Buffer.concat([Buffer.from(`${header}${secret},`), bytes]) : bytes);
      if ('findings' in outcome) expect(JSON.stringify(outcome.findings)).not.toContain(secret);
    }),
  );
});
