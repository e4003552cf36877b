import { expect, test } from '@jest/globals';
import { basesOf, linesByKind, sumOf, type StatementLine } from './statement.ts';

const line = (over: Partial<StatementLine>): StatementLine => ({
  ...{ line_item_id: 'li_1', kind: 'charge', name: 'Pre-roll', rate_from: '2026-11-01T00:00:00Z', model: 'cpm' },
  ...{ price_micros: '10000000', basis: 'ad_delivered', units: 1, days: 0, amount_micros: '10000' },
  ...over,
});

test('the bases of a statement are named once each; a price by the day is its own', () => {
  const lines = [line({}), line({}), line({ basis: 'completes', model: 'cpcv' }), line({ model: 'flat' })];
  expect(basesOf(lines)).toEqual(['ad_delivered', 'completes', 'flat']);
});

test('corrections of earlier periods stand apart from what is charged, and both sum exactly', () => {
  const charge = line({ amount_micros: '9007199254740993000001' });
  const correction = line({ kind: 'correction', amount_micros: '-1' });
  expect(linesByKind([charge, correction])).toEqual({ charges: [charge], corrections: [correction] });
  expect(sumOf([charge, correction])).toBe('9007199254740993000000');
});
