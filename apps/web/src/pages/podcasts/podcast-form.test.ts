import { expect, test } from '@jest/globals';
import { checkPodcast, missingToPublish, podcastChanges, podcastValues } from './podcast-form.ts';

const empty = podcastValues();
const whole = {
  ...empty,
  ...{
    title: 'Harbour Light',
    description: 'd',
    author: 'Ada',
    categories: ['History'],
    artwork_url: 'https://a.test/a.png',
  },
};

test('a podcast begins with a title, and says what directories still need', () => {
  expect(checkPodcast(empty, empty)).toEqual({ title: 'form.needed' });
  expect(missingToPublish(empty)).toEqual(['title', 'description', 'categories', 'author', 'artwork_url']);
  expect(missingToPublish(whole)).toEqual([]);
  expect(missingToPublish({ ...whole, description: '  ' })).toEqual(['description']);
});

test.each([
  [{ language: 'english' }, { language: 'form.language_tag' }],
  [{ language: 'pt-BR' }, {}],
  [{ link: 'harbour.example' }, { link: 'form.web_address' }],
  [{ link: 'javascript:alert(1)' }, { link: 'form.web_address' }],
  [{ link: 'https://harbour.example/' }, {}],
  [{ owner_email: 'ada' }, { owner_email: 'form.mail_address' }],
  [{ description: 'ö'.repeat(2000) }, {}],
  [{ description: 'ö'.repeat(2001) }, { description: 'form.too_long' }],
  [{ author: '' }, { author: 'form.cannot_empty' }],
  [{ description: '', categories: [] }, {}],
])('a form with %j says %j', (change, wrong) => {
  expect(checkPodcast({ ...whole, ...change }, whole)).toEqual(wrong);
});

test('only what was changed is sent', () => {
  expect(podcastChanges({ ...whole, explicit: true }, ['explicit', 'categories'])).toEqual({
    explicit: true,
    categories: ['History'],
  });
});
