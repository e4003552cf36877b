import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { classifyPrefixRequest, mergePrefixMarks, type PrefixRequest } from './prefix-mode.ts';

const request = (changes: Partial<PrefixRequest>): PrefixRequest => ({
  method: 'GET',
  status: 302,
  range: undefined,
  userAgent: 'NovelPlayer/0.1',
  prefetch: false,
  preload: false,
  addressVerdict: 'ok',
  ...changes,
});

describe('how much a range asks for', () => {
  test.each([
    ['the whole file', undefined, 'eligible'],
    ['the two-byte probe, which is kept', 'bytes=0-1', 'first_two'],
    ['the same in two ranges', 'bytes=0-0,1-1', 'first_two'],
    ['the same twice', 'bytes=0-1, 0-1', 'first_two'],
    ['the first byte alone', 'bytes=0-0', 'probe'],
    ['two bytes elsewhere', 'bytes=5-6', 'probe'],
    ['the last two bytes', 'bytes=-2', 'probe'],
    ['three bytes', 'bytes=0-2', 'eligible'],
    ['three bytes in two ranges', 'bytes=0-1,9-9', 'eligible'],
    ['everything from a byte on', 'bytes=0-', 'eligible'],
    ['from the middle', 'BYTES = 1000-', 'eligible'],
    ['what is no byte range', 'items=0-1', 'eligible'],
    ['what is no range', 'bytes=-', 'eligible'],
  ])('%s', (_, range, judgement) => {
    expect(classifyPrefixRequest(request({ range }), 'ok')).toBe(judgement);
  });
});

describe('the first matching rule decides, of those whose data a log has', () => {
  test.each([
    [{ method: 'HEAD', status: 304 }, 'ok', 'method'],
    [{ status: 304 }, 'ok', 'not_modified'],
    [{ status: 404, range: 'bytes=5-6' }, 'ok', 'status'],
    [{ status: undefined }, 'ok', 'eligible'],
    [{ status: 206 }, 'ok', 'eligible'],
    [{ range: 'bytes=5-6', userAgent: '' }, 'ok', 'probe'],
    [{ userAgent: '', range: 'bytes=0-1' }, 'ok', 'no_ua'],
    [{ prefetch: true }, 'watch', 'watch'],
    [{ prefetch: true }, 'bot_ua', 'prefetch'],
    [{ addressVerdict: 'dc_ip' }, 'bot_ua', 'bot_ua'],
    [{ addressVerdict: 'dc_ip', preload: true }, 'ok', 'dc_ip'],
    [{ preload: true, range: 'bytes=0-1' }, 'ok', 'preload_ref'],
  ] as const)('%j by an agent judged %s', (changes, agent, judgement) => {
    expect(classifyPrefixRequest(request(changes), agent)).toBe(judgement);
  });
});

test('marks of a window merge in any order and repetition to the earliest start, first two only if nothing larger came', () => {
  const mark = fc.record({ startedAtMs: fc.integer({ min: 0, max: 50 }), firstTwo: fc.boolean() });
  fc.assert(
    fc.property(fc.array(mark, { minLength: 1 }), fc.func(fc.nat()), (marks, order) => {
      const shuffled = [...marks, ...marks].sort((a, b) => order(a) - order(b));
      const expected = {
        startedAtMs: Math.min(...marks.map((one) => one.startedAtMs)),
        firstTwo: marks.every((one) => one.firstTwo),
      };
      expect(shuffled.reduce(mergePrefixMarks)).toEqual(expected);
    }),
  );
});
