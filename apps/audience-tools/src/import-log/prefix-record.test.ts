import { describe, expect, test } from '@jest/globals';
import { tryParseRecord } from './prefix-record.ts';

const whole = { time: '2025-11-02T10:00:00Z', url: '/a.mp3', ip: '192.0.2.1', user_agent: 'NovelPlayer/0.1' };

describe('a time is understood', () => {
  test.each([
    ['RFC 3339', '2025-11-02T10:00:00.250Z', '2025-11-02T10:00:00.250Z'],
    ['with an offset', '2025-11-02T10:00:00+02:00', '2025-11-02T08:00:00.000Z'],
    ['without a zone it is UTC', '2025-11-02 10:00:00', '2025-11-02T10:00:00.000Z'],
    ['with its zone in letters', '2025-11-02 10:00:00.5 UTC', '2025-11-02T10:00:00.500Z'],
    ['common log format', '[02/Nov/2025:10:00:00 -0700]', '2025-11-02T17:00:00.000Z'],
    ['seconds', '1762077600', '2025-11-02T10:00:00.000Z'],
    ['seconds as a number', 1762077600.25, '2025-11-02T10:00:00.250Z'],
    ['milliseconds', 1762077600250, '2025-11-02T10:00:00.250Z'],
    ['microseconds', 1762077600250999, '2025-11-02T10:00:00.250Z'],
  ])('%s', (_, time, expected) => {
    const record = tryParseRecord({ ...whole, time });
    expect(typeof record === 'object' && new Date(record.time).toISOString()).toBe(expected);
  });

  test.each([
    'yesterday',
    '2025-13-02T10:00:00Z',
    '1999-12-31T23:59:59Z',
    '10:00',
    '[02/Foo/2025:10:00:00 +0000]',
    -1,
    {},
  ])('or refused: %j', (time) => expect(tryParseRecord({ ...whole, time })).toBe('time: not a valid time'));
});

test('the problem of a malformed record names the field and never quotes the record', () => {
  expect(tryParseRecord({ ...whole, time: undefined })).toBe('time: missing');
  expect(tryParseRecord({ ...whole, ip: undefined })).toBe('ip: missing');
  expect(tryParseRecord({ ...whole, ip: '192.0.2.300' })).toBe('ip: not a valid address');
  expect(tryParseRecord({ ...whole, status: 'abc' })).toBe('status: not a valid status');
  expect(tryParseRecord({ ...whole, status: 99 })).toBe('status: not a valid status');
  expect(tryParseRecord({ ...whole, user_agent: 7 })).toBe('user_agent: not a text');
  expect(tryParseRecord({ ...whole, url: 'x'.repeat(9_000) })).toBe('url: too long');
});

test('a record needs neither method nor status, and may have a hash in place of the address', () => {
  expect(tryParseRecord({ ...whole, ip: undefined, ip_hash: 'abc' })).toMatchObject({ method: 'GET', ip_hash: 'abc' });
  expect(tryParseRecord({ ...whole, status: '302' })).toMatchObject({ status: 302 });
});
