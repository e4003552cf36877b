import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decided, isApproved, type ReviewTask } from './review-task.ts';

const at = new Date('2026-11-21T12:00:00Z');
const task = (mode: ReviewTask['mode']): ReviewTask => ({
  operation_id: 'op_1',
  command_type: 'campaign.cancel',
  subject: { type: 'campaigns', id: 'cmp_1', version: 3 },
  request: { changes: {}, payload_digest: 'd', client_id: 'crd_1' },
  requested_by: 'acc_asks',
  mode,
  required_roles: ['reviewer', 'finance'],
  due_at: '2026-11-28T12:00:00Z',
  decisions: [],
});
const by = (account: string) => ({ by: account, roles: ['viewer', 'finance'] as const });

test('a single review takes one approval, a dual one two of different people', () => {
  expect(isApproved(decided(task('single'), by('acc_1'), { verdict: 'approve', at }))).toBe(true);
  const once = decided(task('dual'), by('acc_1'), { verdict: 'approve', at });
  expect(isApproved(once)).toBe(false);
  expect(() => decided(once, by('acc_1'), { verdict: 'approve', at })).toThrow('already');
  expect(isApproved(decided(once, by('acc_2'), { verdict: 'approve', at }))).toBe(true);
});

test('neither the requester nor anybody without a required role decides', () => {
  for (const verdict of ['approve', 'decline', 'request_changes'] as const) {
    expect(() => decided(task('single'), by('acc_asks'), { verdict, at })).toThrow(
      'cannot review a command that you requested',
    );
    const viewer = { by: 'acc_1', roles: ['viewer', 'admin'] as const };
    expect(() => decided(task('single'), viewer, { verdict, at })).toThrow('reviewer, finance');
    expect(() => decided(task('single'), { by: 'service:operator', roles: 'all' }, { verdict, at })).not.toThrow();
  }
});

test('nothing is decided after the task’s time, even before the clock has ended it', () => {
  const late = new Date('2026-11-28T12:00:00Z');
  for (const verdict of ['approve', 'decline', 'request_changes'] as const)
    expect(() => decided(task('single'), by('acc_1'), { verdict, at: late })).toThrow('review period has ended');
  const justInTime = new Date(late.getTime() - 1);
  expect(isApproved(decided(task('single'), by('acc_1'), { verdict: 'approve', at: justInTime }))).toBe(true);
});

test('a dual review is approved only by two people other than the requester, whatever the decisions', () => {
  const step = fc.record({
    who: fc.constantFrom('acc_asks', 'acc_1', 'acc_2'),
    verdict: fc.constantFrom('approve' as const, 'request_changes' as const),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      let now = task('dual');
      for (const { who, verdict } of steps)
        try {
          now = decided(now, by(who), { verdict, at });
        } catch {
          // Refused; the task stays as it was.
        }
      const agreed = new Set(steps.filter((s) => s.verdict === 'approve' && s.who !== 'acc_asks').map((s) => s.who));
      expect(isApproved(now)).toBe(agreed.size === 2);
    }),
  );
});

test('where a host reviews before others, the first approval is the host’s and the second one of theirs; each of them may decline', () => {
  const hosted: ReviewTask = { ...task('dual'), required_roles: ['finance'], first_approval_roles: ['publisher'] };
  const host = { by: 'acc_host', roles: ['viewer', 'publisher'] as const };
  expect(() => decided(hosted, by('acc_1'), { verdict: 'approve', at })).toThrow('publisher');
  const once = decided(hosted, host, { verdict: 'approve', at });
  const otherHost = { ...host, by: 'acc_other' };
  expect(() => decided(once, otherHost, { verdict: 'approve', at })).toThrow('finance');
  expect(isApproved(decided(once, by('acc_1'), { verdict: 'approve', at }))).toBe(true);
  for (const reviewer of [host, by('acc_1')])
    for (const verdict of ['decline', 'request_changes'] as const)
      expect(() => decided(hosted, reviewer, { verdict, at })).not.toThrow();
});
