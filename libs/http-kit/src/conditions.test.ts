import { expect, test } from '@jest/globals';
import { ifRangeHolds, evaluateConditions, ifNoneMatchNames, notModifiedSince, strongTagsOf } from './conditions.ts';

const modifiedAt = new Date('2026-11-21T09:00:00.500Z');
const [at, before, after] = ['09:00:00', '08:59:59', '09:00:01'].map((time) => `Sat, 21 Nov 2026 ${time} GMT`) as [
  string,
  string,
  string,
];

test.each([
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ['"b" , W/"a"', true],
  ['*', true],
  ['"ab"', false],
  ['a', false],
  ['"a,b"', false],
  [undefined, false],
])('If-None-Match: %p names "a": %p', (header, holds) => {
  expect(ifNoneMatchNames(header, '"a"')).toBe(holds);
});

test.each([
  [undefined, true],
  ['"a"', true],
  ['W/"a"', false],
  ['"b"', false],
  [at, true],
  [before, false],
  [after, false],
  ['nonsense', false],
])('If-Range %p lets the range of "a" of 09:00:00.500 be sent: %p', (header, holds) => {
  expect(ifRangeHolds(header, { etag: '"a"', modifiedAt })).toBe(holds);
});

test('If-Range with a date lets no range of a file without a date be sent', () => {
  expect(ifRangeHolds(at, { etag: '"a"', modifiedAt: undefined })).toBe(false);
});

test.each([
  [{}, 'holds'],
  [{ 'if-match': '"a"' }, 'holds'],
  [{ 'if-match': '"b", "a"' }, 'holds'],
  [{ 'if-match': '*' }, 'holds'],
  [{ 'if-match': '"b"' }, 'failed'],
  [{ 'if-match': 'W/"a"' }, 'failed'],
  [{ 'if-match': '' }, 'failed'],
  [{ 'if-match': '"a"', 'if-unmodified-since': before }, 'holds'],
  [{ 'if-match': '"a"', 'if-none-match': '"a"' }, 'not_modified'],
  [{ 'if-match': '"b"', 'if-none-match': '"a"' }, 'failed'],
  [{ 'if-unmodified-since': at }, 'holds'],
  [{ 'if-unmodified-since': before }, 'failed'],
  [{ 'if-unmodified-since': 'nonsense' }, 'holds'],
  [{ 'if-modified-since': at }, 'not_modified'],
  [{ 'if-modified-since': before }, 'holds'],
  [{ 'if-none-match': '"b"', 'if-modified-since': after }, 'holds'],
] as const)('of "a" of 09:00:00.500 with %p the condition is %s (RFC 9110 §13.2.2)', (headers, condition) => {
  expect(evaluateConditions(headers, { etag: '"a"', modifiedAt })).toBe(condition);
});

test.each(['if-unmodified-since', 'if-modified-since'])('%s has no effect on a file without a date', (name) => {
  expect(evaluateConditions({ [name]: before }, { etag: '"a"', modifiedAt: undefined })).toBe('holds');
  expect(evaluateConditions({ [name]: after }, { etag: '"a"', modifiedAt: undefined })).toBe('holds');
});

test.each([
  ['Sat, 21 Nov 2026 09:00:00 GMT', true],
  ['Sat, 21 Nov 2026 08:59:59 GMT', false],
  ['nonsense', false],
  [undefined, false],
])('a change at 09:00:00.500 is not newer than %p: %p', (header, fresh) => {
  expect(notModifiedSince(header, new Date('2026-11-21T09:00:00.500Z'))).toBe(fresh);
});

test('the strong tags of If-Match are read whole, also those with a comma, and weak ones are left out', () => {
  expect(strongTagsOf('"a", W/"b" , "c,d", e')).toEqual(['"a"', '"c,d"']);
});
