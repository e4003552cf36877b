import { expect, test } from '@jest/globals';
import { anyTargeting, type PlanLineItem } from '@longwave/events';
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

test('what fewer listeners than the least have is told with the largest number, and they hold no slots; a single play cannot be asked for', () => {
  const [line] = plan.line_items;
  const country = (include: string[]) => ({ ...anyTargeting, countries: { include, exclude: [] } });
  const own = {
    ...line!,
    break_positions: ['pre' as const, 'mid' as const, 'post' as const],
    targeting: country(['LI']),
  };
  const heard = (one: number, given: object) => ({ ...plays[0]!, weight: 1, listener: `l${one}`, ...given });
  const asked = (people: number) => [
    ...Array.from({ length: people }, (_, one) => heard(one, { country: 'LI', lineItemIds: ['rival'] })),
    ...Array.from({ length: 60 }, (_, one) => heard(100 + one, { country: 'DE' })),
    // Many plays of one listener are one listener's.
    ...Array.from({ length: 60 }, () => heard(0, { country: 'LI', lineItemIds: ['rival'] })),
  ];
  const of = (people: number) => explainFit(own, asked(people), { ...options, leastListeners: 50 });
  const breaksOf = (count: number) => count * plays[0]!.breaks.length;
  expect(of(49)).toMatchObject({
    ...{ fits: 0, breaks: breaksOf(169), winners: [] },
    stages: [{ code: 'targeting_country', breaks: breaksOf(169) }],
  });
  expect(of(50)).toMatchObject({
    ...{ fits: breaksOf(110), winners: [{ lineItemId: 'rival', slots: 110 }] },
    stages: [{ code: 'targeting_country', breaks: breaksOf(60) }],
  });
  expect(explainFit(own, asked(9).slice(0, 30), { ...options, leastListeners: 50 })).toMatchObject({
    ...{ rows: 30, breaks: 0, fits: 0, stages: [], winners: [] },
  });
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
