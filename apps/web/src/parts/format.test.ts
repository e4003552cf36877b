import { expect, test } from '@jest/globals';
import {
  changeText,
  hoursText,
  instantText,
  languageName,
  lengthText,
  levelText,
  sizeText,
  spokenLength,
  utcText,
  zoneName,
} from './format.ts';

const berlin = { zone: 'Europe/Berlin', language: 'en' };

test('an instant is shown in the zone of the page, on both sides of a change of the clock', () => {
  expect(instantText('2026-10-25T00:30:00Z', 'moment', berlin)).toBe('25 Oct 2026, 02:30');
  expect(instantText('2026-10-25T01:30:00Z', 'moment', berlin)).toBe('25 Oct 2026, 02:30');
  expect(instantText('2026-10-25T02:30:00Z', 'moment', berlin)).toBe('25 Oct 2026, 03:30');
});

test('the day of an instant is that of the zone', () => {
  expect(instantText('2026-11-13T23:30:00Z', 'day', berlin)).toBe('14 Nov 2026');
  expect(instantText('2026-11-13T23:30:00Z', 'day', { ...berlin, zone: 'America/New_York' })).toBe('13 Nov 2026');
  expect(instantText('2026-11-13T23:30:00Z', 'day', { ...berlin, language: 'de' })).toBe('14. Nov. 2026');
});

test('UTC is exact to the second, whatever offset the instant was written with', () => {
  expect(utcText('2026-11-14T06:00:02+01:00')).toBe('2026-11-14 05:00:02 UTC');
  expect(zoneName('America/Argentina/Buenos_Aires')).toBe('Buenos Aires');
});

test.each([
  [0, '0:00'],
  [999, '0:01'],
  [59_400, '0:59'],
  [2_892_000, '48:12'],
  [3_599_600, '1:00:00'],
  [36_061_000, '10:01:01'],
])('%i ms are shown as %s', (ms, text) => {
  expect(lengthText(ms)).toBe(text);
});

test('a length is spoken in words, without the units that are none', () => {
  expect(spokenLength(2_892_000, 'en')).toBe('48 minutes 12 seconds');
  expect(spokenLength(3_600_000, 'de')).toBe('1 Stunde');
  expect(spokenLength(0, 'en')).toBe('0 seconds');
});

test('figures have their sign, their unit, and no more digits than they mean', () => {
  expect([changeText(0.162, 'en'), changeText(-0.034, 'en'), changeText(0, 'en')]).toEqual(['+16.2%', '−3.4%', '0%']);
  expect([levelText(-16, 'en'), levelText(-1.62, 'de')]).toEqual(['−16.0', '−1,6']);
  expect([sizeText(0, 'en'), sizeText(46_310_400, 'en'), sizeText(512e6, 'de'), sizeText(2e13, 'en')]).toEqual([
    '0 byte',
    '46.3 MB',
    '512 MB',
    '20,000 GB',
  ]);
  expect([hoursText(357_120_000, 'en'), hoursText(1_800_000, 'de')]).toEqual(['99', '0,5']);
});

test('a language has its name; a tag that is none stays as it is', () => {
  expect([languageName('pt-BR', 'en'), languageName('de', 'de'), languageName('no such tag', 'en')]).toEqual([
    'Brazilian Portuguese',
    'Deutsch',
    'no such tag',
  ]);
});
