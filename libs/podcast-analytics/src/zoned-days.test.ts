import { expect, test } from '@jest/globals';
import { daysOf, isTimeZone, isWholeHourZone, utcDays } from './zoned-days.ts';

const dayMs = 86_400_000;
const startOf = (date: string, timeZone: string) => {
  const days = daysOf(timeZone);
  const startMs = days.startMs(Date.parse(date) / dayMs);
  return new Date(startMs).toISOString();
};

test.each([
  ['2026-10-25', 'Europe/Paris', '2026-10-24T22:00:00.000Z'],
  ['2026-10-26', 'Europe/Paris', '2026-10-25T23:00:00.000Z'],
  ['2026-11-21', 'Asia/Kolkata', '2026-11-20T18:30:00.000Z'],
  ['2026-11-21', 'Pacific/Kiritimati', '2026-11-20T10:00:00.000Z'],
  ['2026-11-21', 'Pacific/Pago_Pago', '2026-11-21T11:00:00.000Z'],
  // Clocks go from 24:00 to 01:00, and from 01:00 back to 00:00.
  ['2024-04-26', 'Africa/Cairo', '2024-04-25T22:00:00.000Z'],
  ['2024-11-03', 'America/Havana', '2024-11-03T04:00:00.000Z'],
  // A day that Samoa left out.
  ['2011-12-30', 'Pacific/Apia', '2011-12-30T10:00:00.000Z'],
  ['2011-12-31', 'Pacific/Apia', '2011-12-30T10:00:00.000Z'],
])('%s begins in %s at %s', (date, timeZone, start) => {
  expect(startOf(date, timeZone)).toBe(start);
});

test('every instant lies in the day that is named for it', () => {
  for (const timeZone of ['UTC', 'Europe/Paris', 'Asia/Kathmandu', 'America/Havana', 'Australia/Lord_Howe']) {
    const days = daysOf(timeZone);
    for (let at = Date.parse('2026-03-01T00:00:00Z'); at < Date.parse('2026-05-01T00:00:00Z'); at += 5_399_999) {
      const day = days.dayAt(at);
      expect(days.startMs(day) <= at && at < days.startMs(day + 1)).toBe(true);
      if (timeZone === 'UTC') expect([day, days.startMs(day)]).toEqual([utcDays.dayAt(at), utcDays.startMs(day)]);
    }
  }
});

test('offsets and unknown names are no zones', () => {
  for (const name of ['Europe/Paris', 'UTC', 'CET', 'asia/kolkata']) expect(isTimeZone(name)).toBe(true);
  for (const name of ['Mars/Olympus', '+02:00', '-05', '']) expect(isTimeZone(name)).toBe(false);
});

test.each([
  ['UTC', '2026-01-01', '2027-01-01', true],
  ['Europe/Paris', '2020-01-01', '2027-01-01', true],
  ['America/Los_Angeles', '2026-03-01', '2026-03-15', true],
  ['Asia/Kolkata', '2026-01-01', '2026-01-02', false],
  ['Asia/Kathmandu', '2026-01-01', '2026-01-02', false],
  // Half an hour of summer time: 11 hours off in January, ten and a half in June.
  ['Australia/Lord_Howe', '2026-01-01', '2026-02-01', true],
  ['Australia/Lord_Howe', '2026-06-01', '2026-06-02', false],
  ['Australia/Lord_Howe', '2026-01-01', '2026-07-01', false],
  // It moved from half an hour to a whole one on 2015-08-15, and back on 2018-05-05.
  ['Asia/Pyongyang', '2015-01-01', '2016-01-01', false],
  ['Asia/Pyongyang', '2019-01-01', '2020-01-01', true],
])('%s is whole hours off UTC from %s to %s: %s', (zone, from, to, isWhole) => {
  expect(isWholeHourZone(zone, { from: new Date(from), to: new Date(to) })).toBe(isWhole);
});
