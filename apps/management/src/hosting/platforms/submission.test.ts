import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { afterFailure, afterStatement, nextRefreshAt, type SubmissionAttributes } from './submission.ts';

const now = new Date('2026-11-26T12:00:00.000Z');
const digest = 'a'.repeat(64);
const external_receipt = {
  ...({ action: 'refresh', at: now.toISOString(), status: 200 } as const),
  ...{ sent_sha256: digest, answered_sha256: digest },
};
const attempt = { action: 'submit', begun_at: now.toISOString(), sent_sha256: digest } as const;
const withdrawal = { requested_at: now.toISOString(), cause: 'Over.' };

const optional = <T>(value: T) => fc.constantFrom(value, undefined);
const submission = fc
  .record({
    ambiguity: fc.constantFrom('none' as const, 'unknown' as const, 'conflicting' as const),
    attempt: optional(attempt),
    withdrawal: optional(withdrawal),
    absent_at: optional(now.toISOString()),
    refresh_at: optional(now.toISOString()),
  })
  .map((given): SubmissionAttributes => ({
    ...{ platform: 'apple_podcasts', episode_id: 'ep_1', podcast_id: 'pod_1', episode_on_platform: 'x' },
    ...(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as { ambiguity: 'none' }),
  }));
const state = fc.constantFrom('submitting' as const, 'submitted' as const, 'accepted' as const, 'ambiguous' as const);
const found = fc.constantFrom('submitted', 'accepted', 'rejected', 'withdrawn', 'absent', 'conflicting');
const failure = fc.constantFrom('rejected', 'unknown', 'conflicting', 'not_taken', undefined);
const problem = { code: 'platform_unavailable', detail: 'Later.' };

test('whatever is answered or lost, no attempt stays open, and what is undecided is asked again or may be submitted', () => {
  fc.assert(
    fc.property(submission, state, found, failure, fc.boolean(), (current, from, said, outcome, isAnswered) => {
      const next = isAnswered
        ? afterStatement(current, from, { found: said, external_receipt }, now)
        : afterFailure(current, from, { problem, outcome: outcome }, now);
      expect(next.attributes.attempt).toBeUndefined();
      const { refresh_at: refreshAt, absent_at: absentAt, ambiguity } = next.attributes;
      if (next.state === 'submitted') expect(refreshAt).toBeDefined();
      if (next.state === 'ambiguous') expect(refreshAt ?? absentAt).toBeDefined();
      if (next.state === 'accepted' || next.state === 'withdrawn' || next.state === 'draft')
        expect(ambiguity).toBe('none');
    }),
  );
});

test('only a refresh after an ambiguous outcome lets it be submitted again', () => {
  fc.assert(
    fc.property(submission, state, found, (current, from, said) => {
      const { attributes } = afterStatement(current, from, { found: said, external_receipt }, now);
      const mayBeSubmitted = attributes.absent_at !== undefined;
      expect(mayBeSubmitted).toBe(said === 'absent' && from === 'ambiguous' && !current.withdrawal);
    }),
  );
});

test('a failure without a known outcome is ambiguous exactly where a request may have been sent', () => {
  const base = { platform: 'apple_podcasts', ambiguity: 'none' } as SubmissionAttributes;
  expect(afterFailure({ ...base, attempt }, 'submitting', { problem }, now).state).toBe('ambiguous');
  expect(afterFailure(base, 'submitting', { problem }, now).state).toBe('draft');
  expect(afterFailure({ ...base, attempt, withdrawal }, 'accepted', { problem }, now).state).toBe('ambiguous');
  expect(afterFailure({ ...base, withdrawal }, 'accepted', { problem }, now).state).toBe('accepted');
  expect(afterFailure(base, 'submitted', { problem, outcome: 'unknown' }, now).state).toBe('submitted');
});

test('a platform is asked after five minutes at first, and once a day in the end', () => {
  const after = (age: number) =>
    Date.parse(nextRefreshAt(new Date(now.getTime() - age).toISOString(), now)) - now.getTime();
  expect([0, 3_600_000, 90 * 86_400_000].map(after)).toEqual([300_000, 1_800_000, 86_400_000]);
});
