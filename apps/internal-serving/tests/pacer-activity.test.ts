import { expect, test } from '@jest/globals';
import { createLinePacer } from '@longwave/pacing';
import { plannedLine } from './_planned-line.ts';
import type { PlannedLine } from '../src/plans/paced-lines.ts';
import { createActivity } from '../src/pacer/activity.ts';
import { createLocalDays } from '../src/pacer/local-days.ts';
import type { PacedEntry } from '../src/pacer/pace-lines.ts';

const startMs = Date.UTC(2027, 2, 1);
const days = createLocalDays();

function activityOf(lines: readonly PlannedLine[]) {
  const entries = new Map<string, PacedEntry>();
  const activity = createActivity(entries);
  for (const line of lines) {
    entries.set(line.lineItemId, {
      pacer: createLinePacer(line, { closedUsed: 0 }, days),
      isKnown: false,
      isSettled: false,
      isReduced: false,
    });
    activity.add(line.lineItemId, startMs);
  }
  /** What the next tick looks at. */
  const tick = (nowMs: number, asked: Readonly<Record<string, number>> = {}) => {
    activity.report([{ nodeEpoch: 1, mode: 'lease', asked: new Map(Object.entries(asked)) }], nowMs);
    return new Set(activity.take(nowMs).map(({ pacer }) => pacer.line.lineItemId));
  };
  return { activity, entries, tick };
}

const many = Array.from({ length: 9_000 }, () => plannedLine(startMs));
const last = many.at(-1)!.lineItemId;

test('a line item that is asked for is looked at in every tick, and for some seconds afterwards', () => {
  const { activity, entries, tick } = activityOf(many);
  tick(startMs);
  expect(tick(startMs + 1_000)).not.toContain(last);
  const asked = { [last]: 4 };
  expect(tick(startMs + 2_000, asked)).toContain(last);
  expect(activity.isActive(last)).toBe(true);
  expect(entries.get(last)!.pacer.shares.isAsked(1)).toBe(true);
  expect(tick(startMs + 5_000, asked)).toContain(last);
  expect(tick(startMs + 8_000, asked)).not.toContain(last);
  expect(tick(startMs + 9_000, { [last]: 5 })).toContain(last);
});

test('all others have their turn in fifteen ticks, some hundreds at a time', () => {
  const { tick } = activityOf(many);
  // All are new.
  expect(tick(startMs).size).toBe(many.length);
  const seen = new Set<string>();
  for (let at = 1; at <= 15; at++) {
    const due = tick(startMs + at * 1_000);
    expect(due.size).toBeLessThanOrEqual(many.length / 15);
    for (const id of due) seen.add(id);
  }
  expect(seen.size).toBe(many.length);
});

test('what changed is looked at in the next tick, and a campaign with a budget whole', () => {
  const campaign = { campaignId: 'cmp_whole', campaignBudgetMicros: 1_000_000, unitPriceMicros: 1_000 };
  const together = [plannedLine(startMs, campaign), plannedLine(startMs, campaign)];
  const later = plannedLine(startMs, { windowStartMs: startMs + 3_000 });
  const { activity, tick } = activityOf([...many, ...together, later]);
  const ids = together.map((line) => line.lineItemId);
  tick(startMs);
  expect(tick(startMs + 1_000).has(ids[0]!)).toBe(false);
  activity.hurry(ids[1]!);
  expect([...tick(startMs + 2_000)]).toEqual(expect.arrayContaining(ids));
  activity.hurry(later.lineItemId);
  expect(tick(startMs + 2_500).has(later.lineItemId)).toBe(false);
  activity.hurry(later.lineItemId);
  expect(tick(startMs + 3_000).has(later.lineItemId)).toBe(true);
});
