import { expect, test } from '@jest/globals';
import { finishedMonths, monthAt } from './months.ts';

const names = (since: string, now: string) => finishedMonths(new Date(since), new Date(now)).map(({ name }) => name);

test('a month is found by distance, also across years', () => {
  const { name, fromMs, toMs } = monthAt(new Date('2026-01-31T23:59:59Z'), -2);
  expect(name).toBe('2025-11');
  expect([new Date(fromMs), new Date(toMs)]).toEqual([new Date('2025-11-01'), new Date('2025-12-01')]);
  expect(monthAt(new Date('2026-11-21T00:00:00Z'), 3).name).toBe('2027-02');
});

test('the present month is not finished; the month of the beginning is', () => {
  expect(names('2026-08-31T23:59:59Z', '2026-11-21T12:00:00Z')).toEqual(['2026-10', '2026-09', '2026-08']);
  expect(names('2026-11-01T00:00:00Z', '2026-11-30T23:59:59Z')).toEqual([]);
  expect(names('2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z')).toEqual(['2026-11']);
});
