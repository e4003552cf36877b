import { expect, test } from '@jest/globals';
import { fieldsOf, instantIn, offsetText } from './zone-time.ts';

test.each([
  ['2026-11-14', '06:00', 'Europe/Berlin', '2026-11-14T05:00:00.000Z'],
  ['2026-07-14', '06:00', 'Europe/Berlin', '2026-07-14T04:00:00.000Z'],
  ['2026-03-29', '01:59', 'Europe/Berlin', '2026-03-29T00:59:00.000Z'],
  ['2026-03-29', '03:00', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
  ['2026-10-25', '03:00', 'Europe/Berlin', '2026-10-25T02:00:00.000Z'],
  ['2026-12-31', '23:45', 'Asia/Kathmandu', '2026-12-31T18:00:00.000Z'],
  ['2026-01-01', '00:00', 'Pacific/Kiritimati', '2025-12-31T10:00:00.000Z'],
  ['2028-02-29', '12:00', 'UTC', '2028-02-29T12:00:00.000Z'],
])('clocks show %s %s in %s at one instant', (day, time, zone, at) => {
  expect(instantIn(day, time, zone)).toEqual({ kind: 'one', at });
  expect(fieldsOf(at, zone)).toEqual({ day, time });
});

test.each([
  ['2026-03-29', '02:00', 'Europe/Berlin'],
  ['2026-03-29', '02:30', 'Europe/Berlin'],
  ['2026-03-08', '02:59', 'America/New_York'],
  ['2026-10-04', '02:15', 'Australia/Lord_Howe'],
  ['2011-12-30', '12:00', 'Pacific/Apia'],
])('clocks jump over %s %s in %s: there is no such time', (day, time, zone) => {
  expect(instantIn(day, time, zone)).toEqual({ kind: 'gap' });
});

test.each([
  ['2026-10-25', '02:30', 'Europe/Berlin', '2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'],
  ['2026-11-01', '01:00', 'America/New_York', '2026-11-01T05:00:00.000Z', '2026-11-01T06:00:00.000Z'],
  ['2026-04-05', '01:45', 'Australia/Lord_Howe', '2026-04-04T14:45:00.000Z', '2026-04-04T15:15:00.000Z'],
])('clocks show %s %s in %s twice', (day, time, zone, first, second) => {
  expect(instantIn(day, time, zone)).toEqual({ kind: 'fold', first, second });
  expect(offsetText(first, zone)).not.toBe(offsetText(second, zone));
});

test.each([
  ['', ''],
  ['2026-02-30', '10:00'],
  ['2026-13-01', '10:00'],
  ['2026-01-01', '24:00'],
  ['2026-01-01', '1:00'],
])('%j %j is no time', (day, time) => {
  expect(instantIn(day, time, 'Europe/Berlin')).toEqual({ kind: 'none' });
});

test('every quarter of an hour of a year is one instant, two, or none, and comes back from its instants', () => {
  const zone = 'Europe/Berlin';
  const counts = { none: 0, gap: 0, one: 0, fold: 0 };
  for (const day of ['2026-03-28', '2026-03-29', '2026-03-30', '2026-10-24', '2026-10-25', '2026-10-26'])
    for (let quarter = 0; quarter < 96; quarter += 1) {
      const time = new Date(quarter * 900_000).toISOString().slice(11, 16);
      const found = instantIn(day, time, zone);
      counts[found.kind] += 1;
      const instants = found.kind === 'one' ? [found.at] : found.kind === 'fold' ? [found.first, found.second] : [];
      for (const at of instants) expect(fieldsOf(at, zone)).toEqual({ day, time });
    }
  expect(counts).toEqual({ none: 0, gap: 4, one: 568, fold: 4 });
});

test('an offset is said with its sign and its minutes', () => {
  const at = '2026-01-01T00:00:00Z';
  expect([offsetText(at, 'Europe/Berlin'), offsetText(at, 'America/St_Johns'), offsetText(at, 'UTC')]).toEqual([
    ...['UTC+1', 'UTC−3:30', 'UTC+0'],
  ]);
});
