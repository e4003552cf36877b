import { expect, test } from '@jest/globals';
import { isBeyondHours, lastDay, neededPerDay, totalsByHour, verdictsOf, wonOf, type Hour } from './funnel.ts';

const hour = (at: string, decided: number, verdicts: Hour['verdicts']): Hour => ({
  ...{ hour: at, decided, confirmed: 0, pacing: null, verdicts },
});
const verdict = (code: string, considered: number, unseen = 0) => ({ code, considered, not_looked_at: unseen });

test('what kept a line item from breaks is summed over hours, the most frequent first, without what it won', () => {
  const hours = [
    hour('2026-11-27T10:00:00Z', 3, [verdict('won', 3), verdict('capped', 2), verdict('outranked', 0, 16)]),
    hour('2026-11-27T11:00:00Z', 1, [verdict('won', 1), verdict('capped', 4), verdict('paced_out', 0)]),
  ];
  expect(verdictsOf(hours)).toEqual([
    { code: 'outranked', breaks: 16 },
    { code: 'capped', breaks: 6 },
  ]);
  expect([wonOf(hours), lastDay(hours, Date.parse('2026-11-28T11:30:00Z')).length]).toEqual([4, 1]);
});

test('what is needed a day is spread over the days that are left; the last day counts whole', () => {
  const now = Date.parse('2026-11-27T00:00:00Z');
  const end = (day: number) => Date.parse(`2026-11-${day}T00:00:00Z`);
  expect(neededPerDay(1000, 400, end(29), now)).toBe(300);
  expect(neededPerDay(1000, 400, now + 3_600_000, now)).toBe(600);
  expect([neededPerDay(1000, 1000, end(29), now), neededPerDay(1000, 400, end(26), now)]).toEqual([0, undefined]);
});

test('totals have every hour between the first and the last one known; an hour without numbers has those before it', () => {
  const at = (time: string, pacing: Hour['pacing']) => ({ ...hour(`2026-11-27T${time}:00:00Z`, 0, []), pacing });
  const hours = [at('09', null), at('10', { committed: 5, target: 6 }), at('12', { committed: 8, target: 9 })];
  expect(totalsByHour(hours)).toEqual([
    { hour: '2026-11-27T10:00:00.000Z', committed: 5, target: 6 },
    { hour: '2026-11-27T11:00:00.000Z', committed: 5, target: 6 },
    { hour: '2026-11-27T12:00:00.000Z', committed: 8, target: 9 },
  ]);
  expect(totalsByHour([at('09', null)])).toEqual([]);
});

test('the hours of a flight of up to 31 days are all known, those of a longer one are not', () => {
  const now = Date.parse('2026-11-30T12:00:00Z');
  expect(['2026-10-31T00:00:00Z', '2026-10-30T12:00:00Z'].map((start) => isBeyondHours(start, now))).toEqual([
    false,
    true,
  ]);
});
