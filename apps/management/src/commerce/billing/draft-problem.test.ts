import { expect, test } from '@jest/globals';
import { billingStatements } from '@longwave/command-catalog';
import type { StatementLine } from '@longwave/money';
import { draftProblem } from './draft-problem.ts';

const line: StatementLine = {
  ...{ line_item_id: 'li_a', kind: 'charge', name: 'a', rate_from: '2026-10-01T00:00:00.000Z', model: 'cpm' },
  ...{ price_micros: '1000000', basis: 'ad_delivered', units: 1, days: 0, amount_micros: '10000' },
};
const content = (lines: number, total = '10000') => ({
  lines: Array<StatementLine>(lines).fill(line),
  total_micros: total,
});

test('a draft with more lines than a statement has fails at once, in words, and any other with lines is recorded', () => {
  expect(draftProblem('invoice', content(5_000))).toBeUndefined();
  const problem = draftProblem('invoice', content(5_001));
  expect(problem).toMatchObject({ code: 'too_many_lines', detail: expect.stringContaining('5,001') });
  expect(billingStatements.attributes.shape.problem.parse(problem)).toEqual(problem);
});

test('a statement without lines has nothing due, and a credit note gives something back', () => {
  expect(draftProblem('invoice', content(0, '0'))).toMatchObject({ code: 'nothing_due' });
  expect(draftProblem('credit_note', content(1))).toMatchObject({ code: 'nothing_to_credit' });
  expect(draftProblem('credit_note', content(1, '-10000'))).toBeUndefined();
});
