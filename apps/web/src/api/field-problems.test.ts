import { expect, test } from '@jest/globals';
import { sortProblems } from './field-problems.ts';

const names = ['title', 'owner_email', 'categories', 'artwork_url'] as const;
const said = (message: string) => sortProblems({ message, fields: [] }, names);

test('each field that the one message of REST v1 names has its own sentence', () => {
  expect(
    said('“title” is required. owner_email: Use a public address. It is not. “categories.0” must be known.'),
  ).toEqual({
    fields: {
      title: '“title” is required.',
      owner_email: 'Use a public address. It is not.',
      categories: '“categories.0” must be known.',
    },
    isWhole: true,
  });
});

test('a sentence about a field that the form does not have is left for the page', () => {
  expect(said('title: Use letters. “subdomain” is taken.')).toEqual({
    fields: { title: 'Use letters.' },
    isWhole: false,
  });
  expect(said('The podcast is archived.')).toEqual({ fields: {}, isWhole: false });
  expect(said('')).toEqual({ fields: {}, isWhole: false });
});

test('what is wrong with a picture stands at the picture', () => {
  expect(said('The image is too small: it has 20 × 20 pixels. Upload one of at least 1400 × 1400 pixels.')).toEqual({
    fields: {
      artwork_url: 'The image is too small: it has 20 × 20 pixels. Upload one of at least 1400 × 1400 pixels.',
    },
    isWhole: true,
  });
});

test('pointers of a problem document are taken instead of its sentence', () => {
  const fields = [
    { path: '/changes/title', message: 'Too long.' },
    { path: '/attributes/categories/0', message: 'Unknown.' },
    { path: '/changes/color', message: 'There is no field “color”.' },
  ];
  expect(sortProblems({ message: 'title: no', fields }, names)).toEqual({
    fields: { title: 'Too long.', categories: 'Unknown.' },
    isWhole: false,
  });
});
