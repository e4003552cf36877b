import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { giveUpAfterMs, nextAttemptAt, retryDelaysMs, tryParseRetryAfter } from './retry-schedule.ts';

const queuedAt = new Date('2026-11-23T10:00:00Z');

/** The times of all attempts at a delivery that always fails, in milliseconds since it was queued. */
function attemptTimes(random: () => number): number[] {
  const times = [0];
  for (;;) {
    const now = new Date(queuedAt.getTime() + times.at(-1)!);
    const next = nextAttemptAt({ queuedAt, failed: times.length }, now, random());
    if (!next) return times;
    times.push(next.getTime() - queuedAt.getTime());
  }
}

test('pauses grow, and the last attempt is made exactly three days after the first, whatever the jitter', () => {
  fc.assert(
    fc.property(fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (stream) => {
      const times = attemptTimes(() => stream.next().value as number);
      expect(times.at(-1)).toBe(giveUpAfterMs);
      expect(times.length).toBeGreaterThanOrEqual(retryDelaysMs.length);
      expect(times.length).toBeLessThanOrEqual(16);
      expect(times).toEqual([...times].sort((a, b) => a - b));
    }),
  );
});

test('the pause that a receiver asks for is kept, but not beyond three days', () => {
  const ask = (retryAfterMs: number) => nextAttemptAt({ queuedAt, failed: 1, retryAfterMs }, queuedAt, 0.5)!;
  expect(ask(7_200_000).getTime() - queuedAt.getTime()).toBe(7_200_000);
  expect(ask(1).getTime() - queuedAt.getTime()).toBe(5_000);
  expect(ask(1e12).getTime() - queuedAt.getTime()).toBe(giveUpAfterMs);
});

test.each([
  ['120', 120_000],
  ['Mon, 23 Nov 2026 10:01:00 GMT', 60_000],
  ['Mon, 23 Nov 2026 09:00:00 GMT', 0],
  ['soon', undefined],
  ['-1', undefined],
  [undefined, undefined],
])('Retry-After %s asks for %s ms', (value, expected) => {
  expect(tryParseRetryAfter(value, queuedAt)).toBe(expected);
});
