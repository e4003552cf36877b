import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { parseOrProblem } from './parse.ts';
import { Problem } from './problem.ts';

const schema = z.strictObject({
  title: z.string().trim().min(1),
  seasons: z.array(z.strictObject({ number: z.int() })),
  'a/b~c': z.string().optional(),
});

function problemOf(value: unknown, root?: string): Problem {
  try {
    parseOrProblem(schema, value, root);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('the value was accepted');
}

const pathsOf = (value: unknown, root?: string) => problemOf(value, root).context.errors?.map(({ path }) => path);

test('a right value comes back parsed', () => {
  expect(parseOrProblem(schema, { title: ' One ', seasons: [] })).toEqual({ title: 'One', seasons: [] });
});

test('every wrong field is named at once by its JSON Pointer, unknown fields too', () => {
  const value = { title: '', seasons: [{ number: 1 }, { number: 'two', extra: 1 }], colour: 'red', size: 2 };
  const problem = problemOf(value);
  expect(problem.code).toBe('validation_failed');
  expect(problem.context.errors?.map(({ path, code }) => `${path} ${code}`).sort()).toEqual([
    '/colour unknown_field',
    '/seasons/1/extra unknown_field',
    '/seasons/1/number invalid_type',
    '/size unknown_field',
    '/title too_small',
  ]);
});

test('the sentence for people names every field, so that a client without "errors" loses nothing', () => {
  const { message } = problemOf({ title: '', seasons: 1 });
  expect(message).toContain('“title” ');
  expect(message).toContain('“seasons” ');
});

test('a hostile value with very many wrong fields, or with one of a very long name, gets a short answer', () => {
  const many = Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`field${n}`, 1]));
  expect(problemOf({ title: 'One', seasons: [], ...many }).context.errors).toHaveLength(50);
  const { message, context } = problemOf({ title: 'One', seasons: [], [`a${'😀'.repeat(100_000)}`]: 1 });
  expect(message.length).toBeLessThan(200);
  expect(context.errors?.[0]?.path.length).toBeLessThan(200);
  expect([message.isWellFormed(), context.errors?.[0]?.path.isWellFormed()]).toEqual([true, true]);
});

test('paths begin at the given root', () => {
  expect(pathsOf({ title: '', seasons: [], colour: 1 }, '/changes')?.sort()).toEqual([
    '/changes/colour',
    '/changes/title',
  ]);
});

test('a value that is no object at all is wrong at the root', () => {
  expect(pathsOf(null)).toEqual(['']);
  expect(problemOf(null).message).toBe('The value must be an object.');
});

test('"~" and "/" inside a name are escaped (RFC 6901 §3)', () => {
  expect(pathsOf({ title: 'One', seasons: [], 'a/b~c': 1 })).toEqual(['/a~1b~0c']);
});

test('"~" and "/" inside the name of an unknown field are escaped as well', () => {
  expect(pathsOf({ title: 'One', seasons: [], 'x/y~z': 1 })).toEqual(['/x~1y~0z']);
});
