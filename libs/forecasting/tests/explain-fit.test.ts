import { expect, test } from '@jest/globals';
import type { PlanLineItem } from '@longwave/events';
import { explainFit, findMatched } from '../src/index.ts';
import { bookedWeek } from './_world.ts';

const { plays: all, plan } = bookedWeek({ seed: 22, playsPerDay: 2000, bookedShare: 0.4 });
const plays = all.filter((_, at) => at % 7 === 0).map((play, at) => ({ ...play, weight: 1 + (at % 3) }));
const options = { lines: plan.line_items, maxWinners: 5 };

test('every break of the sample fits, or has the one check that the line item fails first', () => {
  for (const line of plan.line_items) {
    const { rows, breaks, fits, stages } = explainFit(line, plays, options);
    const matched = findMatched(line, plays, { timeZone: 'UTC' });
    expect(fits).toBeCloseTo(matched.capacity, 6);
    expect(stages.map(({ code }) => code)).toEqual(matched.funnel.map(({ code }) => code));
    expect(fits + stages.reduce((sum, one) => sum + one.breaks, 0)).toBeCloseTo(breaks, 6);
    expect(rows).toBe(plays.length);
  }
});

test('winners have slots of plays that the line item fits and got nothing of; nobody behind it is one, nor who serves elsewhere in the play', () => {
  const [line, other] = plan.line_items.filter(({ type }) => type === 'guaranteed');
  const own = { ...line!, priority: 5, break_positions: ['mid' as const], targeting: plan.line_items[0]!.targeting };
  const as = (id: string, given: Partial<PlanLineItem>): PlanLineItem => ({ ...other!, ...given, line_item_id: id });
  const mid = { break_positions: ['mid' as const] };
  const lines = [
    own,
    as('urgent', { ...mid, priority: 4 }),
    as('equal', { ...mid, priority: 5 }),
    as('later', { ...mid, priority: 6 }),
    as('house', { ...mid, type: 'house' }),
    as('sponsor', { ...mid, type: 'sponsorship' }),
    as('pre', { break_positions: ['pre'], priority: 1 }),
  ];
  const fitting = plays.filter((play) => explainFit(own, [play], { ...options, lines }).fits > 0);
  expect(fitting.length).toBeGreaterThan(10);
  const holders = ['urgent', 'equal', 'later', 'house', 'sponsor', 'pre', 'gone'];
  const held = fitting.map((play, at) => ({
    ...play,
    weight: 1,
    lineItemIds: at < 9 ? [own.line_item_id, 'urgent'] : holders,
  }));
  const unfit = plays.filter((play) => !fitting.includes(play)).map((play) => ({ ...play, lineItemIds: ['urgent'] }));
  const { winners } = explainFit(own, [...held, ...unfit], { ...options, lines });
  const slots = fitting.length - 9;
  expect(winners).toEqual(['equal', 'gone', 'sponsor', 'urgent'].map((lineItemId) => ({ lineItemId, slots })));
  expect(explainFit(own, held, { ...options, lines, maxWinners: 2 }).winners).toHaveLength(2);
});
