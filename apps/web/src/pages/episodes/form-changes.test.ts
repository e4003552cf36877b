import { expect, test } from '@jest/globals';
import { formChanges } from './form-changes.ts';

const episode = { title: 'Harbour', description: '<p>Notes</p>', season: 1, number: 4, explicit: false };
const form = (changes: Readonly<Record<string, string>>) => {
  const data = new FormData();
  const shown = { title: 'Harbour', description: '<p>Notes</p>', season: '1', number: '4' };
  for (const [name, value] of Object.entries({ ...shown, ...changes })) data.set(name, value);
  return data;
};

test('a form in which nothing was changed changes nothing', () => {
  expect(formChanges(form({}), false, episode)).toEqual({});
  const { season: _season, explicit: _explicit, description: _description, ...bare } = episode;
  expect(formChanges(form({ season: '', description: '' }), false, bare)).toEqual({});
});

test('what was changed is sent, numbers as numbers', () => {
  const changed = form({ title: ' The harbour ', description: '', season: '2', number: '10' });
  expect(formChanges(changed, true, episode)).toEqual({
    ...{ title: 'The harbour', description: '', season: 2, number: 10, explicit: true },
  });
});
