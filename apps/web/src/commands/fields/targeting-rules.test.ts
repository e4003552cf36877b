import { expect, test } from '@jest/globals';
import { forms } from '../../generated/forms/line_items.ts';
import { exampleOf, isTargeting, usedRules } from './targeting-rules.ts';

const schema = forms.commands.find(({ type }) => type === 'line_item.create')!.schema.properties!['targeting']!;

test('the targeting of the catalog is known as one, and a stored one that narrows nothing has no rule', () => {
  expect(isTargeting(schema)).toBe(true);
  expect(isTargeting({ properties: { countries: {} } })).toBe(false);
  const open = { countries: { include: [], exclude: [] }, explicit: 'any', episode_age_hours: {}, dayparts: null };
  expect(usedRules(schema, open)).toEqual([]);
  expect(usedRules(schema, {})).toEqual([]);
});

test('what narrows is a rule: what is in, what is out, one bound of an age, a word, hours', () => {
  const value = {
    ...{ countries: { include: [], exclude: ['DE'] }, podcasts: { include: ['pod_1'], exclude: [] } },
    ...{ explicit: 'none', episode_age_hours: { max: 72 }, dayparts: { time_zone: 'UTC', hours: [] } },
  };
  expect(usedRules(schema, value)).toEqual(['podcasts', 'countries', 'explicit', 'episode_age_hours', 'dayparts']);
});

test('each code that a list of the targeting takes has an example that fits it', () => {
  const lists = ['countries', 'regions', 'languages'].map((name) => schema.properties![name]!.properties!['include']!);
  for (const list of lists) {
    const example = exampleOf(list)!;
    for (const word of example.split(', ')) expect(word).toMatch(new RegExp(list.items!.pattern!));
  }
});
