import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { breakPlanSchema, type BreakPlan, type SlotRule } from '../projection/break-plan.ts';
import type { Markers } from '../projection/projected.ts';
import { planBreaks, type PlannedBreak } from './plan-breaks.ts';

interface Case {
  readonly guarantee: string;
  readonly content_ms: number;
  readonly silences?: readonly [number, number][];
  readonly markers: Markers;
  readonly plan?: unknown;
  readonly breaks: readonly string[];
}
const cases = JSON.parse(readFileSync(new URL('../../cases/plan-breaks.json', import.meta.url), 'utf8')) as Case[];

/** "key position time slots x duration [rules slots]" */
const line = ({ key, position, contentMs, maxSlots, maxDurationMs, slotRules }: PlannedBreak) =>
  `${key} ${position} ${contentMs} ${maxSlots}x${maxDurationMs}` +
  (slotRules.length > 0 ? ` rules ${slotRules.map(({ slot }) => slot).join()}` : '');

describe('cases/plan-breaks.json', () => {
  test.each(cases.map((each) => [each.guarantee, each] as const))('%s', (_guarantee, each) => {
    const plan = each.plan === undefined ? undefined : breakPlanSchema.parse(each.plan);
    const content = { frames: each.content_ms / 24, silences: each.silences ?? [] };
    expect(planBreaks(plan, each.markers, content).map(line)).toEqual(each.breaks);
  });
});

const time = fc.nat(2_000_000);
const anchor = fc.oneof(
  fc.record({ kind: fc.constant('marker' as const), key: fc.constantFrom('m1', 'm2', 'm3') }),
  fc.record({ kind: fc.constant('marker' as const) }),
  fc.record({ kind: fc.constant('time' as const), position_ms: time }),
  fc.record({
    kind: fc.constant('rule' as const),
    first_ms: time,
    every_ms: fc.integer({ min: 30_000, max: 600_000 }),
    count_max: fc.integer({ min: 1, max: 100 }),
  }),
);
const position = fc.constantFrom('pre' as const, 'mid' as const, 'post' as const);
const breaks = fc.array(
  fc.record({
    key: fc.string({ minLength: 1, maxLength: 64, unit: fc.constantFrom('a', 'b', '.', '1') }),
    position,
    anchor,
    max_slots: fc.integer({ min: 1, max: 8 }),
    max_duration_ms: fc.integer({ min: 1_000, max: 1_800_000 }),
    slot_rules: fc.constant<SlotRule[]>([]),
  }),
  { maxLength: 12 },
);
const plans: fc.Arbitrary<BreakPlan | undefined> = fc.option(
  fc.record({ inventory_unit_ids: fc.constant<string[]>([]), breaks, min_gap_ms: fc.nat(300_000) }),
  { nil: undefined },
);
const markers = fc.array(
  fc.record({
    key: fc.constantFrom('m1', 'm2', 'm3', 'm4'),
    kind: position,
    position_ms: time,
    max_slots: fc.integer({ min: 1, max: 8 }),
  }),
  { maxLength: 8 },
);

test('for any plan and markers, breaks have distinct keys and rise within the content, apart by the least gap', () => {
  fc.assert(
    fc.property(plans, markers, fc.integer({ min: 1, max: 75_000 }), (plan, marks, frames) => {
      const planned = planBreaks(plan, marks, { frames, silences: [] });
      expect(new Set(planned.map(({ key }) => key)).size).toBe(planned.length);
      expect(planned.length).toBeLessThanOrEqual(32);
      planned.forEach((each, i) => {
        expect(each.key.length).toBeLessThanOrEqual(64);
        const [from, to] = { pre: [0, 0], mid: [1, frames - 1], post: [frames, frames] }[each.position];
        const frame = each.contentMs / 24;
        expect(Number.isInteger(frame)).toBe(true);
        expect(frame).toBeGreaterThanOrEqual(from!);
        expect(frame).toBeLessThanOrEqual(to!);
        const before = planned[i - 1];
        if (!before) return;
        expect(each.contentMs).toBeGreaterThan(before.contentMs);
        expect(each.contentMs - before.contentMs).toBeGreaterThanOrEqual(plan?.min_gap_ms ?? 0);
      });
      expect(planBreaks(plan, marks, { frames, silences: [] })).toEqual(planned);
    }),
  );
});
