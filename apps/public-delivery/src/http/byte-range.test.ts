import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readRange } from './byte-range.ts';

const length = 1000;
const single = (from: number, to: number) => ({ kind: 'single', interval: { from, to } });

test.each([
  ['bytes=0-499', single(0, 500)],
  ['bytes=500-', single(500, 1000)],
  ['bytes=-300', single(700, 1000)],
  ['bytes=-5000', single(0, 1000)],
  ['bytes=0-0', single(0, 1)],
  ['bytes=999-', single(999, 1000)],
  ['bytes=0-99999999999999999999999', single(0, 1000)],
  ['BYTES= 1-2 ', single(1, 3)],
  [
    'bytes=0-1, 5-6',
    {
      kind: 'several',
      intervals: [
        { from: 0, to: 2 },
        { from: 5, to: 7 },
      ],
    },
  ],
  ['bytes=0-1,2000-', { kind: 'several', intervals: [{ from: 0, to: 2 }] }],
  ['bytes=1000-', { kind: 'unsatisfiable' }],
  ['bytes=-0', { kind: 'unsatisfiable' }],
  ['bytes=1000-1001,-0', { kind: 'unsatisfiable' }],
  ['bytes=99999999999999999999999-', { kind: 'unsatisfiable' }],
])('%s is read as RFC 9110 §14 says', (header, expected) => {
  expect(readRange(header, length)).toEqual(expected);
});

test.each([
  undefined,
  '',
  'bytes',
  'bytes=',
  'bytes=a-b',
  'bytes=5-2',
  'bytes=-',
  'bytes=1-2,x',
  'seconds=1-2',
  'bytes=0x1-2',
  'bytes=1.5-2',
  `bytes=${'0-1,'.repeat(100)}`,
])('%p asks for the whole file', (header) => {
  expect(readRange(header, length)).toEqual({ kind: 'whole' });
});

test('a single range never leaves the file and is never empty, whatever the header', () => {
  const header = fc.oneof(
    fc.tuple(fc.nat(3000), fc.nat(3000)).map(([a, b]) => `bytes=${a}-${b}`),
    fc.nat(3000).map((a) => `bytes=${a}-`),
    fc.nat(3000).map((a) => `bytes=-${a}`),
    fc.string(),
  );
  fc.assert(
    fc.property(header, fc.nat(2000), (text, size) => {
      const read = readRange(text, size);
      if (read.kind !== 'single') return;
      expect(read.interval.from).toBeGreaterThanOrEqual(0);
      expect(read.interval.from).toBeLessThan(read.interval.to);
      expect(read.interval.to).toBeLessThanOrEqual(size);
    }),
  );
});
