import { addBit, createBits, hasBit, urgencyOf, type PlanIndex } from '@longwave/ad-decision';
import { expect, test } from '@jest/globals';
import type { HeldLease } from './lease-credits.ts';
import { createLineDemands } from './line-demand.ts';
import { createPlanCredit } from './plan-credit.ts';

/** Line items "a", "b" … of which those in `goals` have a goal. */
function indexOf(lineItemIds: string, goals: string): PlanIndex {
  const ids = [...lineItemIds];
  const bits = createBits(ids.length);
  ids.forEach((id, ordinal) => goals.includes(id) && addBit(bits, ordinal));
  return { lines: ids.map((lineItemId) => ({ lineItemId })), goals: bits } as unknown as PlanIndex;
}

/** Leases that have what `left` says; a line item that is not in it has no lease. */
function planCredit(left: Record<string, number>) {
  let nowMs = 0;
  let revision = 0;
  const lineItemOf = new Map<HeldLease, string>();
  const leases = new Map<string, HeldLease>();
  const find = (lineItemId: string) => {
    if (left[lineItemId] === undefined) return undefined;
    const lease = leases.get(lineItemId) ?? ({} as HeldLease);
    leases.set(lineItemId, lease);
    lineItemOf.set(lease, lineItemId);
    return lease;
  };
  const credit = createPlanCredit(
    { find, creditIn: (lease) => left[lineItemOf.get(lease)!]!, revision: () => revision },
    () => nowMs,
  );
  const withCredit = (index: PlanIndex) =>
    index.lines.flatMap(({ lineItemId }, at) => (hasBit(credit.creditOf(index), at) ? lineItemId : [])).join('');
  return {
    ...{ credit, withCredit },
    pass: (ms: number) => {
      nowMs += ms;
    },
    revise: () => {
      revision++;
    },
  };
}

test('a set has the line items with goals and credit; what is exhausted leaves it at once, what was filled comes within 50 ms', () => {
  const left: Record<string, number> = { a: 1, b: 1, c: 2, x: 1 };
  const { credit, withCredit, pass } = planCredit(left);
  const [index, other] = [indexOf('abcx', 'abc'), indexOf('cx', 'cx')];
  const exhaust = (lineItemId: string) => {
    left[lineItemId] = 0;
    credit.exhaust(lineItemId);
  };
  expect([withCredit(index), withCredit(other)]).toEqual(['abc', 'cx']);
  exhaust('c');
  exhaust('b');
  expect([withCredit(index), withCredit(other)]).toEqual(['a', 'x']);
  left['b'] = 1;
  pass(49);
  exhaust('a');
  expect(withCredit(index)).toBe('');
  pass(1);
  exhaust('x');
  expect([withCredit(index), withCredit(other)]).toEqual(['b', '']);
});

test('leases that were opened, revised or closed are seen at once', () => {
  const left: Record<string, number> = { a: 0 };
  const { credit, withCredit, revise } = planCredit(left);
  const index = indexOf('abx', 'ab');
  expect(withCredit(index)).toBe('');
  left['a'] = 2;
  left['b'] = 5;
  left['x'] = 5;
  revise();
  expect(withCredit(index)).toBe('ab');
  expect([0, 1, 2].map(credit.remainingOf(index))).toEqual([2, 5, 0]);
  delete left['a'];
  revise();
  expect(withCredit(index)).toBe('b');
  expect([0, 1].map(credit.remainingOf(index))).toEqual([0, 5]);
});

test('however many line items are exhausted between two decisions, none of them is in a set', () => {
  const left: Record<string, number> = { a: 1, b: 1 };
  const { credit, withCredit } = planCredit(left);
  const index = indexOf('ab', 'ab');
  expect(withCredit(index)).toBe('ab');
  left['a'] = 0;
  credit.exhaust('a');
  for (let at = 0; at < 10_000; at++) credit.exhaust(`other ${at}`);
  expect(withCredit(index)).toBe('b');
});

test('levels of urgency are those of the last read, of the line items of each index', () => {
  const { credit } = planCredit({});
  const [index, other] = [indexOf('abc', 'abc'), indexOf('ax', 'x')];
  const levelsOf = (of: PlanIndex) => of.lines.map((_, ordinal) => urgencyOf(credit.urgencyOf(of), ordinal));
  expect(credit.urgencyOf(index)).toBeUndefined();
  credit.setUrgencies(
    new Map([
      ['a', 3],
      ['b', 1],
    ]),
  );
  expect([levelsOf(index), levelsOf(other)]).toEqual([
    [3, 1, 0],
    [0, 0],
  ]);
  credit.setUrgencies(new Map([['c', 2]]));
  expect(levelsOf(index)).toEqual([0, 0, 2]);
});

test('demand is exact for what was looked at, and right on average for what was not for want of credit', () => {
  let nowMs = 0;
  const demands = createLineDemands(() => nowMs);
  const index = indexOf('abx', 'ab');
  const withoutCredit = createBits(3);
  addBit(withoutCredit, 1);
  const considered = new Map([[0, 'won'] as const, [2, 'won'] as const]);
  const verdicts = [{ breakKey: 'pre', considered, eligible: index.goals, withoutCredit, rest: 'outranked' as const }];
  const decisions = 20_000;
  for (let at = 0; at < decisions; at++) demands.addAsked(index, `dec_${at}`, verdicts);
  demands.addUsed('a', 7);
  const { a, b, x } = demands.report() as Record<string, { asked: number; used: number; refused: number }>;
  expect(a).toEqual({ asked: decisions, used: 7, refused: 0 });
  expect(x).toBeUndefined();
  expect(b!.asked).toBe(b!.refused);
  expect(Math.abs(b!.asked / decisions - 1)).toBeLessThan(0.1);
  nowMs = 60_001;
  expect(demands.report()).toEqual({});
  demands.clear();
  demands.addUsed('a', 1);
  expect(demands.report()).toEqual({ a: { asked: 0, used: 1, refused: 0 } });
});
