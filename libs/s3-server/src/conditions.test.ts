import { expect, test } from '@jest/globals';
import { isNotModified, selectRange } from './conditions.ts';

const meta = { sizeBytes: 100, etag: 'abc', modifiedAtMs: Date.parse('2026-01-02T03:04:05.678Z'), headers: {} };
const modifiedAt = 'Fri, 02 Jan 2026 03:04:05 GMT';
const earlier = 'Fri, 02 Jan 2026 03:04:04 GMT';

test.each([
  ['bytes=0-9', { from: 0, to: 10 }],
  ['bytes=90-', { from: 90, to: 100 }],
  ['bytes=90-1000', { from: 90, to: 100 }],
  ['bytes=-1', { from: 99, to: 100 }],
  ['bytes=-1000', { from: 0, to: 100 }],
  ['bytes=9-0', undefined],
  ['bytes=0-1,3-4', undefined],
  ['bytes=-', undefined],
  ['items=0-9', undefined],
])('of 100 bytes %s selects %j', (range, interval) => {
  expect(selectRange({ range }, meta)).toEqual(interval);
});

test.each(['bytes=100-', 'bytes=100-200', 'bytes=-0'])('of 100 bytes %s selects nothing and is 416', (range) => {
  expect(() => selectRange({ range }, meta)).toThrow(expect.objectContaining({ status: 416 }));
});

test('every range of an empty object is 416', () => {
  for (const range of ['bytes=0-0', 'bytes=-1'])
    expect(() => selectRange({ range }, { ...meta, sizeBytes: 0 })).toThrow(expect.objectContaining({ status: 416 }));
});

test('If-Range with the tag of another version selects the whole object', () => {
  expect(selectRange({ range: 'bytes=0-9', 'if-range': '"abc"' }, meta)).toEqual({ from: 0, to: 10 });
  expect(selectRange({ range: 'bytes=0-9', 'if-range': '"other"' }, meta)).toBeUndefined();
});

test.each([
  [{}, false],
  [{ 'if-none-match': '"abc"' }, true],
  [{ 'if-none-match': '"x", W/"abc"' }, true],
  [{ 'if-none-match': '*' }, true],
  [{ 'if-none-match': '"x"', 'if-modified-since': modifiedAt }, false],
  [{ 'if-modified-since': modifiedAt }, true],
  [{ 'if-modified-since': earlier }, false],
  [{ 'if-modified-since': 'no date' }, false],
  [{ 'if-match': '"abc"', 'if-unmodified-since': earlier }, false],
  [{ 'if-unmodified-since': modifiedAt }, false],
])('with %j the client has the current version: %j', (headers, current) => {
  expect(isNotModified(headers, meta)).toBe(current);
});

test.each([[{ 'if-match': '"x"' }], [{ 'if-unmodified-since': earlier }]])('%j fails with 412', (headers) => {
  expect(() => isNotModified(headers, meta)).toThrow(expect.objectContaining({ status: 412 }));
});
