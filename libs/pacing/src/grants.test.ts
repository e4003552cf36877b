import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { budgetUnits, costMicros } from './budget.ts';
import { lowerGrants, raiseGrants } from './grants.ts';
import { splitWhole } from './largest-remainder.ts';
import { moveTarget, urgencyOf } from './line-verdict.ts';
import { createNodeShares } from './node-shares.ts';

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

const leases = fc
  .array(fc.record({ used: fc.nat(500), held: fc.nat(300), weight: fc.nat(100) }), { minLength: 1, maxLength: 9 })
  .map((given) => {
    const all = sum(given.map(({ weight }) => weight));
    return given.map(({ used, held, weight }) => ({
      used,
      granted: used + held,
      share: all > 0 ? weight / all : 1 / given.length,
    }));
  });

test('raised leases never have more together than the bound, none is raised above it, and none is lowered below its use', () => {
  fc.assert(
    fc.property(
      leases,
      fc.integer({ min: -100, max: 8_000 }),
      fc.integer({ min: 0, max: 3_000 }),
      (given, maxGranted, quota) => {
        const lowered = lowerGrants({ maxGranted, quota, leases: given });
        const after = given.map((lease, at) => ({ ...lease, granted: lowered[at] ?? lease.granted }));
        lowered.forEach((to, at) => {
          if (to === undefined) return;
          expect(to).toBeGreaterThanOrEqual(given[at]!.used);
          expect(to).toBeLessThan(given[at]!.granted);
        });
        // What a bound no longer allows is taken back as far as it is unused.
        const used = sum(given.map((lease) => lease.used));
        expect(sum(after.map(({ granted }) => granted))).toBeLessThanOrEqual(
          Math.max(used, Math.min(Math.floor(maxGranted), sum(given.map(({ granted }) => granted)))),
        );
        const raised = raiseGrants({ maxGranted, quota, leases: after });
        const finals = after.map((lease, at) => raised[at] ?? lease.granted);
        finals.forEach((granted, at) => expect(granted).toBeGreaterThanOrEqual(after[at]!.granted));
        if (raised.some((to) => to !== undefined)) expect(sum(finals)).toBeLessThanOrEqual(maxGranted);
      },
    ),
  );
});

test('the last units go to the node that has the plays', () => {
  const given = [
    { granted: 10, used: 10, share: 0.98 },
    { granted: 3, used: 0, share: 0.01 },
    { granted: 2, used: 0, share: 0.01 },
  ];
  const input = { maxGranted: 15, quota: 100, leases: given };
  expect(lowerGrants(input)).toEqual([undefined, 0, 0]);
  const after = [given[0]!, { ...given[1]!, granted: 0 }, { ...given[2]!, granted: 0 }];
  expect(raiseGrants({ ...input, leases: after })).toEqual([15, undefined, undefined]);
});

test('parts of a whole number sum to it, and differ from their exact size by less than one', () => {
  const weights = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.nat(100_000), weights, (total, given) => {
      const parts = splitWhole(total, given);
      expect(sum(parts)).toBe(total);
      const all = sum(given);
      if (all > 0) parts.forEach((part, at) => expect(Math.abs(part - (total * given[at]!) / all)).toBeLessThan(1));
    }),
  );
});

test('the units of all line items of a campaign together never cost more than its budget, unless more is spent already', () => {
  const line = fc.record({
    priceMicros: fc.nat(50_000_000),
    goal: fc.integer({ min: 1, max: 100_000 }),
    committed: fc.nat(50_000),
    committedMicros: fc.nat(2_000_000_000),
  });
  fc.assert(
    fc.property(fc.nat(10_000_000_000), fc.array(line, { minLength: 1, maxLength: 10 }), (budget, lines) => {
      const units = budgetUnits(budget, lines);
      const spent = sum(lines.map(({ committedMicros }) => committedMicros));
      const more = sum(
        lines.map(({ priceMicros, committed }, at) =>
          priceMicros === 0 ? 0 : costMicros(units[at]! - committed, priceMicros),
        ),
      );
      expect(spent + more).toBeLessThanOrEqual(Math.max(budget, spent) + 1);
    }),
  );
});

test('a budget is split by the value that is planned', () => {
  const none = { committed: 0, committedMicros: 0 };
  const lines = [
    { priceMicros: 20_000_000, goal: 1_000, ...none },
    { priceMicros: 10_000_000, goal: 2_000, ...none },
    { priceMicros: 0, goal: 2_000, ...none },
  ];
  expect(budgetUnits(20_000_000, lines)).toEqual([500, 1_000, Infinity]);
});

test('nodes share by their demand lately, and equally without any', () => {
  const shares = createNodeShares();
  expect(shares.sharesOf([1, 2])).toEqual([0.5, 0.5]);
  shares.report(
    [
      { nodeEpoch: 1, asked: 30 },
      { nodeEpoch: 2, asked: 10 },
    ],
    0,
  );
  expect(shares.sharesOf([1, 2])[0]).toBeCloseTo(0.745, 3);
  for (let minute = 1; minute < 10; minute++)
    shares.report(
      [
        { nodeEpoch: 1, asked: 30 },
        { nodeEpoch: 2, asked: 10 + 40 * minute },
      ],
      minute * 60_000,
    );
  expect(shares.sharesOf([1, 2])[1]).toBeGreaterThan(0.95);
  expect(sum(shares.sharesOf([1, 2, 3]))).toBeCloseTo(1, 9);
});

test('urgency has its steps at 0.5, 1.5 and 4 per cent of the goal', () => {
  expect([0, 5, 6, 15, 16, 40, 41].map((behind) => urgencyOf(1_000, 500, 500 - behind))).toEqual([0, 0, 1, 1, 2, 2, 3]);
  expect(urgencyOf(1_000, 500, 700)).toBe(0);
});

test('a target moves by the part of the plan that passed, and reaches the goal with it', () => {
  expect(moveTarget(200, 1_000, 0.25)).toBe(400);
  expect(moveTarget(200, 1_000, 1)).toBe(1_000);
  expect(moveTarget(1_200, 1_000, 0.5)).toBe(1_200);
});
