import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { evaluateAlerts, moveStreak, noAlert, type AlertKind, type AlertMoment } from './alert-conditions.ts';

const hourMs = 3_600_000;
const now = Date.UTC(2027, 2, 10, 12);

/** A line item on its plan, in the middle of its window. */
const onPlan = (given: Partial<AlertMoment> = {}): AlertMoment => ({
  ...{ atMs: now, windowEndMs: now + 240 * hourMs, mode: 'even', goal: 10_000, bound: 10_000 },
  ...{ target: 5_000, committed: 5_000, confirmed: 4_500, used: 6_000, deliveryRate: 0.8 },
  ...{ shortBy: 'plan', isLearning: false, budgetPercent: undefined },
  hourAgo: { used: 5_900, target: 4_920 },
  dayAgo: { atMs: now - 24 * hourMs, committed: 4_000 },
  ...given,
});

const inTwoDays = now + 48 * hourMs;
const asap = { mode: 'asap', windowEndMs: inTwoDays, target: 5_000 } as const;

describe('the kinds that are raised', () => {
  test.each<[string, Partial<AlertMoment>, Partial<Record<AlertKind, number>>]>([
    ['none on plan', {}, {}],
    ['behind by 2 % of the goal and no more: none', { goal: 20_000, bound: 20_000, committed: 4_600 }, {}],
    ['behind by more', { goal: 20_000, bound: 20_000, committed: 4_599 }, { behind_plan: 401 }],
    [
      'behind within what is usual of so few: none',
      { goal: 1_000, bound: 1_000, target: 400, committed: 340, confirmed: 300 },
      {},
    ],
    ['behind as far, while the plan is learned: none', { committed: 3_000, isLearning: true }, {}],
    ['ahead of the plan: none', { committed: 7_000 }, {}],
    [
      'nothing given in the hour though 100 slots were expected',
      { hourAgo: { used: 6_000, target: 4_920 } },
      { stalled: 100 },
    ],
    ['nothing given, and 19 expected: none', { hourAgo: { used: 6_000, target: 4_984.8 } }, {}],
    ['nothing given as the day has had enough: none', { shortBy: 'day', hourAgo: { used: 6_000, target: 4_920 } }, {}],
    ['nobody paced it an hour ago: none', { hourAgo: undefined }, {}],
    ['two days left and on plan: none', { windowEndMs: inTwoDays }, {}],
    ['two days left and 1 % behind', { windowEndMs: inTwoDays, committed: 4_900 }, { ending: 100 }],
    ['73 hours left and 1 % behind: none', { windowEndMs: now + 73 * hourMs, committed: 4_900 }, {}],
    ['as soon as possible, and too slow to get there', asap, { ending: 3_000 }],
    [
      'as soon as possible, and fast enough: none',
      { ...asap, dayAgo: { atMs: now - 24 * hourMs, committed: 2_500 } },
      {},
    ],
    ['as soon as possible, and nobody knows the pace: none', { ...asap, dayAgo: undefined }, {}],
    ['above the goal by half a per cent: none', { confirmed: 10_050 }, {}],
    ['above the goal by more', { confirmed: 10_051 }, { over: 51 }],
    ['above a small goal by five: none', { goal: 100, bound: 100, target: 50, committed: 105, confirmed: 105 }, {}],
    ['above a goal that was lowered beneath what was committed: none', { goal: 4_000, bound: 4_600 }, {}],
    ['90 % of the budget', { budgetPercent: 90 }, { budget: 5_000 }],
    ['less of the budget: none', { budgetPercent: 89.9 }, {}],
  ])('%s', (_name, given, expected) => {
    expect(
      Object.fromEntries([...evaluateAlerts(onPlan(given))].map(([kind, units]) => [kind, Math.round(units)])),
    ).toEqual(expected);
  });
});

test('a line item that has what it is to have is neither behind nor ending badly, whatever its numbers', () => {
  const units = fc.double({ min: 0, max: 1e9, noNaN: true });
  fc.assert(
    fc.property(
      units,
      units,
      fc.integer({ min: 1, max: 1e9 }),
      fc.integer({ min: 0, max: 2_000 }),
      (target, more, goal, hours) => {
        const found = evaluateAlerts(
          onPlan({ goal, bound: goal, target, committed: target + more, windowEndMs: now + hours * hourMs }),
        );
        expect([found.has('behind_plan'), found.has('ending')]).toEqual([false, false]);
      },
    ),
  );
});

test('an alert opens with the third evaluation in a row that finds it, closes with the sixth that does not, and never otherwise', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 60 }), (found) => {
      let streak = noAlert;
      found.forEach((holds, at) => {
        const before = streak;
        streak = moveStreak(streak, holds);
        if (streak.isOpen === before.isOpen) return;
        const last = found.slice(0, at + 1).slice(streak.isOpen ? -3 : -6);
        expect(last).toEqual(Array(streak.isOpen ? 3 : 6).fill(streak.isOpen));
      });
      // Whatever came before, so many of one kind decide.
      for (let round = 0; round < 3; round++) streak = moveStreak(streak, true);
      expect(streak.isOpen).toBe(true);
      for (let round = 0; round < 5; round++) streak = moveStreak(streak, false);
      expect(streak.isOpen).toBe(true);
      expect(moveStreak(streak, false)).toEqual(noAlert);
    }),
  );
});
