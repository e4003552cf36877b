import { expect, test } from '@jest/globals';
import type { PolicyInForce } from '../policies/policies-in-force.ts';
import { asksForCategories, reviewDemand } from './review-policy.ts';

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

test('a rule with categories is about an advertiser with any of them, and about nothing else', () => {
  const wine = policy('pol_1', { ...booking, mode: 'single', ad_product_categories: ['1002', '1003'] });
  const demand = (categories: readonly string[]) => reviewDemand([wine], 'line_item.book', {}, categories);
  expect(demand(['1001', '1003'])).toMatchObject({ mode: 'single' });
  expect([demand(['1001']), demand([]), reviewDemand([wine], 'line_item.book', {})]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect([asksForCategories([wine], 'line_item.book'), asksForCategories([wine], 'line_item.extend')]).toEqual([
    true,
    false,
  ]);
});

test('of the times that matching rules give, the shortest counts', () => {
  const [day, week] = [24, 168].map((due_hours) => policy('pol_1', { ...booking, mode: 'single', due_hours }));
  const other = policy('pol_2', { ...booking, command_types: ['line_item.extend'], mode: 'dual', due_hours: 1 });
  expect(reviewDemand([week!, single, day!, other], 'line_item.book', priced('20000000'))?.dueHours).toBe(24);
  expect(reviewDemand([single], 'line_item.book', priced('20000000'))?.dueHours).toBeUndefined();
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
