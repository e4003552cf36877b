import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parsePlans } from '../plans.ts';
import { createAccount, setPlan } from './account.ts';

const plans = parsePlans(readFileSync(new URL('../../data/plans.json', import.meta.url), 'utf8'));

describe('accounts', () => {
  test('a new account carries the encoding time of its plan and an active subscription', () => {
    expect(createAccount({ name: 'Studio', plan: 'launch' }, plans)).toEqual({
      name: 'Studio',
      plan: 'launch',
      encoding_ms_per_month: 5 * 3600_000,
      subscription: { state: 'active' },
    });
  });

  test('the unlimited plan carries null, so that no follower takes a missing number for zero', () => {
    expect(createAccount({ name: 'Net', plan: 'network' }, plans).encoding_ms_per_month).toBeNull();
  });

  test('a plan that does not exist is refused by name, and so is one that is closed to new accounts', () => {
    expect(() => createAccount({ name: 'A', plan: 'platinum' }, plans)).toThrow(
      'There is no plan “platinum”. The plans are launch, grow, scale, network, classic.',
    );
    expect(() => createAccount({ name: 'A', plan: 'classic' }, plans)).toThrow(
      'The plan “classic” is closed to new accounts. Choose one of launch, grow, scale, network.',
    );
  });

  test('moving to another plan changes plan and encoding time and nothing else', () => {
    const account = createAccount({ name: 'A', plan: 'launch', subscription: { state: 'past_due' } }, plans);
    expect(setPlan(account, 'scale', plans)).toEqual({
      ...account,
      plan: 'scale',
      encoding_ms_per_month: 100 * 3600_000,
    });
  });
});
