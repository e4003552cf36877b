import { expect, test } from '@jest/globals';
import { lastPeriod, nextRunAt, type Schedule } from './report-schedule.ts';

test.each<readonly [Schedule['every'], string, string, string, string, string]>([
  ['day', 'UTC', '2026-11-20T05:59:59.999Z', '2026-11-20T06:00Z', '2026-11-19T00:00Z', '2026-11-20T00:00Z'],
  ['day', 'UTC', '2026-11-20T06:00:00.000Z', '2026-11-21T06:00Z', '2026-11-20T00:00Z', '2026-11-21T00:00Z'],
  ['day', 'Europe/Paris', '2026-11-20T12:00:00Z', '2026-11-21T05:00Z', '2026-11-19T23:00Z', '2026-11-20T23:00Z'],
  // The day of 25 hours.
  ['day', 'Europe/Paris', '2026-10-25T12:00:00Z', '2026-10-26T05:00Z', '2026-10-24T22:00Z', '2026-10-25T23:00Z'],
  // A Wednesday; weeks begin on Monday.
  ['week', 'UTC', '2026-11-18T00:00:00Z', '2026-11-23T06:00Z', '2026-11-16T00:00Z', '2026-11-23T00:00Z'],
  ['week', 'UTC', '2026-11-23T05:00:00Z', '2026-11-23T06:00Z', '2026-11-16T00:00Z', '2026-11-23T00:00Z'],
  ['month', 'UTC', '2026-12-31T23:00:00Z', '2027-01-01T06:00Z', '2026-12-01T00:00Z', '2027-01-01T00:00Z'],
  ['month', 'America/New_York', '2026-03-01T04:00:00Z', '2026-03-01T11:00Z', '2026-02-01T05:00Z', '2026-03-01T05:00Z'],
  // Two offsets in one month.
  ['month', 'America/New_York', '2026-03-02T00:00:00Z', '2026-04-01T10:00Z', '2026-03-01T05:00Z', '2026-04-01T04:00Z'],
])('every %s in %s after %s, the next run is at %s, from %s to %s', (every, zone, after, at, start, end) => {
  const schedule = { every, hour: 6 };
  const next = nextRunAt(schedule, zone, new Date(after));
  expect(next).toEqual(new Date(at));
  expect(lastPeriod(schedule, zone, next)).toEqual({ start: new Date(start), end: new Date(end) });
});

test('the periods of a schedule follow each other without a gap, through a year of changing clocks', () => {
  for (const every of ['day', 'week', 'month'] as const)
    for (const zone of ['Europe/Paris', 'America/New_York', 'Pacific/Auckland']) {
      const schedule = { every, hour: 23 };
      let at = nextRunAt(schedule, zone, new Date('2026-01-01T00:00:00Z'));
      let { end } = lastPeriod(schedule, zone, at);
      while (at < new Date('2027-01-15T00:00:00Z')) {
        at = nextRunAt(schedule, zone, at);
        const period = lastPeriod(schedule, zone, at);
        expect(period.start).toEqual(end);
        expect(period.end.getTime()).toBeLessThan(at.getTime());
        ({ end } = period);
      }
    }
});
