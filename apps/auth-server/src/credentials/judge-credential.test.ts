import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parsePlans } from '../plans.ts';
import { judgeCredential, type IssuedCredential } from './judge-credential.ts';

const plans = parsePlans(readFileSync(new URL('../../data/plans.json', import.meta.url), 'utf8'));
const now = new Date('2026-11-21T12:00:00.000Z');

/** The rules on credentials, as data. */
interface JudgementCase {
  readonly name: string;
  readonly kind: IssuedCredential['kind'];
  readonly plan?: string;
  readonly subscription?: IssuedCredential['account']['subscription'];
  readonly state?: string;
  readonly account_state?: string;
  readonly expires_at?: string;
  /** Plans of the owners of the organizations that the account is a member of. */
  readonly owner_plans?: readonly string[];
  readonly outcome: string;
}

const cases = JSON.parse(
  readFileSync(new URL('../../cases/judgement.json', import.meta.url), 'utf8'),
) as readonly JudgementCase[];

const judge = (each: JudgementCase) =>
  judgeCredential(
    {
      id: 'crd_1',
      state: each.state ?? 'active',
      kind: each.kind,
      scope: 'read_write',
      ...(each.expires_at && { expires_at: each.expires_at }),
      account: {
        id: 'acc_1',
        workspaceId: 'ws_1',
        state: each.account_state ?? 'active',
        plan: each.plan ?? 'scale',
        subscription: each.subscription ?? { state: 'active' },
      },
    },
    each.owner_plans ?? [],
    plans,
    now,
  );

describe('a credential (the clock says 2026-11-21T12:00:00Z)', () => {
  test.each(cases.map((each) => [each.name, each] as const))('%s', (_name, each) => {
    const verdict = judge(each);
    expect(verdict.accepted ? 'accepted' : verdict.refusal).toBe(each.outcome);
  });

  test('that was never issued is an unknown user', () => {
    expect(judgeCredential(undefined, [], plans, now)).toEqual({ accepted: false, refusal: 'unknown_user' });
  });

  test("of a member counts by the rate limits of the plan that lets it in, and keeps the account's own plan", () => {
    const verdict = judge({ name: '', kind: 'legacy_token', plan: 'launch', owner_plans: ['scale'], outcome: '' });
    expect(verdict).toMatchObject({ plan: plans.get('launch'), rates: plans.get('scale') });
  });
});
