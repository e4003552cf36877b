import { expect, test } from '@jest/globals';
import { checkEpisode, episodeChanges, explicitValue } from './episode-form.ts';

const whole = {
  ...{ title: 'Fog', description: 'd', season: '2', number: '14', type: 'full', explicit: '', author: '', link: '' },
  artwork_url: '',
};

test.each([
  [{}, {}],
  [{ title: ' ' }, { title: 'form.needed' }],
  [{ season: '0' }, { season: 'form.whole_number' }],
  [{ season: '1.5' }, { season: 'form.whole_number' }],
  [{ number: '100000' }, { number: 'form.whole_number' }],
  [{ number: '' }, { number: 'form.cannot_empty' }],
  [{ description: '' }, {}],
  [{ link: 'ftp://a.test' }, { link: 'form.web_address' }],
  [{ description: 'a'.repeat(100_001) }, { description: 'form.too_long' }],
])('a form with %j says %j', (change, wrong) => {
  expect(checkEpisode({ ...whole, ...change }, whole)).toEqual(wrong);
});

test('numbers and the statement whether it is explicit are sent as such, and only what was changed', () => {
  const values = { ...whole, season: '3', explicit: 'no' };
  expect(episodeChanges(values, ['season', 'explicit', 'title'])).toEqual({ season: 3, explicit: false, title: 'Fog' });
});

test('a tick that was set and taken away again changes nothing, unless the episode had said so itself', () => {
  const said = (explicit: string) => [true, false].map((isTicked) => explicitValue(isTicked, { explicit }));
  expect(['', 'no', 'yes'].map(said)).toEqual([
    ['yes', ''],
    ['yes', 'no'],
    ['yes', 'no'],
  ]);
});
