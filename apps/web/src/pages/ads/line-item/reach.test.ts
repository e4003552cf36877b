import { expect, test } from '@jest/globals';
import { check } from '../../../commands/check.ts';
import { forms as forecastForms } from '../../../generated/forms/forecasts.ts';
import { forms } from '../../../generated/forms/line_items.ts';
import { forecastOf, verdictOf, wantedOf } from './reach.ts';

const schema = forms.commands.find(({ type }) => type === 'line_item.create')!.schema;
const request = forecastForms.commands.find(({ type }) => type === 'forecast.request')!.schema;
const window = { start: '2027-03-01T00:00:00Z', end: '2027-04-01T00:00:00Z' };
const draft = {
  ...{
    name: '',
    type: 'guaranteed',
    window,
    break_positions: ['mid'],
    goal: { unit: 'impressions', quantity: 200_000 },
  },
  targeting: { countries: { include: ['DE'], exclude: [] } },
};

test('a form whose name, campaign and price are missing can be asked about already; what is asked is valid in the catalog', () => {
  const asked = forecastOf(schema, draft)!;
  expect(check(request, asked)).toEqual([]);
  expect(asked).toMatchObject({
    ...{ kind: 'availability', window },
    prospective: { type: 'guaranteed', quantity: 200_000, break_positions: ['mid'], targeting: draft.targeting },
  });
  expect(wantedOf(asked)).toBe(200_000);
});

test('of a share of breaks, how many slots fit is asked; of no goal, how many there are', () => {
  const shared = forecastOf(schema, { ...draft, type: 'sponsorship', goal: { unit: 'share_pct', quantity: 50 } })!;
  expect(check(request, shared)).toEqual([]);
  expect(shared).toMatchObject({ kind: 'traffic', prospective: { break_positions: ['mid'] } });
  expect(wantedOf(shared)).toBeUndefined();
  const open = forecastOf(schema, { ...draft, type: 'house', goal: { unit: 'unlimited' } })!;
  expect(check(request, open)).toEqual([]);
  expect(wantedOf(open)).toBeUndefined();
});

test.each([
  ['no window', { ...draft, window: undefined }],
  ['half a window', { ...draft, window: { start: window.start } }],
  ['a time that is half typed', { ...draft, window: { ...window, end: '2027-04-01T' } }],
  ['a country that is none', { ...draft, targeting: { countries: { include: ['Germany'] } } }],
  ['no position', { ...draft, break_positions: [] }],
])('with %s nothing is asked', (_, given) => {
  expect(forecastOf(schema, given)).toBeUndefined();
});

test('as many as are left fit; more take from others up to what is possible, and beyond that they are not there', () => {
  const of = (p50: number) => ({ p10: p50, p50, p90: p50 });
  const found = { available: of(100), possible: of(150), contending: [] };
  expect(verdictOf(found, 100)).toBe('fits');
  expect(verdictOf({ ...found, contending: [{ line_item_id: 'li_1', loses: 5 }] }, 100)).toBe('takes');
  expect(verdictOf(found, 150)).toBe('takes');
  expect(verdictOf(found, 151)).toBe('short');
  expect(verdictOf(found, undefined)).toBeUndefined();
  expect(verdictOf({}, 10)).toBeUndefined();
});
