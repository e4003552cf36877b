import { expect, test } from '@jest/globals';
import { decidedUnits, itemsByFate, whyOpen, type Item } from './items.ts';

const item: Item = {
  ...{ item_id: 'a', source: 'gam', line_item_id: 'li_1', day: null, ours: 100, theirs: 112, delta: 12, delta_pct: 12 },
  ...{ ours_basis: 'ad_delivered', theirs_basis: 'ad_delivered', ambiguity: 'none', beyond_tolerance: true },
  ...{ verdict: null, value: null, note: null, decided_by: null, adjusted: null },
};

test('every item is open, decided by people, or passed by the tolerance', () => {
  const byPerson = { ...item, item_id: 'b', verdict: 'theirs', decided_by: 'prn_1' } as const;
  const byItself = { ...item, item_id: 'c', verdict: 'ours', beyond_tolerance: false } as const;
  expect(itemsByFate([item, byPerson, byItself])).toEqual({ open: [item], decided: [byPerson], passed: [byItself] });
});

test('an item says why nobody but people decide it: what is unclear, else the tolerance', () => {
  expect(whyOpen(item)).toBe('beyond');
  expect(whyOpen({ ...item, ambiguity: 'missing_theirs' })).toBe('missing_theirs');
  expect(whyOpen({ ...item, beyond_tolerance: false })).toBeUndefined();
});

test('decided are our units, theirs, or those that were agreed on', () => {
  expect(decidedUnits(item)).toBeUndefined();
  expect(decidedUnits({ ...item, verdict: 'ours' })).toBe(100);
  expect(decidedUnits({ ...item, verdict: 'theirs' })).toBe(112);
  expect(decidedUnits({ ...item, verdict: 'agreed_value', value: 105 })).toBe(105);
});
