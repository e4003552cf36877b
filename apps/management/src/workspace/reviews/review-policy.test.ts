import { expect, test } from '@jest/globals';
import type { PolicyInForce } from '../policies/policies-in-force.ts';
import { reviewDemand } from './review-policy.ts';

type Rule = PolicyInForce<'review'>['rules']['rules'][number];
const policy = (id: string, ...rules: Rule[]): PolicyInForce<'review'> => ({
  ...{ id, version: 3, kind: 'review', scope: { kind: 'workspace' } },
  rules: { rules },
});
const booking = { command_types: ['line_item.book'], reviewer_roles: ['finance' as const] };
const single = policy('pol_1', { ...booking, mode: 'single', min_amount_micros: '20000000' });
const priced = (amount: string) => ({ rate: { model: 'cpm', price: { amount_micros: amount, currency: 'EUR' } } });

test('a command without a matching rule needs no further review', () => {
  expect(reviewDemand([single], 'line_item.extend', priced('90000000'))).toBeUndefined();
  expect(reviewDemand([], 'line_item.book', {})).toBeUndefined();
});

test('a rule with an amount is about that price or budget and more, and about nothing that has none', () => {
  const demand = { mode: 'single', roles: ['finance'], policyVersions: [{ id: 'pol_1', version: 3 }] };
  expect(reviewDemand([single], 'line_item.book', priced('20000000'))).toEqual(demand);
  expect(reviewDemand([single], 'line_item.book', priced('19999999'))).toBeUndefined();
  expect(reviewDemand([single], 'line_item.book', {})).toBeUndefined();
  expect(reviewDemand([single], 'line_item.book', { budget: { amount_micros: '20000001' } })).toEqual(demand);
});

test('of several rules the strictest counts, and every policy that demanded a review is named', () => {
  const dual = policy('pol_2', { ...booking, mode: 'dual', reviewer_roles: ['admin'] });
  expect(reviewDemand([single, dual], 'line_item.book', priced('20000000'))).toEqual({
    mode: 'dual',
    roles: ['admin'],
    policyVersions: [
      { id: 'pol_1', version: 3 },
      { id: 'pol_2', version: 3 },
    ],
  });
});
