import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parsePlans } from '../plans.ts';
import { judgeCredential, type IssuedCredential } from './judge-credential.ts';

const plans = parsePlans(readFileSync(new URL('../../data/plans.json', import.meta.url), 'utf8'));
const now = new Date('2026-11-21T12:00:00.000Z');

type Subscription = IssuedCredential['account']['subscription'];

const credential = (
  kind: IssuedCredential['kind'],
  plan: string,
  subscription: Subscription = { state: 'active' },
): IssuedCredential => ({
  id: 'crd_1',
  state: 'active',
  kind,
  scope: 'read_write',
  account: { id: 'acc_1', workspaceId: 'ws_1', state: 'active', plan, subscription },
});

const outcome = (issued: IssuedCredential | undefined) => {
  const verdict = judgeCredential(issued, plans, now);
  return verdict.accepted ? 'accepted' : verdict.refusal;
};

describe('a credential', () => {
  test('that is absent, revoked or of a closed account is an unknown user', () => {
    const known = credential('api_key', 'scale');
    expect(outcome(undefined)).toBe('unknown_user');
    expect(outcome({ ...known, state: 'revoked' })).toBe('unknown_user');
    expect(outcome({ ...known, account: { ...known.account, state: 'closed' } })).toBe('unknown_user');
  });

  test.each([
    ['launch', 'api_access_not_available'],
    ['grow', 'api_access_not_available'],
    ['scale', 'accepted'],
    ['network', 'accepted'],
    ['classic', 'accepted'],
  ])('of kind legacy token on plan %s is %s, while an API key always works', (plan, expected) => {
    expect(outcome(credential('legacy_token', plan))).toBe(expected);
    expect(outcome(credential('api_key', plan))).toBe('accepted');
  });

  test.each([
    [{ state: 'active' }, 'accepted', 'accepted'],
    [{ state: 'past_due' }, 'accepted', 'accepted'],
    [{ state: 'canceled' }, 'suspended_subscription', 'suspended_subscription'],
    [{ state: 'suspended' }, 'suspended_subscription', 'suspended_subscription'],
    [{ state: 'trialing', trial_ends_at: '2026-11-21T12:00:00.001Z' }, 'accepted', 'accepted'],
    [{ state: 'trialing', trial_ends_at: '2026-11-21T12:00:00.000Z' }, 'accepted', 'suspended_subscription'],
  ] as const)('under subscription %j: API key %s, legacy token %s', (subscription, apiKey, legacyToken) => {
    expect(outcome(credential('api_key', 'scale', subscription))).toBe(apiKey);
    expect(outcome(credential('legacy_token', 'scale', subscription))).toBe(legacyToken);
  });

  test('without API access and suspended names the plan first', () => {
    expect(outcome(credential('legacy_token', 'grow', { state: 'suspended' }))).toBe('api_access_not_available');
  });
});
