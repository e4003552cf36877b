import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { Problem } from './problem.ts';
import { parseOrProblem } from './parse.ts';

const schema = z.strictObject({
  title: z.string().min(1).max(5),
  color: z.enum(['red', 'green', 'blue']),
  kind: z.literal('full'),
  page: z.int().min(1).max(100),
  weight: z.number().gt(0).multipleOf(2),
  link: z.url(),
  email: z.email(),
  at: z.iso.datetime({ offset: true }),
  on: z.iso.date(),
  tags: z.array(z.string()).max(2),
  open: z.boolean(),
  category: z.enum(Array.from({ length: 110 }, (_, i) => `category-${i}`) as [string, ...string[]]),
  subdomain: z.string().regex(/^[a-z]+$/, { error: 'Use small letters.' }),
  code: z.string().regex(/^[a-z]+$/),
  chapters: z.array(z.strictObject({ title: z.string() })),
  price: z.union([z.number(), z.literal('free')]),
});

const right = {
  title: 'One',
  color: 'red',
  kind: 'full',
  page: 1,
  weight: 2,
  link: 'https://a.example',
  email: 'a@a.example',
  at: '2026-11-22T10:00:00+02:00',
  on: '2026-11-22',
  tags: [],
  open: true,
  category: 'category-0',
  subdomain: 'a',
  code: 'a',
  chapters: [],
  price: 'free',
};

function textOf(changes: Record<string, unknown>): string {
  try {
    parseOrProblem(schema, { ...right, ...changes });
    return 'valid';
  } catch (error) {
    return (error as Problem).message;
  }
}

test.each([
  [{}, 'valid'],
  [{ title: undefined }, '“title” is required.'],
  [{ color: undefined }, '“color” is required and must be “red”, “green” or “blue”.'],
  [{ title: 1 }, '“title” must be text.'],
  [{ title: '' }, '“title” must not be empty.'],
  [{ title: 'abcdef' }, '“title” must have at most 5 characters.'],
  [{ color: 'pink' }, '“color” must be “red”, “green” or “blue”.'],
  [{ kind: 'half' }, '“kind” must be “full”.'],
  [{ page: 101 }, '“page” must be at most 100.'],
  [{ page: 1.5 }, '“page” must be a whole number.'],
  [{ weight: 0 }, '“weight” must be more than 0.'],
  [{ weight: 3 }, '“weight” must be a multiple of 2.'],
  [{ link: 'a' }, '“link” must be a web address, for example https://example.com/feed.xml.'],
  [{ email: 'a' }, '“email” must be an e-mail address.'],
  [{ at: 'soon' }, '“at” must be a date and time, for example 2026-11-22T10:00:00Z.'],
  [{ on: 'soon' }, '“on” must be a date, for example 2026-11-22.'],
  [{ tags: ['a', 'b', 'c'] }, '“tags” must have at most 2 entries.'],
  [{ tags: 'a' }, '“tags” must be a list.'],
  [{ open: 'yes' }, '“open” must be true or false.'],
  [{ category: 'none' }, '“category” is not one of the values that the API documentation lists.'],
  [{ subdomain: 'A' }, 'subdomain: Use small letters.'],
  [{ code: 'A' }, '“code” does not have the form that the API documentation gives.'],
  [{ chapters: [{ title: 1 }] }, '“chapters.0.title” must be text.'],
  [{ price: {} }, '“price” does not have the form that the API documentation gives.'],
  [{ extra: 1 }, 'There is no field “extra”.'],
  [{ title: 1, page: 0 }, '“title” must be text. “page” must be at least 1.'],
])('a wrong field is named in a plain sentence: %j', (changes, text) => {
  expect(textOf(changes)).toBe(text);
});
